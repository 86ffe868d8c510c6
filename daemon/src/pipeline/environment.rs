//! The check of a run's environment, right before the start. Nothing may run after a failed check.

use super::model::PipelineStep;
use super::request_context::RequestContext;
use super::sandbox::PreparedRun;
use crate::environments;
use crate::model::DaemonError;

impl RequestContext<'_> {
    /// A prepared run → the same, whose environment has its digest. The sandbox shows the directory
    /// itself, so that the files checked here are those that the tool will see.
    pub(super) fn confirm_environment(
        &self,
        prepared: PreparedRun,
    ) -> Result<PipelineStep<PreparedRun>, DaemonError> {
        let decided = prepared.staged.approved().grant().opened_environment();
        let fault =
            decided.and_then(|decided| environments::start_fault(decided, &self.host.environments));
        let Some(violation) = fault else { return Ok(PipelineStep::Next(prepared)) };
        let PreparedRun { staged, ready, violations, .. } = prepared;
        drop(ready);
        self.refuse_staged(staged, violations, violation)
    }
}
