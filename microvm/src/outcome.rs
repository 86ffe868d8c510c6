//! The outcomes of a run and their exit statuses. A tool may exit with any status, so only the
//! report distinguishes its end from an outcome of the wrapper.

use std::fmt;

model::closed_set! {
    /// The outcome of a run.
    pub enum GuestOutcome {
        Ended = "ended": "The tool ended, and its files were copied.",
        GuestFailed = "guest-failed": "The guest failed after the tool had started.",
        WrapperFailed = "wrapper-failed": "The wrapper failed, or a file that it needs is missing.",
        QemuExited = "qemu-exited": "QEMU exited before the guest had reported everything.",
        BadArchive = "bad-archive": "The guest's archive of /out is refused.",
        BadStatus = "bad-status": "The guest's messages are not valid.",
        TimeLimit = "time-limit": "The time limit was reached.",
        NoBoot = "no-boot": "The guest did not start the tool in time.",
    }
}

model::serialize_closed_set!(GuestOutcome);

impl GuestOutcome {
    /// Returns the exit status of the wrapper. After `Ended` it is the tool's own.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Ended => 0,
            Self::GuestFailed => 119,
            Self::WrapperFailed => 120,
            Self::QemuExited => 121,
            Self::BadArchive => 122,
            Self::BadStatus => 123,
            Self::TimeLimit => 124,
            Self::NoBoot => 125,
        }
    }
}

/// The end of a run that is not the end of the tool.
#[derive(Debug)]
pub(crate) struct GuestHalt {
    pub(crate) outcome: GuestOutcome,
    pub(crate) reason: String,
}

impl GuestHalt {
    pub(crate) fn new(outcome: GuestOutcome, reason: impl fmt::Display) -> Self {
        Self { outcome, reason: reason.to_string() }
    }

    /// Returns a function that makes a failure of the wrapper at a step.
    pub(crate) fn at<E: fmt::Display>(step: &str) -> impl FnOnce(E) -> Self {
        move |error| Self::new(GuestOutcome::WrapperFailed, format!("{step}: {error}"))
    }
}
