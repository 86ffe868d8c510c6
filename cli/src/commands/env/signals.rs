//! Signals during a build. An installer has a process group of its own, so a Ctrl-C reaches only
//! this process: while an installer runs, the signal ends it. Otherwise it must end this process.

use std::sync::{Mutex, PoisonError};

use environments::BuildInterrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

use crate::failure::Failure;

/// The handlers of a build. A run that follows it registers its own.
static REGISTERED: Mutex<Vec<SigId>> = Mutex::new(Vec::new());

/// Registers the signals that interrupt a build.
pub(super) fn interrupt_by_signals() -> Result<BuildInterrupt, Failure> {
    let interrupt = BuildInterrupt::default();
    for signal in [SIGINT, SIGTERM] {
        let registered =
            flag::register_conditional_default(signal, interrupt.idle()).and_then(|first| {
                flag::register(signal, interrupt.requested()).map(|second| [first, second])
            });
        let registered = registered.map_err(|error| {
            Failure::Message(format!("signals: {error}; help: report this as a bug"))
        })?;
        REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).extend(registered);
    }
    Ok(interrupt)
}

/// Removes the handlers of a build, before a run registers its own for the same signals.
pub(in crate::commands) fn release_signals() {
    for id in REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        low_level::unregister(id);
    }
}
