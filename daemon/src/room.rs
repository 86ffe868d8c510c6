//! How many cells there may be at once, and how much memory they may have been promised together. Who drew
//! the lower number is served first, whatever is asked: nobody is overtaken, so nobody waits for ever.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often one who waits looks whether it still wants to.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// How much room there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomMax {
    pub cells: usize,
    /// What all cells together may be promised, bytes.
    pub memory_bytes: u64,
}

/// The room of one host.
pub(crate) struct Room {
    max: RoomMax,
    taken: Mutex<Taken>,
    freed: Condvar,
}

#[derive(Default)]
struct Taken {
    cells: usize,
    memory_bytes: u64,
    /// The number that is drawn next, and the one whose turn it is.
    next: u64,
    turn: u64,
    /// Numbers that were given up before their turn.
    left: Vec<u64>,
}

/// A number in the queue, until room is taken with it or it is dropped.
#[must_use]
pub(crate) struct Ticket<'a> {
    room: &'a Room,
    number: u64,
    is_used: bool,
}

/// Room for one cell, until it is dropped.
pub(crate) struct Place<'a> {
    room: &'a Room,
    memory_bytes: u64,
}

/// Why there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoRoom {
    /// There will never be so much.
    Never { memory_bytes_max: u64 },
    /// It was not waited for.
    NotWaited,
}

impl Room {
    pub(crate) fn new(max: RoomMax) -> Self {
        Self { max, taken: Mutex::default(), freed: Condvar::new() }
    }

    /// For whoever answers for themselves: embedded runs.
    pub(crate) fn boundless() -> Self {
        Self::new(RoomMax { cells: usize::MAX, memory_bytes: u64::MAX })
    }

    /// Draws a number. Whoever draws later is served later, so it must be used or dropped soon.
    pub(crate) fn ticket(&self) -> Ticket<'_> {
        let mut taken = self.lock();
        let number = taken.next;
        taken.next += 1;
        Ticket { room: self, number, is_used: false }
    }

    pub(crate) fn max(&self) -> RoomMax {
        self.max
    }

    /// Cells that there are, and the bytes of memory that they were promised.
    pub(crate) fn taken(&self) -> (usize, u64) {
        let taken = self.lock();
        (taken.cells, taken.memory_bytes)
    }

    fn fits(&self, taken: &Taken, memory_bytes: u64) -> bool {
        let memory = taken.memory_bytes.saturating_add(memory_bytes);
        taken.cells < self.max.cells && memory <= self.max.memory_bytes
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Nothing that panics runs while it is held.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Ticket<'a> {
    /// Waits for room for a cell that may use so much memory, for as long as it is wanted.
    pub(crate) fn take(
        mut self,
        memory_bytes: u64,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Place<'a>, NoRoom> {
        let room = self.room;
        if memory_bytes > room.max.memory_bytes {
            return Err(NoRoom::Never { memory_bytes_max: room.max.memory_bytes });
        }
        let mut taken = room.lock();
        loop {
            if taken.turn == self.number && room.fits(&taken, memory_bytes) {
                taken.pass_on();
                taken.cells += 1;
                taken.memory_bytes += memory_bytes;
                drop(taken);
                self.is_used = true;
                room.freed.notify_all();
                return Ok(Place { room, memory_bytes });
            }
            let waited = room.freed.wait_timeout(taken, LOOK_INTERVAL);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !wanted() {
                // Before the number is given up, which locks it too.
                drop(taken);
                return Err(NoRoom::NotWaited);
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.is_used {
            return;
        }
        let mut taken = self.room.lock();
        match taken.turn == self.number {
            true => taken.pass_on(),
            false => taken.left.push(self.number),
        }
        drop(taken);
        self.room.freed.notify_all();
    }
}

impl Taken {
    /// The next who still waits.
    fn pass_on(&mut self) {
        self.turn += 1;
        while let Some(at) = self.left.iter().position(|number| *number == self.turn) {
            self.left.swap_remove(at);
            self.turn += 1;
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
        assert_eq!((taken.cells, taken.memory_bytes, taken.left.len()), (0, 0, 0));
    }

    #[test]
    fn a_large_one_is_not_overtaken_by_small_ones() {
        let room = Room::new(RoomMax { cells: 8, memory_bytes: 100 });
        let order = Mutex::new(Vec::new());
        let first = room.ticket().take(60, &mut always);
        thread::scope(|scope| {
            let large = scope.spawn(|| {
                let place = room.ticket().take(90, &mut always);
                order.lock().unwrap_or_else(PoisonError::into_inner).push("large");
                drop(place);
            });
            while room.lock().next < 2 {
                thread::yield_now();
            }
            let small = scope.spawn(|| {
                // So much that the two do not fit beside each other either.
                let place = room.ticket().take(20, &mut always);
                order.lock().unwrap_or_else(PoisonError::into_inner).push("small");
                drop(place);
            });
            while room.lock().next < 3 {
                thread::yield_now();
            }
            drop(first);
            assert!(large.join().is_ok() && small.join().is_ok());
        });
        assert_eq!(*order.lock().unwrap_or_else(PoisonError::into_inner), ["large", "small"]);
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
