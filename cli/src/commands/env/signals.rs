//! Signals during a build. An installer has a process group of its own, so a signal of the terminal
//! reaches only this process: while an installer runs, it ends the installer. Otherwise it must end
//! this process. A signal that was ignored at the start, as by `nohup`, must stay ignored.

use std::fs;
use std::io;
use std::sync::{Mutex, PoisonError};

use environments::BuildInterrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

use crate::failure::Failure;

/// Each signal that interrupts a build, and whether a run that follows handles it, too.
const SIGNALS: [(i32, bool); 4] =
    [(SIGHUP, false), (SIGINT, true), (SIGQUIT, false), (SIGTERM, true)];

/// The handlers of signals for which a run registers its own. The others stay: while no installer
/// runs, they end this process as usual.
static REGISTERED: Mutex<Vec<SigId>> = Mutex::new(Vec::new());

/// Registers the signals that interrupt a build. A process calls it once.
pub(super) fn interrupt_by_signals() -> Result<BuildInterrupt, Failure> {
    let interrupt = BuildInterrupt::default();
    // Without this file, no signal counts as ignored.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for (signal, of_run) in SIGNALS {
        if is_ignored(signal, &status) {
            continue;
        }
        let ids = register(signal, &interrupt).map_err(|error| {
            Failure::Message(format!("signals: {error}; help: report this as a bug"))
        })?;
        if of_run {
            REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
        }
    }
    Ok(interrupt)
}

fn register(signal: i32, interrupt: &BuildInterrupt) -> io::Result<[SigId; 2]> {
    let first = flag::register_conditional_default(signal, interrupt.idle())?;
    Ok([first, flag::register(signal, interrupt.requested())?])
}

/// Returns whether the status of a process says that it ignores a signal.
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let bit = u32::try_from(signal).ok().and_then(|number| number.checked_sub(1));
    let bit = bit.and_then(|bit| 1_u64.checked_shl(bit)).unwrap_or(0);
    mask & bit != 0
}

/// Removes the handlers of a build, before a run registers its own for the same signals.
pub(in crate::commands) fn release_signals() {
    for id in REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        low_level::unregister(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_those_of_the_mask() {
        let status = "Name:\ttoolexec\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        let ignored: Vec<i32> = (0..=65).filter(|signal| is_ignored(*signal, status)).collect();
        assert_eq!(ignored, [SIGHUP, 13]);
        for status in ["", "SigIgn:\tx\n"] {
            assert!(!is_ignored(SIGHUP, status), "{status}");
        }
    }
}
