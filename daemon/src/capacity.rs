//! Limits the number of concurrent sandboxes and the memory reserved for them. Permits are granted
//! in the order of the tickets, except that up to [`PASSES_MAX`] later requests that fit may pass
//! one that waits for more memory than is free: a large request does not block small ones, and
//! small ones cannot starve a large one.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The interval at which a waiting request checks whether it is still wanted.
const WANTED_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// The most requests that may pass a waiting one. Then all behind it wait until it has its memory,
/// which takes at most as long as the present runs may take.
const PASSES_MAX: u32 = 16;

/// The limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapacityLimits {
    /// Concurrent sandboxes.
    pub sandboxes: usize,
    /// Memory reserved for all sandboxes together, in bytes.
    pub memory_bytes: u64,
}

pub(crate) struct Capacity {
    limits: CapacityLimits,
    state: Mutex<CapacityState>,
    freed: Condvar,
}

#[derive(Default)]
struct CapacityState {
    sandboxes: usize,
    memory_bytes: u64,
    next: u64,
    queue: BTreeMap<u64, QueuedTicket>,
}

#[derive(Clone, Copy)]
enum QueuedTicket {
    /// Its request is not decided yet, so that its memory is not known.
    Drawn,
    Waiting {
        memory_bytes: u64,
        passed_by: u32,
    },
}

/// A position in the queue, until a permit is taken with it or it is dropped.
#[must_use]
pub(crate) struct QueueTicket<'a> {
    capacity: &'a Capacity,
    number: u64,
}

/// A permit for one sandbox, until it is dropped.
pub(crate) struct CapacityPermit<'a> {
    capacity: &'a Capacity,
    memory_bytes: u64,
}

/// The reason for a missing permit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CapacityError {
    /// The request needs more than the host's limit.
    ExceedsLimit { memory_bytes_max: u64 },
    /// The request is not wanted any more.
    Unwanted,
}

impl Capacity {
    pub(crate) fn new(max: CapacityLimits) -> Self {
        Self { limits: max, state: Mutex::default(), freed: Condvar::new() }
    }

    /// For embedded runs.
    pub(crate) fn unlimited() -> Self {
        Self::new(CapacityLimits { sandboxes: usize::MAX, memory_bytes: u64::MAX })
    }

    /// Later tickets wait for this one, so that it must be used or dropped soon.
    pub(crate) fn ticket(&self) -> QueueTicket<'_> {
        let mut taken = self.lock();
        let number = taken.next;
        taken.next += 1;
        taken.queue.insert(number, QueuedTicket::Drawn);
        QueueTicket { capacity: self, number }
    }

    pub(crate) fn limits(&self) -> CapacityLimits {
        self.limits
    }

    /// Returns the number of sandboxes, and the memory reserved for them in bytes.
    pub(crate) fn in_use(&self) -> (usize, u64) {
        let taken = self.lock();
        (taken.sandboxes, taken.memory_bytes)
    }

    fn fits(&self, taken: &CapacityState, memory_bytes: u64) -> bool {
        let memory = taken.memory_bytes.saturating_add(memory_bytes);
        taken.sandboxes < self.limits.sandboxes && memory <= self.limits.memory_bytes
    }

    /// Returns whether the request fits, and each ticket before this one waits for capacity that is
    /// not free and may still be passed.
    fn may_acquire(&self, taken: &CapacityState, number: u64, memory_bytes: u64) -> bool {
        let may_be_passed = |waiter: &QueuedTicket| match *waiter {
            QueuedTicket::Drawn => false,
            QueuedTicket::Waiting { memory_bytes, passed_by } => {
                passed_by < PASSES_MAX && !self.fits(taken, memory_bytes)
            }
        };
        self.fits(taken, memory_bytes)
            && taken.queue.range(..number).all(|(_, waiter)| may_be_passed(waiter))
    }

    fn lock(&self) -> MutexGuard<'_, CapacityState> {
        // Nothing that panics runs while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> QueueTicket<'a> {
    /// Waits for a permit with this memory limit, as long as the request is wanted.
    pub(crate) fn acquire(
        self,
        memory_bytes: u64,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<CapacityPermit<'a>, CapacityError> {
        let capacity = self.capacity;
        if memory_bytes > capacity.limits.memory_bytes {
            let memory_bytes_max = capacity.limits.memory_bytes;
            return Err(CapacityError::ExceedsLimit { memory_bytes_max });
        }
        let mut taken = capacity.lock();
        taken.queue.insert(self.number, QueuedTicket::Waiting { memory_bytes, passed_by: 0 });
        // Later tickets may pass from now on.
        capacity.freed.notify_all();
        loop {
            if capacity.may_acquire(&taken, self.number, memory_bytes) {
                taken.count_pass(self.number);
                taken.sandboxes += 1;
                taken.memory_bytes += memory_bytes;
                // Unlocked before the ticket is dropped, which locks it too.
                drop(taken);
                return Ok(CapacityPermit { capacity, memory_bytes });
            }
            let waited = capacity.freed.wait_timeout(taken, WANTED_CHECK_INTERVAL);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !wanted() {
                drop(taken);
                return Err(CapacityError::Unwanted);
            }
        }
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        self.capacity.lock().queue.remove(&self.number);
        self.capacity.freed.notify_all();
    }
}

impl CapacityState {
    fn count_pass(&mut self, number: u64) {
        self.queue.remove(&number);
        for (_, waiter) in self.queue.range_mut(..number) {
            if let QueuedTicket::Waiting { passed_by, .. } = waiter {
                *passed_by += 1;
            }
        }
    }
}

