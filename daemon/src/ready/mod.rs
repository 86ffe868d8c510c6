//! Cells that are made ahead of the requests that use them, so that a run need not wait for its confinement.
//!
//! A cell is made for the runtime that ran last, around an empty slot; a claim of the same runtime takes
//! both over. It is used once or not at all. A cell made ahead is a convenience: whatever is wrong with
//! one (old, dead, its runtime replaced, its slot touched), the run gets one built for it alone, and no
//! run ever fails because of it. Less confinement cannot come of it either: the whole plan but the slot
//! is the same, and the cell reports what is in force as any other does.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use policies::Approved;
use sandbox::client::{AskedCell, BuildError, Launcher, PreparedCell, ReadyCell, StartLimit, Wait};
use sandbox::plan::{CellPlan, Plan};
use spool::{EmptySlot, Spool};

use crate::{plan, system};

/// The launcher ends a cell that has waited a quarter of an hour; none is kept so long.
const AGE_MAX: Duration = Duration::from_secs(5 * 60);

/// How long one may take to be made.
const MADE_TIME_MAX: Duration = Duration::from_secs(5);

/// The cells that wait.
pub(crate) struct ReadyCells {
    cells_max: usize,
    /// The oldest first.
    waiting: Vec<WaitingSandbox>,
    /// What the last run was built from.
    last: Option<CellPlan>,
}

/// One of them.
pub(crate) struct WaitingSandbox {
    plan: CellPlan,
    slot: EmptySlot,
    cell: AskedCell,
    files: Files,
    made: Instant,
}

/// A cell that was made for another slot's sake and fits this run.
pub(crate) struct MadeAhead {
    plan: CellPlan,
    cell: PreparedCell,
    /// How long it may take to put the order's limits in force.
    time_max: Duration,
}

impl ReadyCells {
    /// At most so many; none keeps nothing ready.
    pub(crate) fn new(cells_max: usize) -> Self {
        Self { cells_max, waiting: Vec::new(), last: None }
    }

    /// Takes a cell that fits, with its slot.
    pub(crate) fn take(
        cells: &Mutex<Self>,
        spool: &Spool,
        approved: &Approved,
    ) -> Option<(EmptySlot, MadeAhead)> {
        if !plan::may_be_ready(approved) {
            return None;
        }
        let time_max = Duration::from_secs(approved.grant().start_sec_max()) / 4;
        let fits =
            |one: &WaitingSandbox| one.plan == plan::cell(approved.grant(), one.plan.slot.clone());
        let one = {
            let mut cells = cells.lock().unwrap_or_else(PoisonError::into_inner);
            let at = cells.waiting.iter().position(fits)?;
            cells.waiting.remove(at)
        };
        if !one.is_good(spool) {
            one.give_up(spool);
            return None;
        }
        // A cell for this run alone would take no longer.
        match one.cell.prepared_within(&mut StartLimit::new(time_max, &mut |_| Wait::GoOn)) {
            Ok(cell) => Some((one.slot, MadeAhead { plan: one.plan, cell, time_max })),
            Err(error) => {
                tracing::debug!("a cell made ahead was lost: {error}");
                spool.give_up_slot(one.slot);
                None
            }
        }
    }

    /// Notes what a run is built from: the next may be of its kind.
    pub(crate) fn note(&mut self, approved: &Approved, plan: &CellPlan) {
        self.last = (self.cells_max > 0 && plan::may_be_ready(approved)).then(|| plan.clone());
    }

    /// After a run: what a cell for the next of its kind is to be built from, if there are not enough.
    pub(crate) fn wanted(&mut self, spool: &Spool) -> Option<CellPlan> {
        let last = self.last.take()?;
        let like_it = |one: &&WaitingSandbox| one.plan == with_slot_of(&last, &one.plan);
        if self.waiting.iter().filter(like_it).count() >= self.cells_max {
            return None;
        }
        while self.waiting.len() >= self.cells_max {
            self.waiting.remove(0).give_up(spool);
        }
        Some(last)
    }

