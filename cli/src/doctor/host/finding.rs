//! What `doctor` says of one thing: how it is, and what to do about it. Whoever finds nothing wrong says
//! so too; what could not be looked at is never passed over, nor taken for good.

/// What a finding is about, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    Kernel,
    Cgroups,
    Programs,
    Runtimes,
    Sandbox,
    Rules,
    Keys,
    Places,
    Disk,
    Clock,
    Log,
}

impl Topic {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Cgroups => "cgroups",
            Self::Programs => "programs",
            Self::Runtimes => "runtimes",
            Self::Sandbox => "sandbox",
            Self::Rules => "rules",
            Self::Keys => "keys",
            Self::Places => "places",
            Self::Disk => "disk",
            Self::Clock => "clock",
            Self::Log => "log",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    /// Something works less well, or not for everybody.
    Warning,
    /// Runs are refused, or what is promised does not hold.
    Failure,
    NotLookedAt,
}

impl Verdict {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failure => "failure",
            Self::NotLookedAt => "not looked at",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) topic: Topic,
    pub(super) object: String,
    pub(super) verdict: Verdict,
    pub(super) found: String,
    /// What to do, with a command; never without one where something is wrong.
    pub(super) remedy: Option<String>,
}

impl Finding {
    pub(super) fn ok(topic: Topic, object: impl Into<String>, found: impl Into<String>) -> Self {
        let (object, found) = (object.into(), found.into());
        Self { topic, object, verdict: Verdict::Ok, found, remedy: None }
    }

    pub(super) fn wrong(
        verdict: Verdict,
        topic: Topic,
        object: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (object, found) = (object.into(), found.into());
        Self { topic, object, verdict, found, remedy: Some(remedy.into()) }
    }

    pub(super) fn warning(
        topic: Topic,
        object: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::wrong(Verdict::Warning, topic, object, found, remedy)
    }

    pub(super) fn failure(
        topic: Topic,
        object: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::wrong(Verdict::Failure, topic, object, found, remedy)
    }

    pub(super) fn unseen(
        topic: Topic,
        object: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::wrong(Verdict::NotLookedAt, topic, object, why, remedy)
    }
}