impl Drop for CapacityPermit<'_> {
    fn drop(&mut self) {
        let mut taken = self.capacity.lock();
        taken.sandboxes -= 1;
        taken.memory_bytes -= self.memory_bytes;
        drop(taken);
        self.capacity.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    fn always() -> bool {
        true
    }

    #[test]
    fn limits_are_never_exceeded() {
        let capacity = Capacity::new(CapacityLimits { sandboxes: 3, memory_bytes: 100 });
        let (sandboxes, memory) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for number in 0..16_u64 {
                let (capacity, sandboxes, memory) = (&capacity, &sandboxes, &memory);
                scope.spawn(move || {
                    for round in 0..20 {
                        let bytes = (number * 7 + round * 13) % 60 + 1;
                        let place = capacity
                            .ticket()
                            .acquire(bytes, &mut always)
                            .unwrap_or_else(|_| unreachable!());
                        assert!(sandboxes.fetch_add(1, Ordering::SeqCst) < 3);
                        assert!(memory.fetch_add(bytes, Ordering::SeqCst) + bytes <= 100);
                        thread::yield_now();
                        sandboxes.fetch_sub(1, Ordering::SeqCst);
                        memory.fetch_sub(bytes, Ordering::SeqCst);
                        drop(place);
                    }
                });
            }
        });
        let taken = capacity.lock();
        assert_eq!((taken.sandboxes, taken.memory_bytes, taken.queue.len()), (0, 0, 0));
    }

    /// Runs `act` while a request waits behind one that holds most of the memory.
    fn with_large_request_waiting(
        act: impl FnOnce(&Capacity, &dyn Fn() -> bool, CapacityPermit<'_>),
    ) {
        let capacity = Capacity::new(CapacityLimits { sandboxes: 64, memory_bytes: 100 });
        let first = capacity.ticket().acquire(60, &mut always).unwrap_or_else(|_| unreachable!());
        thread::scope(|scope| {
            let large = scope.spawn(|| drop(capacity.ticket().acquire(90, &mut always)));
            while !matches!(capacity.lock().queue.get(&1), Some(QueuedTicket::Waiting { .. })) {
                thread::yield_now();
            }
            act(&capacity, &|| large.is_finished(), first);
            assert!(large.join().is_ok());
        });
        assert_eq!((capacity.in_use(), capacity.lock().queue.len()), ((0, 0), 0));
    }

    fn try_acquire(capacity: &Capacity, memory_bytes: u64) -> Option<CapacityPermit<'_>> {
        capacity.ticket().acquire(memory_bytes, &mut || false).ok()
    }

    #[test]
    fn large_request_does_not_block_small_ones_that_fit() {
        with_large_request_waiting(|capacity, large_has_ended, first| {
            let small = try_acquire(capacity, 20);
            assert!(small.is_some(), "its memory fits");
            assert!(try_acquire(capacity, 30).is_none(), "its memory does not fit");
            assert!(!large_has_ended());
            drop((small, first));
        });
    }

    #[test]
    fn large_request_is_passed_a_bounded_number_of_times() {
        with_large_request_waiting(|capacity, large_has_ended, first| {
            for pass in 0..PASSES_MAX {
                assert!(try_acquire(capacity, 20).is_some(), "pass {pass}");
            }
            assert!(try_acquire(capacity, 20).is_none(), "passed once too often");
            thread::scope(|scope| {
                let small = scope.spawn(|| capacity.ticket().acquire(20, &mut always).is_ok());
                thread::sleep(WANTED_CHECK_INTERVAL);
                assert!(!small.is_finished() && !large_has_ended());
                drop(first);
                assert!(small.join().is_ok_and(|took| took), "blocked for ever");
            });
        });
    }

    #[test]
    fn fitting_request_is_not_passed() {
        let capacity = Capacity::new(CapacityLimits { sandboxes: 1, memory_bytes: 100 });
        let first = capacity.ticket().acquire(60, &mut always);
        let second = capacity.ticket();
        assert!(try_acquire(&capacity, 1).is_none(), "no sandbox is free");
        drop(first);
        assert!(try_acquire(&capacity, 1).is_none(), "passed one that may fit");
        assert!(second.acquire(100, &mut || false).is_ok());
    }

    #[test]
    fn tickets_are_served_in_order() {
        let capacity = Capacity::new(CapacityLimits { sandboxes: 1, memory_bytes: 100 });
        let (first, second, third) = (capacity.ticket(), capacity.ticket(), capacity.ticket());
        assert_eq!(third.acquire(1, &mut || false).err(), Some(CapacityError::Unwanted));
        thread::scope(|scope| {
            let second = scope.spawn(|| second.acquire(1, &mut always).is_ok());
            thread::sleep(WANTED_CHECK_INTERVAL);
            assert!(!second.is_finished(), "overtook one who has not asked yet");
            drop(first);
            assert!(second.join().is_ok_and(|took| took));
        });
        assert!(capacity.ticket().acquire(1, &mut always).is_ok());
    }

    #[test]
    fn oversized_request_fails_and_dropped_ticket_frees_the_queue() {
        let capacity = Capacity::new(CapacityLimits { sandboxes: 1, memory_bytes: 100 });
        let never = capacity.ticket().acquire(101, &mut always).err();
        assert_eq!(never, Some(CapacityError::ExceedsLimit { memory_bytes_max: 100 }));
        let first = capacity.ticket().acquire(1, &mut always);
        assert_eq!(
            capacity.ticket().acquire(1, &mut || false).err(),
            Some(CapacityError::Unwanted)
        );
        drop(first);
        assert!(capacity.ticket().acquire(1, &mut always).is_ok());
    }
}
