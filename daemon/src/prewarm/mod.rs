//! Prewarmed sandboxes: built ahead of the requests that use them.
//!
//! A sandbox is built for the runtime that ran last, around an empty slot. The next claim with the
//! same runtime takes both. Each is used once or not at all. In place of an unfit one (old, dead,
//! its runtime replaced, its slot changed) the run gets a new one; no run fails because of it.
//! Confinement is not reduced: the whole plan except the slot is the same, and the sandbox
//! reports its active layers as any other does.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use policies::Approved;
use sandbox::client::{
    BuildError, Launcher, PendingSandbox, PreparedSandbox, ReadySandbox, StartLimit, StartWait,
    WaitDecision,
};
use sandbox::plan::{Cache, Plan, RuntimeSpec, SandboxSpec};
use spool::{EmptySlot, Spool};

use crate::probe::HostFault;
use crate::{plan, system};

/// The launcher ends a waiting sandbox after 15 minutes; the daemon does so earlier.
const AGE_MAX: Duration = Duration::from_secs(5 * 60);

const BUILD_TIME_MAX: Duration = Duration::from_secs(5);

pub(crate) struct PrewarmedSandboxes {
    sandboxes_max: usize,
    /// The oldest first.
    waiting: Vec<WaitingSandbox>,
    /// The plan of the last run.
    last: Option<SandboxSpec>,
}

pub(crate) struct WaitingSandbox {
    plan: SandboxSpec,
    slot: EmptySlot,
    sandbox: PendingSandbox,
    files: RuntimeFiles,
    built: Instant,
}

pub(crate) struct PrewarmedSandbox {
    plan: SandboxSpec,
    sandbox: PreparedSandbox,
    /// The time limit for applying the run's limits, without that of a copy.
    time_max: Duration,
}

impl PrewarmedSandboxes {
    /// 0 disables prewarming.
    pub(crate) fn new(sandboxes_max: usize) -> Self {
        Self { sandboxes_max, waiting: Vec::new(), last: None }
    }

    pub(crate) fn take(
        sandboxes: &Mutex<Self>,
        spool: &Spool,
        approved: &Approved,
    ) -> Option<(EmptySlot, PrewarmedSandbox)> {
        if !plan::can_use_prewarmed(approved) {
            return None;
        }
        let time_max = Duration::from_secs(approved.grant().start_sec_max()) / 4;
        let fits = |one: &WaitingSandbox| {
            one.plan == plan::sandbox_plan(approved.grant(), one.plan.slot.clone())
        };
        let one = {
            let mut sandboxes = sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
            let at = sandboxes.waiting.iter().position(fits)?;
            sandboxes.waiting.remove(at)
        };
        if !one.is_good(spool) {
            one.give_up(spool);
            return None;
        }
        // With this limit it takes no longer than a new sandbox.
        match one
            .sandbox
            .prepared_within(&mut StartLimit::new(time_max, &mut |_| WaitDecision::Continue))
        {
            Ok(sandbox) => Some((one.slot, PrewarmedSandbox { plan: one.plan, sandbox, time_max })),
            Err(error) => {
                tracing::debug!("a prewarmed sandbox was lost: {error}");
                spool.give_up_slot(one.slot);
                None
            }
        }
    }

    /// Notes the plan of a run: the next run may be of the same kind.
    pub(crate) fn note(&mut self, approved: &Approved, plan: &SandboxSpec) {
        self.last =
            (self.sandboxes_max > 0 && plan::can_use_prewarmed(approved)).then(|| plan.clone());
    }

    /// Returns the plan of a sandbox to build after a run, if there are not enough of its kind.
    pub(crate) fn next_plan(&mut self, spool: &Spool) -> Option<SandboxSpec> {
        let last = self.last.take()?;
        let like_it = |one: &&WaitingSandbox| one.plan == with_slot_of(&last, &one.plan);
        if self.waiting.iter().filter(like_it).count() >= self.sandboxes_max {
            return None;
        }
        while self.waiting.len() >= self.sandboxes_max {
            self.waiting.remove(0).give_up(spool);
        }
        Some(last)
    }

    /// Ends the sandboxes that are too old, and returns their plans.
    pub(crate) fn take_old(&mut self, spool: &Spool) -> Vec<SandboxSpec> {
        let mut plans = Vec::new();
        while self.waiting.first().is_some_and(WaitingSandbox::is_old) {
            let old = self.waiting.remove(0);
            plans.push(old.plan.clone());
            old.give_up(spool);
        }
        plans
    }