    /// Ends what has waited too long, and says what each was built from.
    pub(crate) fn take_old(&mut self, spool: &Spool) -> Vec<CellPlan> {
        let mut plans = Vec::new();
        while self.waiting.first().is_some_and(WaitingSandbox::is_old) {
            let old = self.waiting.remove(0);
            plans.push(old.plan.clone());
            old.give_up(spool);
        }
        plans
    }

    /// Takes in one that was made meanwhile, unless there are enough by now.
    pub(crate) fn add(&mut self, spool: &Spool, made: WaitingSandbox) {
        match self.waiting.len() < self.cells_max {
            true => self.waiting.push(made),
            false => made.give_up(spool),
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Ends every cell that waits.
    pub(crate) fn empty(&mut self, spool: &Spool) {
        self.waiting.drain(..).for_each(|one| one.give_up(spool));
    }
}

/// Has a cell made, and does not wait for it. It is to be added to those that wait.
pub(crate) fn make(spool: &Spool, launcher: &Launcher, like: &CellPlan) -> Option<WaitingSandbox> {
    let files = Files::of(like)?;
    let slot = match system::new_claim_id().map(|id| spool.make_slot(id)) {
        Ok(Ok(slot)) => slot,
        Ok(Err(error)) => {
            tracing::warn!("no cell is made ahead: {error}");
            return None;
        }
        Err(error) => {
            tracing::warn!("no cell is made ahead: {error}");
            return None;
        }
    };
    let asked = plan::slot(&slot).map(|slot| CellPlan { slot, ..like.clone() }).and_then(|plan| {
        Some((launcher.ask(plan.clone(), MADE_TIME_MAX).map_err(log_lost).ok()?, plan))
    });
    match asked {
        Some((cell, plan)) => {
            Some(WaitingSandbox { plan, slot, cell, files, made: Instant::now() })
        }
        None => {
            spool.give_up_slot(slot);
            None
        }
    }
}

fn log_lost(error: BuildError) {
    tracing::warn!("no cell is made ahead: {error}");
}

fn with_slot_of(plan: &CellPlan, other: &CellPlan) -> CellPlan {
    CellPlan { slot: other.slot.clone(), ..plan.clone() }
}

impl WaitingSandbox {
    fn is_old(&self) -> bool {
        self.made.elapsed() > AGE_MAX
    }

    fn is_good(&self, spool: &Spool) -> bool {
        let same_files = Files::of(&self.plan).is_some_and(|files| files == self.files);
        !self.is_old() && same_files && spool.is_as_made(&self.slot)
    }

    fn give_up(self, spool: &Spool) {
        drop(self.cell);
        spool.give_up_slot(self.slot);
    }
}

impl MadeAhead {
    /// Gives it the order; none if it is gone or is not what the run was planned to have. Nothing has run
    /// then.
    pub(crate) fn order(self, plan: &Plan) -> Option<ReadyCell> {
        if self.plan != plan.cell {
            return None;
        }
        let mut go_on = |_: &_| Wait::GoOn;
        let mut limit = StartLimit::new(self.time_max, &mut go_on);
        match self.cell.order_within(plan.order.clone(), &mut limit) {
            Ok(ready) => Some(ready),
            Err(error) => {
                tracing::debug!("a cell made ahead was lost: {error}");
                None
            }
        }
    }
}

/// Which files a runtime was made of when its cell was built.
#[derive(PartialEq, Eq)]
struct Files {
    /// Device, inode, size, times of modification and of change.
    program: (u64, u64, u64, [i64; 4]),
    /// Device and inode of each directory that is bound.
    directories: Vec<(u64, u64)>,
}

impl Files {
    /// None if one cannot be looked at: then nobody could say whether it is still the same.
    fn of(plan: &CellPlan) -> Option<Self> {
        let runtime = &plan.runtime;
        let inside = runtime.binary.strip_prefix("/").ok()?;
        let root = runtime.root.as_deref().unwrap_or(Path::new("/"));
        let found = fs::metadata(root.join(inside)).ok()?;
        let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
        let caches = runtime.caches.iter().map(|cache| &cache.source);
        let directories = runtime.mounts.iter().chain(&runtime.root).chain(caches);
        let identity = |path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
        Some(Self {
            program: (found.dev(), found.ino(), found.len(), times),
            directories: directories.map(identity).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests;
