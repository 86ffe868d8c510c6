//! A finding of `doctor`: the state of one object, and the fix. A check without problems is
//! reported too. An object that could not be inspected must never be omitted or reported as good.

model::closed_set! {
    /// The subject of a finding, in the order of the report.
    #[derive(PartialOrd, Ord)]
    pub(super) enum Topic {
        Kernel = "kernel",
        Cgroups = "cgroups",
        Programs = "programs",
        Runtimes = "runtimes",
        Backends = "backends",
        Sandbox = "sandbox",
        Rules = "rules",
        Keys = "keys",
        Directories = "directories",
        Disk = "disk",
        Clock = "clock",
        Log = "log",
    }
}

model::closed_set! {
    pub(super) enum FindingVerdict {
        Ok = "ok",
        /// Something works less well, or only for some users.
        Warning = "warning",
        /// Runs are refused, or a guarantee does not hold.
        Failure = "failure",
        NotChecked = "not looked at",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DoctorFinding {
    pub(super) topic: Topic,
    pub(super) object: String,
    pub(super) verdict: FindingVerdict,
    pub(super) found: String,
    /// The fix, with a command. Always present if something is wrong.
    pub(super) remedy: Option<String>,
}

impl DoctorFinding {
    pub(super) fn ok(topic: Topic, object: impl Into<String>, found: impl Into<String>) -> Self {
        let (object, found) = (object.into(), found.into());
        Self { topic, object, verdict: FindingVerdict::Ok, found, remedy: None }
    }

    pub(super) fn problem(
        verdict: FindingVerdict,
        topic: Topic,
        object: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (object, found) = (object.into(), found.into());
        // The remedy replaces the help of an error.
        let lines: Vec<&str> = found.split('\n').map(|it| records::split_reason(it).0).collect();
        let found = lines.join("\n");
        Self { topic, object, verdict, found, remedy: Some(remedy.into()) }
    }

    pub(super) fn warning(
        topic: Topic,
        object: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::problem(FindingVerdict::Warning, topic, object, found, remedy)
    }

    pub(super) fn failure(
        topic: Topic,
        object: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::problem(FindingVerdict::Failure, topic, object, found, remedy)
    }

    pub(super) fn not_checked(
        topic: Topic,
        object: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::problem(FindingVerdict::NotChecked, topic, object, why, remedy)
    }
}
