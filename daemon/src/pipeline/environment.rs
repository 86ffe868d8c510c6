//! The second check of a run's environment, right before the start: staging and building take time
//! in which its files may change. Nothing may run after a failed check.

use super::model::PipelineStep;
use super::request_context::RequestContext;
use super::sandbox::PreparedRun;
use crate::environments;
use crate::model::DaemonError;

impl RequestContext<'_> {
    /// A prepared run → the same, whose environment still has its digest. The sandbox shows the
    /// directory itself, so that the files checked here are those that the tool will see.
    pub(super) fn confirm_environment(
        &self,
        prepared: PreparedRun,
    ) -> Result<PipelineStep<PreparedRun>, DaemonError> {
        let named = prepared.staged.approved().grant().environment();
        let fault =
            named.and_then(|named| environments::start_fault(named, &self.host.environments));
        let Some(why) = fault else { return Ok(PipelineStep::Next(prepared)) };
        let PreparedRun { staged, ready, violations, .. } = prepared;
        drop(ready);
        let (approved, claimed) = staged.into_parts();
        self.record_setup_error(&approved, claimed, violations, &why).map(PipelineStep::end)
    }
}
