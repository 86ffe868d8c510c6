//! CPU affinity without control groups. The launcher sets it: filters refuse the call inside.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::Failed;

/// Pins a process and its children to as many cores as the limit fills. Returns their number.
pub(super) fn pin(process: Pid, cpu_milli: u32) -> Result<u64, Failed> {
    let allowed = sched_getaffinity(process).map_err(Failed::at("read the CPU affinity"))?;
    let cores = usize::try_from(cpu_milli.div_ceil(1000)).unwrap_or(usize::MAX);
    let mut chosen = CpuSet::new();
    let usable = (0..CpuSet::count()).filter(|core| allowed.is_set(*core).unwrap_or(false));
    let mut count = 0;
    for core in usable.take(cores) {
        chosen.set(core).map_err(Failed::at("choose cores"))?;
        count += 1;
    }
    sched_setaffinity(process, &chosen).map_err(Failed::at("pin the sandbox to cores"))?;
    Ok(count)
}
