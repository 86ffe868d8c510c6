//! The state of the daemon: its published status, compared with whether it is alive. The status of
//! a dead daemon is never shown as current.

use std::path::Path;

use model::escape_line;
use serde_json::{Value, json};
use spool::{
    DaemonLiveness, DaemonState, PublishedFileError, PublishedStatus, daemon_liveness,
    published_status,
};

/// The known state of a spool's daemon.
pub(crate) struct DaemonView {
    alive: DaemonLiveness,
    status: Result<PublishedStatus, PublishedFileError>,
}

impl DaemonView {
    pub(crate) fn of(spool: &Path) -> Self {
        let told = published_status(spool);
        Self { alive: daemon_liveness(spool, told.as_ref().ok()), status: told }
    }

    /// Returns whether requests in flight are abandoned because the daemon is dead.
    pub(super) fn is_dead(&self) -> bool {
        self.alive == DaemonLiveness::NotRunning
    }

    /// Returns the published status if it belongs to the living daemon, or if the caller cannot
    /// determine that it does not.
    fn present(&self) -> Option<&PublishedStatus> {
        let told = self.status.as_ref().ok().filter(|told| told.state.is_alive())?;
        match self.alive {
            // Process ids differ between pid namespaces. Then the lock alone decides.
            DaemonLiveness::Running(Some(pid))
                if pid != told.process.pid && self.shares_pid_namespace(told) =>
            {
                None
            }
            DaemonLiveness::Running(_) | DaemonLiveness::Unknown => Some(told),
            DaemonLiveness::NotRunning => None,
        }
    }

    fn shares_pid_namespace(&self, told: &PublishedStatus) -> bool {
        let here = spool::ProcessId::current();
        told.process.boot_id == here.boot_id && told.process.pid_namespace == here.pid_namespace
    }

    /// Returns the state as one word.
    pub(crate) fn as_str(&self) -> &'static str {
        match (self.alive, &self.status, self.present()) {
            (DaemonLiveness::Running(_), _, Some(told)) => told.state.as_str(),
            (DaemonLiveness::Running(_), _, None) => "unreported",
            (DaemonLiveness::Unknown, _, _) => "unknown",
            (DaemonLiveness::NotRunning, Ok(told), _) if told.state.is_alive() => "died",
            (DaemonLiveness::NotRunning, Ok(told), _) => told.state.as_str(),
            (DaemonLiveness::NotRunning, Err(_), _) => "absent",
        }
    }

    /// Returns whether the daemon is alive, serving, and admitting submissions.
    pub(crate) fn admits(&self) -> bool {
        matches!(self.alive, DaemonLiveness::Running(_))
            && self.present().is_some_and(|told| {
                told.state == DaemonState::Serving && told.admission_stopped.is_none()
            })
    }

    /// Returns the state as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let said = match (self.as_str(), &self.status) {
            (
                "unreported",
                Err(error @ (PublishedFileError::Unreadable(..) | PublishedFileError::Invalid(..))),
            ) => {
                format!("running, but its status is unreadable: {error}")
            }
            ("unreported", _) => "running, but it has written no status".to_owned(),
            ("unknown", Ok(told)) => {
                let (state, at) = (told.state, &told.at_utc);
                format!("{state} as of {at}; you may not see whether it still runs")
            }
            ("unknown", Err(error)) => format!("{error}; you may not see whether it runs"),
            ("absent", Err(PublishedFileError::Missing) | Ok(_)) => "not running".into(),
            ("absent", Err(error)) => format!("not running; {error}"),
            ("died", Ok(told)) => {
                let (state, at) = (told.state, &told.at_utc);
                format!("died: {state} at {at}, then ended without writing a state")
            }
            (word, Ok(told)) if told.state.is_alive() => {
                let (pid, version) = (told.process.pid, &told.version);
                format!("{word} since {}, process {pid}, version {version}", told.started_utc)
            }
            (word, Ok(told)) => format!("{word} at {}", told.at_utc),
            (word, Err(_)) => word.to_owned(),
        };
        match self.status.as_ref().ok().and_then(|told| told.reason.as_deref()) {
            Some(why) => escape_line(&format!("{said}: {why}")),
            None => escape_line(&said),
        }
    }

    /// Returns why nothing is admitted, if the daemon reports that.
    pub(crate) fn admission_stopped(&self) -> Option<&str> {
        self.present()?.admission_stopped.as_deref()
    }

    /// Returns the name and digest of the active or last active policy.
    pub(crate) fn policy(&self) -> Option<(&str, &str)> {
        let policy = &self.status.as_ref().ok()?.policy;
        Some((&policy.name, &policy.sha256))
    }

    pub(crate) fn json(&self) -> Value {
        let told = self.status.as_ref().ok();
        json!({
            "state": self.as_str(),
            "alive": match self.alive {
                DaemonLiveness::Running(_) => Some(true),
                DaemonLiveness::NotRunning => Some(false),
                DaemonLiveness::Unknown => None,
            },
            "admits": self.admits(),
            "summary": self.sentence(),
            "status": told,
            "status_error": self.status.as_ref().err().map(ToString::to_string),
        })
    }
}
