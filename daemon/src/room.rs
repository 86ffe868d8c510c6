//! Limits the number of concurrent sandboxes and the memory promised to them. Permits are granted
//! in the order of the tickets, with one exception: while a request waits for more memory than is
//! free, up to [`PASSES_MAX`] later ones that fit may pass it. So a large request does not block
//! small ones that fit, and small ones cannot starve a large one.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The interval at which a waiting request checks whether it is still wanted.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// The most requests that may pass a waiting one. After that, all behind it wait until it has its
/// memory, which takes at most as long as the present runs may take.
const PASSES_MAX: u32 = 16;

/// The limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomMax {
    /// Concurrent sandboxes.
    pub cells: usize,
    /// Memory promised to all sandboxes together, in bytes.
    pub memory_bytes: u64,
}

/// The capacity of one host.
pub(crate) struct Room {
    max: RoomMax,
    taken: Mutex<Reservations>,
    freed: Condvar,
}

#[derive(Default)]
struct Reservations {
    cells: usize,
    memory_bytes: u64,
    /// The number of the next ticket.
    next: u64,
    queue: BTreeMap<u64, Waiter>,
}

/// A ticket in the queue.
#[derive(Clone, Copy)]
enum Waiter {
    /// Its request is not decided yet, so that its memory is not known.
    Drawn,
    Asked {
        memory_bytes: u64,
        passed_by: u32,
    },
}

/// A position in the queue, until a permit is taken with it or it is dropped.
#[must_use]
pub(crate) struct Ticket<'a> {
    room: &'a Room,
    number: u64,
}

/// A permit for one sandbox, until it is dropped.
pub(crate) struct Place<'a> {
    room: &'a Room,
    memory_bytes: u64,
}

/// The reason for a missing permit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoRoom {
    /// The request needs more than the host's limit.
    Never { memory_bytes_max: u64 },
    /// The request was no longer wanted.
    NotWaited,
}

impl Room {
    pub(crate) fn new(max: RoomMax) -> Self {
        Self { max, taken: Mutex::default(), freed: Condvar::new() }
    }

    /// Returns unlimited capacity, for embedded runs.
    pub(crate) fn boundless() -> Self {
        Self::new(RoomMax { cells: usize::MAX, memory_bytes: u64::MAX })
    }

