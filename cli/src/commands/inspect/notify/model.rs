//! Events of a spool, and the options about them.

use clap::ValueEnum;
use model::{Sha256, UtcTime};
use validator::RiskLevel;

model::closed_set! {
    /// The kind of an event, with the sentence for people.
    pub(crate) enum SpoolEventKind {
        Draft = "draft": "a draft waits for approval",
        Held = "held": "a request is held",
        Ended = "ended": "a request has ended",
        AdmissionStopped = "admission_stopped": "the daemon admits nothing",
    }
}

/// The format of a POST.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NotifyForm {
    Json,
    Ntfy,
    Slack,
}

/// An event as the command line names it.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NotifyTopic {
    Waits,
    Ends,
    Held,
    Stopped,
}

impl NotifyTopic {
    pub(super) fn kind(self) -> SpoolEventKind {
        match self {
            Self::Waits => SpoolEventKind::Draft,
            Self::Ends => SpoolEventKind::Ended,
            Self::Held => SpoolEventKind::Held,
            Self::Stopped => SpoolEventKind::AdmissionStopped,
        }
    }
}

/// A change that is announced once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SpoolEvent {
    pub(super) kind: SpoolEventKind,
    /// The same for the same event after a restart, and different for every other event.
    pub(super) key: String,
    pub(super) request_id: Option<String>,
    /// The name of the object in its directory. Empty if nothing waits there.
    pub(super) name: String,
    pub(super) facts: EventFacts,
    /// The time at which it was seen.
    pub(super) at: UtcTime,
}

/// The facts of an event that are read only when it is to be posted. Nothing in them is verified.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct EventFacts {
    pub(super) outcome: Option<String>,
    /// The level that the request states.
    pub(super) risk_class: Option<RiskLevel>,
    /// The digest of the request's exact bytes.
    pub(super) sha256: Option<Sha256>,
    pub(super) text: Option<EventText>,
}

/// Text of a request: escaped, bounded, and without line ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EventText {
    pub(super) purpose: String,
    pub(super) command: String,
}
