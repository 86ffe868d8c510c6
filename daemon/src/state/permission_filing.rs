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
            Ok(true) => return PermissionFiled::Yes,
            Ok(false) => {
                "drafts/ does not answer; help: end the program that writes there".to_owned()
            }
            Err(error) => error.to_string(),
        };
        tracing::warn!("{}: the permission request was not filed: {why}", request.id());
        PermissionFiled::NotYet
    }

    /// Returns false if `drafts/` does not answer.
    fn try_filing(
        &self,
        thread: &FilingThread,
        request: &Request,
    ) -> Result<bool, PermissionStoreError> {
        let open = match &mut *self.permissions() {
            Some(permissions) => permissions.open_filing(request)?,
            None => return Ok(true),
        };
        if let Some(open) = open.clone() {
            match thread.run(move || open.has_files(), drop) {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => return Ok(false),
            }
        }
        // Otherwise each look would add a permission request to the trail, and withdraw it.
        if thread.is_busy() {
            return Ok(false);
        }
        self.file_anew(thread, request, open.as_ref())
    }

    fn file_anew(
        &self,
        thread: &FilingThread,
        request: &Request,
        gone: Option<&OpenFiling>,
    ) -> Result<bool, PermissionStoreError> {
        let step = match &mut *self.permissions() {
            Some(permissions) => permissions.begin_filing(request, gone)?,
            None => None,
        };
        let Some(FilingStep::Unwritten(filing)) = step else { return Ok(true) };
        let filing = Arc::new(filing);
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
            return Ok(true);
        }
        // It cannot be answered without its files.
        if let Some(permissions) = &mut *self.permissions() {
            permissions.withdraw_filing(&filing)?;
        }
        written.map_or(Ok(false), |failed| failed.map(|()| false))
    }
}
