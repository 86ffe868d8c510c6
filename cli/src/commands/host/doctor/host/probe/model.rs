//! The context of all readers: the subject, its configuration and its policy.

use std::path::{Path, PathBuf};

use daemon::lenient_config::LenientConfig;
use policies::Policy;

use crate::commands::host::doctor::host::model::DoctorSubject;

pub(super) struct ProbeContext {
    pub(super) subject: DoctorSubject,
    pub(super) outline: Option<LenientConfig>,
    pub(super) policy: Option<Policy>,
}

impl ProbeContext {
    pub(super) fn launcher_socket(&self) -> Option<&Path> {
        self.outline.as_ref().and_then(|it| it.launcher_socket.as_deref())
    }

    /// Returns the parent of `work/` and `results/`. An embedded state is its own spool.
    pub(super) fn spool(&self) -> Option<&Path> {
        match &self.subject {
            DoctorSubject::Embedded { state } => Some(state),
            DoctorSubject::Service { spool, .. } => spool.as_deref(),
        }
    }

    pub(super) fn results(&self) -> Option<PathBuf> {
        Some(self.spool()?.join("results"))
    }
}
