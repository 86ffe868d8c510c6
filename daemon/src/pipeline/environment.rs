//! The check of a run's environment. It takes milliseconds for thousands of files, so it runs while
//! the inputs are staged and the sandbox is built. Nothing may run before it has ended well.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use policies::OpenedEnvironment;
use validator::Violation;

use super::model::PipelineStep;
use super::request_context::RequestContext;
use super::sandbox::PreparedRun;
use crate::environments::start_fault;
use crate::model::DaemonError;

/// The comparison of an environment's files with their stamp.
pub(super) enum EnvironmentCheck {
    /// The run uses no environment.
    Unneeded,
    Started(JoinHandle<Option<Violation>>),
    /// No thread could be started.
    Delayed(Box<OpenedEnvironment>, PathBuf),
}

impl EnvironmentCheck {
    /// Begins the check of the environment that the decision used.
    pub(super) fn begin(decided: Option<&OpenedEnvironment>, store: &Path) -> Self {
        let Some(decided) = decided.cloned() else { return Self::Unneeded };
        let (checked, path) = (decided.clone(), store.to_owned());
        let check = move || start_fault(&checked, &path);
        match thread::Builder::new().name("environment".to_owned()).spawn(check) {
            Ok(started) => Self::Started(started),
            Err(_) => Self::Delayed(Box::new(decided), store.to_owned()),
        }
    }

    fn end(self) -> Option<Violation> {
        match self {
            Self::Unneeded => None,
            Self::Started(check) => check.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Self::Delayed(decided, store) => start_fault(&decided, &store),
        }
    }
}

impl RequestContext<'_> {
    /// A prepared run → the same, whose environment has its digest. The sandbox shows the directory
    /// itself, so that the files checked here are those that the tool will see.
    pub(super) fn confirm_environment(
        &self,
        prepared: PreparedRun,
        check: EnvironmentCheck,
    ) -> Result<PipelineStep<PreparedRun>, DaemonError> {
        let Some(violation) = check.end() else { return Ok(PipelineStep::Next(prepared)) };
        let PreparedRun { staged, ready, violations, .. } = prepared;
        drop(ready);
        self.refuse_staged(staged, violations, violation)
    }
}
