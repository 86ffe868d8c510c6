//! The published status of the daemon. That of a dead daemon is never shown as current.

use std::path::Path;

use model::escape_line;
use serde_json::{Value, json};
use spool::{
    DaemonLiveness, DaemonState, PublishedFileError, PublishedStatus, daemon_liveness,
    published_status,
};

pub(crate) struct DaemonView {
    alive: DaemonLiveness,
    status: Result<PublishedStatus, PublishedFileError>,
}

impl DaemonView {
    pub(crate) fn of(spool: &Path) -> Self {
        let status = published_status(spool);
        Self { alive: daemon_liveness(spool, status.as_ref().ok()), status }
    }

    /// Returns whether requests in flight are abandoned because the daemon is dead.
    pub(super) fn is_dead(&self) -> bool {
        self.alive == DaemonLiveness::NotRunning
    }

    /// Returns the published status unless it certainly belongs to a dead or earlier daemon.
    fn present(&self) -> Option<&PublishedStatus> {
        let status = self.status.as_ref().ok().filter(|status| status.state.is_alive())?;
        match self.alive {
            // Process ids differ between pid namespaces. Then the lock alone decides.
            DaemonLiveness::Running(Some(pid))
                if pid != status.process.pid && self.shares_pid_namespace(status) =>
            {
                None
            }
            DaemonLiveness::Running(_) | DaemonLiveness::Unknown => Some(status),
            DaemonLiveness::NotRunning => None,
        }
    }

    fn shares_pid_namespace(&self, status: &PublishedStatus) -> bool {
        let here = spool::ProcessId::current();
        status.process.boot_id == here.boot_id && status.process.pid_namespace == here.pid_namespace
    }

    pub(crate) fn as_str(&self) -> &'static str {
        match (self.alive, &self.status, self.present()) {
            (DaemonLiveness::Running(_), _, Some(status)) => status.state.as_str(),
            (DaemonLiveness::Running(_), _, None) => "unreported",
            (DaemonLiveness::Unknown, _, _) => "unknown",
            (DaemonLiveness::NotRunning, Ok(status), _) if status.state.is_alive() => "died",
            (DaemonLiveness::NotRunning, Ok(status), _) => status.state.as_str(),
            (DaemonLiveness::NotRunning, Err(_), _) => "absent",
        }
    }

    /// Returns whether the daemon is alive, serving, and admitting submissions.
    pub(crate) fn admits(&self) -> bool {
        matches!(self.alive, DaemonLiveness::Running(_))
            && self.present().is_some_and(|status| {
                status.state == DaemonState::Serving && status.admission_stopped.is_none()
            })
    }

    pub(crate) fn sentence(&self) -> String {
        // The row has no place for the help of an error.
        let problem =
            |error: &PublishedFileError| records::split_reason(&error.to_string()).0.to_owned();
        let text = match (self.as_str(), &self.status) {
            (
                "unreported",
                Err(error @ (PublishedFileError::Unreadable(..) | PublishedFileError::Invalid(..))),
            ) => {
                format!("running, but its status is unreadable: {}", problem(error))
            }
            ("unreported", _) => "running, but it has written no status".to_owned(),
            ("unknown", Ok(status)) => {
                let (state, at) = (status.state, &status.at_utc);
                format!("{state} as of {at}; you may not see whether it still runs")
            }
            ("unknown", Err(error)) => {
                format!("{}; you may not see whether it runs", problem(error))
            }
            ("absent", Err(PublishedFileError::Missing) | Ok(_)) => "not running".into(),
            ("absent", Err(error)) => format!("not running; {}", problem(error)),
            ("died", Ok(status)) => {
                let (state, at) = (status.state, &status.at_utc);
                format!("died: {state} at {at}, then ended without writing a state")
            }
            (word, Ok(status)) if status.state.is_alive() => {
                let (pid, version) = (status.process.pid, &status.version);
                format!("{word} since {}, process {pid}, version {version}", status.started_utc)
            }
            (word, Ok(status)) => format!("{word} at {}", status.at_utc),
            (word, Err(_)) => word.to_owned(),
        };
        match self.status.as_ref().ok().and_then(|status| status.reason.as_deref()) {
            Some(why) => escape_line(&format!("{text}: {why}")),
            None => escape_line(&text),
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
        let status = self.status.as_ref().ok();
        json!({
            "state": self.as_str(),
            "alive": match self.alive {
                DaemonLiveness::Running(_) => Some(true),
                DaemonLiveness::NotRunning => Some(false),
                DaemonLiveness::Unknown => None,
            },
            "admits": self.admits(),
            "summary": self.sentence(),
            "status": status,
            "status_error": self.status.as_ref().err().map(ToString::to_string),
        })
    }
}
