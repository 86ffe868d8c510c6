//! The state of the daemon: its published status, compared with whether it is alive. The status of
//! a dead daemon is never shown as current.

use std::path::Path;

use model::escape_line;
use serde_json::{Value, json};
use spool::{Alive, DaemonState, Status, ToldError, daemon_alive, told_status};

/// The known state of a spool's daemon.
pub(crate) struct Daemon {
    alive: Alive,
    told: Result<Status, ToldError>,
}

impl Daemon {
    pub(crate) fn of(spool: &Path) -> Self {
        let told = told_status(spool);
        Self { alive: daemon_alive(spool, told.as_ref().ok()), told }
    }

    /// Returns whether requests in flight are abandoned because the daemon is dead.
    pub(super) fn is_dead(&self) -> bool {
        self.alive == Alive::No
    }

    /// Returns the published status if it belongs to the living daemon, or if the caller cannot
    /// determine that it does not.
    fn present(&self) -> Option<&Status> {
        let told = self.told.as_ref().ok().filter(|told| told.state.is_of_the_living())?;
        match self.alive {
            // Process ids differ between pid namespaces. Then the lock alone decides.
            Alive::Yes(Some(pid)) if pid != told.seat.pid && self.counts_alike(told) => None,
            Alive::Yes(_) | Alive::Unknown => Some(told),
            Alive::No => None,
        }
    }

    fn counts_alike(&self, told: &Status) -> bool {
        let here = spool::Seat::here();
        told.seat.boot_id == here.boot_id && told.seat.pid_namespace == here.pid_namespace
    }

    /// Returns the state as one word.
    pub(crate) fn as_str(&self) -> &'static str {
        match (self.alive, &self.told, self.present()) {
            (Alive::Yes(_), _, Some(told)) => told.state.as_str(),
            (Alive::Yes(_), _, None) => "untold",
            (Alive::Unknown, _, _) => "unseen",
            (Alive::No, Ok(told), _) if told.state.is_of_the_living() => "died",
            (Alive::No, Ok(told), _) => told.state.as_str(),
            (Alive::No, Err(_), _) => "absent",
        }
    }

    /// Returns whether the daemon is alive, serving, and admitting submissions.
    pub(crate) fn admits(&self) -> bool {
        matches!(self.alive, Alive::Yes(_))
            && self.present().is_some_and(|told| {
                told.state == DaemonState::Serving && told.admission_stopped.is_none()
            })
    }

    /// Returns the state as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let said = match (self.as_str(), &self.told) {
            ("untold", Err(error @ (ToldError::Unreadable(..) | ToldError::Unsound(..)))) => {
                format!("running, but its status is unreadable: {error}")
            }
            ("untold", _) => "running, but it has written no status".to_owned(),
            ("unseen", Ok(told)) => {
                let (state, at) = (told.state, &told.at_utc);
                format!("{state} as of {at}; you may not see whether it still runs")
            }
            ("unseen", Err(error)) => format!("{error}; you may not see whether it runs"),
            ("absent", Err(ToldError::Nothing) | Ok(_)) => "not running".into(),
            ("absent", Err(error)) => format!("not running; {error}"),
            ("died", Ok(told)) => {
                let (state, at) = (told.state, &told.at_utc);
                format!("died: {state} at {at}, then ended without writing a state")
            }
            (word, Ok(told)) if told.state.is_of_the_living() => {
                let (pid, version) = (told.seat.pid, &told.version);
                format!("{word} since {}, process {pid}, version {version}", told.started_utc)
            }
            (word, Ok(told)) => format!("{word} at {}", told.at_utc),
            (word, Err(_)) => word.to_owned(),
        };
        match self.told.as_ref().ok().and_then(|told| told.why.as_deref()) {
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
        let policy = &self.told.as_ref().ok()?.policy;
        Some((&policy.name, &policy.sha256))
    }

    pub(crate) fn json(&self) -> Value {
        let told = self.told.as_ref().ok();
        json!({
            "state": self.as_str(),
            "alive": match self.alive {
                Alive::Yes(_) => Some(true),
                Alive::No => Some(false),
                Alive::Unknown => None,
            },
            "admits": self.admits(),
            "said": self.sentence(),
            "told": told,
            "not_told": self.told.as_ref().err().map(ToString::to_string),
        })
    }
}
