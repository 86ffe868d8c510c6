//! The steps of filing a permission request. Other users write in the drafts directory, and can
//! hold its lock for ever. A daemon therefore uses that directory between two steps, without the
//! store.

use std::path::{Path, PathBuf};

use model::UtcTime;
use policies::permissions::{
    FiledRequest, OpenPermissionRequest, OperationContext, PermissionCalls, PermissionChange,
    PermissionRequestFile, PermissionSource, RequestPlan,
};

use super::{PermissionStore, PermissionStoreError, drafts, random_nonce};

/// A permission request that is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenFiling {
    ask: OpenPermissionRequest,
    paths: Vec<PathBuf>,
}

impl OpenFiling {
    fn of(ask: OpenPermissionRequest, drafts: &Path) -> Self {
        Self { paths: drafts::paths(drafts, &ask), ask }
    }

    /// Returns whether all its files exist. Uses the drafts directory.
    #[must_use]
    pub fn has_files(&self) -> bool {
        drafts::all_exist(&self.paths)
    }

    /// Returns the first second in which it can no longer be answered.
    #[must_use]
    pub fn expires(&self) -> UtcTime {
        self.ask.expires
    }
}

/// A permission request that is in the trail, and whose files are not written yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnwrittenFiling {
    open: OpenFiling,
    drafts: PathBuf,
    bytes: Vec<u8>,
}

impl UnwrittenFiling {
    /// Returns the paths of its files.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.open.paths
    }

    /// Returns the first second in which it can no longer be answered.
    #[must_use]
    pub fn expires(&self) -> UtcTime {
        self.open.expires()
    }

    /// Writes the files. Uses the drafts directory.
    ///
    /// # Errors
    /// An I/O error, or an object has the name of one. The request must be withdrawn then.
    pub fn write(&self) -> Result<(), PermissionStoreError> {
        drafts::write_files(&self.drafts, &self.open.paths, &self.bytes)
    }

    /// Removes the files of a request that was withdrawn while they were written. Uses the drafts
    /// directory. A failure is only logged: without its request, a file cannot be answered.
    pub fn remove(&self) {
        drafts::remove_files(&self.drafts, &self.open.paths);
    }
}

/// The next step of a filing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilingStep {
    /// The same request is open.
    Open(OpenFiling),
    /// Its files must be written.
    Unwritten(UnwrittenFiling),
}

/// A permission request that was filed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilingOutcome {
    /// Filed now.
    New(FiledRequest, Vec<PathBuf>),
    /// Filed before: the same request is still waiting for its answer.
    Waiting(FiledRequest, Vec<PathBuf>),
}

impl FilingOutcome {
    fn waiting(open: OpenFiling) -> Self {
        Self::Waiting(FiledRequest { ask: open.ask, file: None }, open.paths)
    }

    /// Returns the permission request and its files.
    #[must_use]
    pub fn parts(&self) -> (&FiledRequest, &[PathBuf]) {
        match self {
            Self::New(filed, paths) | Self::Waiting(filed, paths) => (filed, paths),
        }
    }
}

impl PermissionStore {
    /// Files a permission request below `drafts`, once while it is open and its files exist.
    ///
    /// # Errors
    /// None of it can be requested, or an I/O error.
    pub fn file_request(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
        drafts: &Path,
    ) -> Result<FilingOutcome, PermissionStoreError> {
        let open = self.open_filing(source, calls, moment, drafts)?;
        if let Some(open) = open.as_ref().filter(|open| open.has_files()) {
            return Ok(FilingOutcome::waiting(open.clone()));
        }
        let filing = match self.begin_filing((source, calls), moment, drafts, open.as_ref())? {
            FilingStep::Open(open) => return Ok(FilingOutcome::waiting(open)),
            FilingStep::Unwritten(filing) => filing,
        };
        if let Err(error) = filing.write() {
            self.withdraw_filing(&filing, moment)?;
            return Err(error);
        }
        let UnwrittenFiling { open: OpenFiling { ask, paths }, bytes, .. } = filing;
        Ok(FilingOutcome::New(FiledRequest { ask, file: Some(bytes) }, paths))
    }

    /// Returns the open permission request for these calls, if there is one.
    ///
    /// # Errors
    /// None of it can be requested, or the trail cannot be read.
    pub fn open_filing(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
        drafts: &Path,
    ) -> Result<Option<OpenFiling>, PermissionStoreError> {
        Ok(match self.register()?.plan_request(source, calls, moment.now)? {
            RequestPlan::AlreadyOpen(ask) => Some(OpenFiling::of(ask.clone(), drafts)),
            RequestPlan::New(_) => None,
        })
    }

    /// Adds a permission request to the trail, in place of `gone`, whose files do not exist. The
    /// caller writes its files next.
    ///
    /// # Errors
    /// None of it can be requested, or an I/O error.
    pub fn begin_filing(
        &mut self,
        (source, calls): (&PermissionSource, &PermissionCalls),
        moment: &OperationContext,
        drafts: &Path,
        gone: Option<&OpenFiling>,
    ) -> Result<FilingStep, PermissionStoreError> {
        let (nonce, terms) = (random_nonce()?, self.terms.clone());
        let by = moment.by.clone();
        self.journal.with_exclusive_lock(|journal| {
            let mut withdrawn = None;
            let requested = match journal.register().plan_request(source, calls, moment.now)? {
                RequestPlan::AlreadyOpen(ask) => {
                    if gone.is_none_or(|gone| gone.ask.id != ask.id) {
                        // Another process has filed it meanwhile.
                        return Ok(FilingStep::Open(OpenFiling::of(ask.clone(), drafts)));
                    }
                    withdrawn = Some(PermissionChange::Withdrawn { request: ask.id.clone() });
                    calls.only(|tool| ask.tools.iter().any(|it| it.tool == *tool))
                }
                RequestPlan::New(calls) => calls,
            };
            if let Some(withdrawn) = withdrawn {
                journal.append_change(withdrawn, moment, by.clone())?;
            }
            let (ask, bytes) =
                PermissionRequestFile::build(source, &requested, &terms, moment, nonce);
            journal.append_change(PermissionChange::Filed(ask.clone()), moment, by)?;
            let (open, drafts) = (OpenFiling::of(ask, drafts), drafts.to_owned());
            Ok(FilingStep::Unwritten(UnwrittenFiling { open, drafts, bytes }))
        })
    }

    /// Withdraws a permission request whose files were not written: it cannot be answered.
    ///
    /// # Errors
    /// An I/O error.
    pub fn withdraw_filing(
        &mut self,
        filing: &UnwrittenFiling,
        moment: &OperationContext,
    ) -> Result<(), PermissionStoreError> {
        let request = filing.open.ask.id.clone();
        self.journal.with_exclusive_lock(|journal| {
            if !journal.register().open().any(|ask| ask.id == request) {
                return Ok(());
            }
            let withdrawn = PermissionChange::Withdrawn { request };
            journal.append_change(withdrawn, moment, moment.by.clone())
        })
    }
}
