//! Files permission requests for approvers, as files in `drafts/`. Agents write there too, and can
//! hold the lock of that directory for ever. So another thread uses it, one at a time, and the
//! permission store is unlocked meanwhile: the event loop and the other requests must not wait.

use std::sync::{Arc, PoisonError};

use spool::{FilingStep, OpenFiling, PermissionStoreError};
use validator::Request;

use super::Daemon;
use crate::filing_thread::FilingThread;
use crate::model::PermissionFiled;

impl Daemon {
    /// Files a permission request, once while it is open. A failure is only logged.
    pub(crate) fn file_permission_request(&self, request: &Request) -> PermissionFiled {
        // Waits for another request for a limited time, because that one does too.
        let thread = self.filing.lock().unwrap_or_else(PoisonError::into_inner);
        let why = match self.try_filing(&thread, request) {
            Ok(PermissionFiled::NotYet) => {
                "drafts/ does not answer; help: end the program that writes there".to_owned()
            }
            Ok(filed) => return filed,
            Err(error) => error.to_string(),
        };
        tracing::warn!("{}: the permission request was not filed: {why}", request.id());
        PermissionFiled::NotYet
    }

    /// Returns [`PermissionFiled::NotYet`] if `drafts/` does not answer.
    fn try_filing(
        &self,
        thread: &FilingThread,
        request: &Request,
    ) -> Result<PermissionFiled, PermissionStoreError> {
        let open = match &mut *self.permissions() {
            Some(permissions) => permissions.open_filing(request)?,
            None => return Ok(PermissionFiled::NotNeeded),
        };
        if let Some(open) = open.clone() {
            let closes = open.expires();
            match thread.run(move || open.has_files(), drop) {
                Some(true) => return Ok(PermissionFiled::Until(closes)),
                Some(false) => {}
                None => return Ok(PermissionFiled::NotYet),
            }
        }
        // Otherwise each look would add a permission request to the trail, and withdraw it.
        if thread.is_busy() {
            return Ok(PermissionFiled::NotYet);
        }
        self.file_anew(thread, request, open.as_ref())
    }

    fn file_anew(
        &self,
        thread: &FilingThread,
        request: &Request,
        gone: Option<&OpenFiling>,
    ) -> Result<PermissionFiled, PermissionStoreError> {
        let step = match &mut *self.permissions() {
            Some(permissions) => permissions.begin_filing(request, gone)?,
            None => None,
        };
        let filing = match step {
            None => return Ok(PermissionFiled::NotNeeded),
            Some(FilingStep::Open(open)) => return Ok(PermissionFiled::Until(open.expires())),
            Some(FilingStep::Unwritten(filing)) => Arc::new(filing),
        };
        let (files, late_files) = (Arc::clone(&filing), Arc::clone(&filing));
        let late = move |written: Result<(), PermissionStoreError>| {
            // It was withdrawn meanwhile.
            if written.is_ok() {
                late_files.remove();
            }
        };
        let written = thread.run(move || files.write(), late);
        if let Some(Ok(())) = written {
            for path in filing.paths() {
                let (id, question) = (request.id(), path.display());
                tracing::info!(%question, "{id}: permission requested");
            }
            return Ok(PermissionFiled::Until(filing.expires()));
        }
        // It cannot be answered without its files.
        if let Some(permissions) = &mut *self.permissions() {
            permissions.withdraw_filing(&filing)?;
        }
        written
            .map_or(Ok(PermissionFiled::NotYet), |failed| failed.map(|()| PermissionFiled::NotYet))
    }
}