    /// Draws a ticket. Later tickets wait for it, so that it must be used or dropped soon.
    pub(crate) fn ticket(&self) -> Ticket<'_> {
        let mut taken = self.lock();
        let number = taken.next;
        taken.next += 1;
        taken.queue.insert(number, Waiter::Drawn);
        Ticket { room: self, number }
    }

    pub(crate) fn max(&self) -> RoomMax {
        self.max
    }

    /// Returns the number of sandboxes, and the memory promised to them in bytes.
    pub(crate) fn taken(&self) -> (usize, u64) {
        let taken = self.lock();
        (taken.cells, taken.memory_bytes)
    }

    fn fits(&self, taken: &Reservations, memory_bytes: u64) -> bool {
        let memory = taken.memory_bytes.saturating_add(memory_bytes);
        taken.cells < self.max.cells && memory <= self.max.memory_bytes
    }

    /// Returns whether this ticket may take a permit now: it fits, and each ticket before it waits
    /// for capacity that is not free and may still be passed.
    fn may_take(&self, taken: &Reservations, number: u64, memory_bytes: u64) -> bool {
        let may_be_passed = |waiter: &Waiter| match *waiter {
            Waiter::Drawn => false,
            Waiter::Asked { memory_bytes, passed_by } => {
                passed_by < PASSES_MAX && !self.fits(taken, memory_bytes)
            }
        };
        self.fits(taken, memory_bytes)
            && taken.queue.range(..number).all(|(_, waiter)| may_be_passed(waiter))
    }

    fn lock(&self) -> MutexGuard<'_, Reservations> {
        // Nothing that panics runs while it is held.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Ticket<'a> {
    /// Waits for a permit for a sandbox with this memory limit, for as long as the request is
    /// wanted.
    pub(crate) fn take(
        self,
        memory_bytes: u64,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Place<'a>, NoRoom> {
        let room = self.room;
        if memory_bytes > room.max.memory_bytes {
            return Err(NoRoom::Never { memory_bytes_max: room.max.memory_bytes });
        }
        let mut taken = room.lock();
        taken.queue.insert(self.number, Waiter::Asked { memory_bytes, passed_by: 0 });
        // Later tickets may pass from now on.
        room.freed.notify_all();
        loop {
            if room.may_take(&taken, self.number, memory_bytes) {
                taken.pass(self.number);
                taken.cells += 1;
                taken.memory_bytes += memory_bytes;
                // Unlocked before the ticket is dropped, which locks it too.
                drop(taken);
                return Ok(Place { room, memory_bytes });
            }
            let waited = room.freed.wait_timeout(taken, LOOK_INTERVAL);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !wanted() {
                drop(taken);
                return Err(NoRoom::NotWaited);
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.room.lock().queue.remove(&self.number);
        self.room.freed.notify_all();
    }
}

impl Reservations {
    /// Counts a pass for each waiting ticket before this one.
    fn pass(&mut self, number: u64) {
        self.queue.remove(&number);
        for (_, waiter) in self.queue.range_mut(..number) {
            if let Waiter::Asked { passed_by, .. } = waiter {
                *passed_by += 1;
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut taken = self.room.lock();
        taken.cells -= 1;
        taken.memory_bytes -= self.memory_bytes;
        drop(taken);
        self.room.freed.notify_all();
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
    fn neither_cells_nor_memory_are_ever_exceeded() {
        let room = Room::new(RoomMax { cells: 3, memory_bytes: 100 });
        let (cells, memory) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for number in 0..16_u64 {
                let (room, cells, memory) = (&room, &cells, &memory);
                scope.spawn(move || {
                    for round in 0..20 {
                        let bytes = (number * 7 + round * 13) % 60 + 1;
                        let place = room
                            .ticket()
                            .take(bytes, &mut always)
                            .unwrap_or_else(|_| unreachable!());
                        assert!(cells.fetch_add(1, Ordering::SeqCst) < 3);
                        assert!(memory.fetch_add(bytes, Ordering::SeqCst) + bytes <= 100);
                        thread::yield_now();
                        cells.fetch_sub(1, Ordering::SeqCst);
                        memory.fetch_sub(bytes, Ordering::SeqCst);
                        drop(place);
                    }
                });
            }
        });
        let taken = room.lock();
        assert_eq!((taken.cells, taken.memory_bytes, taken.queue.len()), (0, 0, 0));
    }

    /// Runs `act` while a request waits for more memory than is free, behind one that holds most of
    /// it.
    fn with_a_large_one_waiting(act: impl FnOnce(&Room, &dyn Fn() -> bool, Place<'_>)) {
        let room = Room::new(RoomMax { cells: 64, memory_bytes: 100 });
        let first = room.ticket().take(60, &mut always).unwrap_or_else(|_| unreachable!());
        thread::scope(|scope| {
            let large = scope.spawn(|| drop(room.ticket().take(90, &mut always)));
            while !matches!(room.lock().queue.get(&1), Some(Waiter::Asked { .. })) {
                thread::yield_now();
            }
            act(&room, &|| large.is_finished(), first);
            assert!(large.join().is_ok());
        });
        assert_eq!((room.taken(), room.lock().queue.len()), ((0, 0), 0));
    }

    /// Takes a permit now, or none.
    fn at_once(room: &Room, memory_bytes: u64) -> Option<Place<'_>> {
        room.ticket().take(memory_bytes, &mut || false).ok()
    }

    #[test]
    fn a_large_one_does_not_keep_small_ones_waiting_that_fit() {
        with_a_large_one_waiting(|room, large_has_ended, first| {
            let small = at_once(room, 20);
            assert!(small.is_some(), "its memory fits");
            assert!(at_once(room, 30).is_none(), "its memory does not fit");
            assert!(!large_has_ended());
            drop((small, first));
        });
    }

    #[test]
    fn a_large_one_is_passed_so_often_and_no_more() {
        with_a_large_one_waiting(|room, large_has_ended, first| {
            for pass in 0..PASSES_MAX {
                assert!(at_once(room, 20).is_some(), "pass {pass}");
            }
            assert!(at_once(room, 20).is_none(), "passed once too often");
            thread::scope(|scope| {
                let small = scope.spawn(|| room.ticket().take(20, &mut always).is_ok());
                thread::sleep(LOOK_INTERVAL);
                assert!(!small.is_finished() && !large_has_ended());
                drop(first);
                assert!(small.join().is_ok_and(|took| took), "blocked for ever");
            });
        });
    }

    #[test]
    fn nobody_passes_one_that_fits() {
        let room = Room::new(RoomMax { cells: 1, memory_bytes: 100 });
        let first = room.ticket().take(60, &mut always);
        let second = room.ticket();
        assert!(at_once(&room, 1).is_none(), "no sandbox is free");
        drop(first);
        assert!(at_once(&room, 1).is_none(), "passed one that may fit");
        assert!(second.take(100, &mut || false).is_ok());
    }

    #[test]
    fn numbers_are_served_in_the_order_in_which_they_were_drawn() {
        let room = Room::new(RoomMax { cells: 1, memory_bytes: 100 });
        let (first, second, third) = (room.ticket(), room.ticket(), room.ticket());
        assert_eq!(third.take(1, &mut || false).err(), Some(NoRoom::NotWaited));
        thread::scope(|scope| {
            let second = scope.spawn(|| second.take(1, &mut always).is_ok());
            thread::sleep(LOOK_INTERVAL);
            assert!(!second.is_finished(), "overtook one who has not asked yet");
            drop(first);
            assert!(second.join().is_ok_and(|took| took));
        });
        assert!(room.ticket().take(1, &mut always).is_ok());
    }

    #[test]
    fn what_can_never_fit_is_said_so_and_who_leaves_lets_the_next_in() {
        let room = Room::new(RoomMax { cells: 1, memory_bytes: 100 });
        let never = room.ticket().take(101, &mut always).err();
        assert_eq!(never, Some(NoRoom::Never { memory_bytes_max: 100 }));
        let first = room.ticket().take(1, &mut always);
        assert_eq!(room.ticket().take(1, &mut || false).err(), Some(NoRoom::NotWaited));
        drop(first);
        assert!(room.ticket().take(1, &mut always).is_ok());
    }
}