    pub(crate) fn add(&mut self, spool: &Spool, made: WaitingSandbox) {
        match self.waiting.len() < self.sandboxes_max {
            true => self.waiting.push(made),
            false => made.give_up(spool),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn empty(&mut self, spool: &Spool) {
        self.waiting.drain(..).for_each(|one| one.give_up(spool));
    }
}

/// Starts a build without waiting for it; the caller adds the sandbox to the others.
pub(crate) fn start_build(
    spool: &Spool,
    launcher: &Launcher,
    like: &SandboxSpec,
) -> Option<WaitingSandbox> {
    let files = RuntimeFiles::of(like)?;
    let slot = match system::new_claim_id().map(|id| spool.make_slot(id)) {
        Ok(Ok(slot)) => slot,
        Ok(Err(error)) => {
            tracing::warn!("no sandbox is prewarmed: {error}");
            return None;
        }
        Err(error) => {
            tracing::warn!("no sandbox is prewarmed: {error}");
            return None;
        }
    };
    let requested =
        plan::slot(&slot).map(|slot| SandboxSpec { slot, ..like.clone() }).and_then(|plan| {
            Some((launcher.request(plan.clone(), BUILD_TIME_MAX).map_err(log_lost).ok()?, plan))
        });
    match requested {
        Some((sandbox, plan)) => {
            Some(WaitingSandbox { plan, slot, sandbox, files, built: Instant::now() })
        }
        None => {
            spool.give_up_slot(slot);
            None
        }
    }
}

fn log_lost(error: BuildError) {
    tracing::warn!("no sandbox is prewarmed: {}", HostFault::of(&error).reason());
}

fn with_slot_of(plan: &SandboxSpec, other: &SandboxSpec) -> SandboxSpec {
    SandboxSpec { slot: other.slot.clone(), ..plan.clone() }
}

impl WaitingSandbox {
    fn is_old(&self) -> bool {
        self.built.elapsed() > AGE_MAX
    }

    fn is_good(&self, spool: &Spool) -> bool {
        let same_files = RuntimeFiles::of(&self.plan).is_some_and(|files| files == self.files);
        !self.is_old() && same_files && spool.is_as_made(&self.slot)
    }

    fn give_up(self, spool: &Spool) {
        drop(self.sandbox);
        spool.give_up_slot(self.slot);
    }
}

impl PrewarmedSandbox {
    /// Sends the command and its limits. Calls `ask` while it waits, because a folder can take long
    /// to copy. Returns none, and nothing has run, if the sandbox is gone or differs from the run's
    /// plan, or if the wait was cancelled.
    pub(crate) fn start_with(
        self,
        plan: &Plan,
        ask: &mut dyn FnMut(&StartWait) -> WaitDecision,
    ) -> Option<ReadySandbox> {
        if self.plan != plan.sandbox {
            return None;
        }
        let mut limit = StartLimit::new(self.time_max, ask);
        match self.sandbox.assign_within(plan.exec.clone(), &mut limit) {
            Ok(ready) => Some(ready),
            Err(error) => {
                tracing::debug!("a prewarmed sandbox was lost: {error}");
                None
            }
        }
    }
}

/// The files of a runtime when its sandbox was built. Two plans with different environments differ,
/// because the directory of an environment contains its digest. The files of an environment are not
/// examined here: the identity of its directory shows that the sandbox has the one that the
/// pipeline checks by its stamp right before the start.
#[derive(PartialEq, Eq)]
struct RuntimeFiles {
    /// Device, inode, size, and the times of modification and change.
    program: (u64, u64, u64, [i64; 4]),
    /// Device and inode of each mounted directory.
    directories: Vec<(u64, u64)>,
}

impl RuntimeFiles {
    /// Returns none if a file cannot be inspected, because later changes could not be detected.
    fn of(plan: &SandboxSpec) -> Option<Self> {
        let runtime = &plan.runtime;
        let found = fs::metadata(program_on_host(runtime)?).ok()?;
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

/// Returns the path of the program on the host. A program of an environment is in a cache.
fn program_on_host(runtime: &RuntimeSpec) -> Option<PathBuf> {
    let in_cache = |cache: &Cache| {
        runtime.binary.strip_prefix(&cache.target).ok().map(|inside| cache.source.join(inside))
    };
    runtime.caches.iter().find_map(in_cache).or_else(|| {
        let root = runtime.root.as_deref().unwrap_or(Path::new("/"));
        Some(root.join(runtime.binary.strip_prefix("/").ok()?))
    })
}

#[cfg(test)]
mod tests;
