//! The check of a run's backend. Nothing may run with a program other than that of the decision.

use policies::GrantedBackend;
use records::split_reason;
use validator::{Code, Violation};

use super::model::PipelineStep;
use super::request_context::RequestContext;
use super::sandbox::PreparedRun;
use crate::environment_digests::DigestCache;
use crate::model::DaemonError;

impl RequestContext<'_> {
    /// A prepared run → the same, whose backend has the files of the decision. A file is read again
    /// if its inode, size or times have changed.
    pub(super) fn confirm_backend(
        &self,
        prepared: PreparedRun,
    ) -> Result<PipelineStep<PreparedRun>, DaemonError> {
        let granted = prepared.staged.approved().grant().backend();
        let Some(why) = changed_file(granted, &mut self.host.digests()) else {
            return Ok(PipelineStep::Next(prepared));
        };
        let message = format!("backend: `{}` is not available: {why}", granted.name);
        let violation = Violation::error(Code::BackendUnavailable, message)
            .hint("ask the operator to check the file, and to reload the daemon after an upgrade");
        let PreparedRun { staged, ready, violations, .. } = prepared;
        drop(ready);
        self.refuse_staged(staged, violations, violation)
    }
}

fn changed_file(granted: &GrantedBackend, digests: &mut DigestCache) -> Option<String> {
    granted.files.iter().find_map(|file| {
        let path = file.path.display();
        match digests.of_file(&file.path) {
            Ok(Some(sha256)) if sha256 == file.sha256 => None,
            Ok(Some(_)) => Some(format!("{path} changed after the daemon had read it")),
            Ok(None) => Some(format!("{path} was removed")),
            Err(error) => Some(split_reason(&error.to_string()).0.to_owned()),
        }
    })
}
