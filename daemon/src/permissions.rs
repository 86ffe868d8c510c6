//! The permission store of the host. It is queried for a decision, files requests for missing
//! permissions, accepts answers, and consumes a permission before the run starts. It makes no
//! decision. A store that cannot be read stops admission.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Sha256, escape_line};
use policies::permissions::{
    AnswerEvidence, AnswerRules, Author, OperationContext, PermissionCalls, PermissionChange,
    PermissionManager, PermissionSource, PermissionTerms,
};
use policies::{AllowedSigners, PermissionEvidence, PermissionFinding, Policy};
use spool::{
    AnswerDecision, FilingStep, Inbox, OpenFiling, PermissionStore, PermissionStoreError,
    PublishedPermissions, Spool, SpoolError, UnwrittenFiling, new_traceparent,
};
use validator::Request;

use crate::system;

const PROGRAM: &str = "toolexecd";
/// The most answers of one look, so that thousands of them do not delay requests.
const ANSWERS_MAX: usize = 256;

/// `cp` creates a file first and fills it then: an invalid file this young may be incomplete.
const INCOMPLETE_SEC_MAX: i64 = 2;

/// The store of a host whose policy asks for permissions.
pub struct Permissions {
    store: PermissionStore,
    drafts: PathBuf,
    /// Answers that could not be moved away, by name; ignored until they change.
    ignored: BTreeMap<String, AnswerFileId>,
    /// The number of the trail's last entry when the permissions were last published.
    published: Option<u64>,
}

/// The file that a name referred to: inode and change time.
type AnswerFileId = Option<(u64, i64, i64)>;

impl Permissions {
    /// Opens the store in `directory`, if the policy requires any permission. Permission requests
    /// are written below `drafts`.
    ///
    /// # Errors
    /// The store cannot be read, or was tampered with.
    pub fn open(
        policy: &Policy,
        directory: &Path,
        drafts: &Path,
    ) -> Result<Option<Self>, PermissionStoreError> {
        let Some(terms) = policy.permission_terms() else { return Ok(None) };
        let store = PermissionStore::open(directory, terms.clone())?;
        Ok(Some(Self {
            store,
            drafts: drafts.to_owned(),
            ignored: BTreeMap::new(),
            published: None,
        }))
    }

    pub(crate) fn read(directory: &Path) -> Result<Self, PermissionStoreError> {
        let store = PermissionStore::open(directory, PermissionTerms::default())?;
        Ok(Self { store, drafts: PathBuf::new(), ignored: BTreeMap::new(), published: None })
    }

    pub(crate) fn answers_digest(&mut self) -> Result<Sha256, PermissionStoreError> {
        let number = self.store.register()?.last_decision();
        Ok(Sha256::of(format!("permissions {number}").as_bytes()))
    }

    /// A failure affects readers only, no decision.
    pub(crate) fn publish(&mut self, spool: &Spool) -> Result<(), PermissionStoreError> {
        let register = self.store.register()?;
        let number = register.number();
        if self.published != Some(number) {
            let result =
                spool.publish_permissions(&PublishedPermissions::of(register, system::now()));
            result.unwrap_or_else(|error| {
                tracing::warn!("the published permissions are out of date: {error}");
            });
            self.published = Some(number);
        }
        Ok(())
    }

    pub(crate) fn look_up(
        &mut self,
        request: &Request,
    ) -> Result<PermissionEvidence, PermissionStoreError> {
        // The permission rule refuses a request without a valid source.
        let Ok(source) = PermissionSource::of_request(request) else {
            return Ok(PermissionEvidence::NotQueried);
        };
        let found =
            self.store.look_up(&source, &PermissionCalls::of_request(request), &moment()?)?;
        Ok(PermissionEvidence::Queried(found))
    }

    /// Returns the permission request that waits for an answer to this request, if any.
    pub(crate) fn open_filing(
        &mut self,
        request: &Request,
    ) -> Result<Option<OpenFiling>, PermissionStoreError> {
        let Ok(source) = PermissionSource::of_request(request) else { return Ok(None) };
        let calls = PermissionCalls::of_request(request);
        self.store.open_filing(&source, &calls, &moment()?, &self.drafts)
    }

    /// Begins to file a permission request, in place of one whose files are gone. Returns `None` if
    /// the request can have none: the permission rule refuses a request without a valid source.
    pub(crate) fn begin_filing(
        &mut self,
        request: &Request,
        gone: Option<&OpenFiling>,
    ) -> Result<Option<FilingStep>, PermissionStoreError> {
        let Ok(source) = PermissionSource::of_request(request) else { return Ok(None) };
        let calls = PermissionCalls::of_request(request);
        self.store.begin_filing((&source, &calls), &moment()?, &self.drafts, gone).map(Some)
    }

    /// Withdraws a permission request whose files were not written.
    pub(crate) fn withdraw_filing(
        &mut self,
        filing: &UnwrittenFiling,
    ) -> Result<(), PermissionStoreError> {
        self.store.withdraw_filing(filing, &moment()?)
    }

    /// The change is durable when this returns.
    pub(crate) fn consume(
        &mut self,
        found: &PermissionFinding,
        request: &Request,
        policy: &Policy,
    ) -> Result<(), PermissionStoreError> {
        let calls = PermissionCalls::of_request(request);
        match policy.workflow_idle_sec() {
            Some(_) => self.store.spend_with_entry(&found.source, &calls, &moment()?).map(drop),
            None => self.store.spend(&found.source, &calls, &moment()?).map(drop),
        }
    }

    pub(crate) fn end_idle_workflows(
        &mut self,
        policy: &Policy,
        spool: &Spool,
    ) -> Result<(), PermissionStoreError> {
        let Some(idle_sec) = policy.workflow_idle_sec() else { return Ok(()) };
        let ended = self.store.cleanup_idle(idle_sec, &moment()?)?;
        for change in &ended {
            let source = change.source().map(|it| escape_line(&it.to_string()));
            let source = source.unwrap_or_default();
            tracing::info!("{source}: idle for {idle_sec} s; its permissions have ended");
        }
        if ended.is_empty() { Ok(()) } else { self.publish(spool) }
    }

    /// A request without an agent is its own workflow. An error does not change the run's outcome.
    pub(crate) fn end_workflow(&mut self, request: &Request) {
        let Ok(source) = PermissionSource::of_request(request) else { return };
        if request.agent().is_some() {
            return;
        }
        let cleaned = moment().and_then(|moment| self.store.cleanup(&source, &moment));
        if let Err(error) = cleaned {
            tracing::warn!("{}: its permissions were not released: {error}", request.id());
        }
    }

    /// An answer that is invalid, or whose signer is not authorized, is moved away and logged.
    pub(crate) fn accept_answers(
        &mut self,
        (spool, dropbox): (&Spool, &Inbox),
        policy: &Policy,
        signers: Option<&AllowedSigners>,
    ) -> Result<(), PermissionStoreError> {
        let names = dropbox.answers()?;
        self.ignored.retain(|name, _| names.contains(name));
        let new = names.into_iter().map(|name| (dropbox.identity(&name), name));
        let new = new.filter(|(identity, name)| self.ignored.get(name) != Some(identity));
        let new: Vec<(AnswerFileId, String)> = new.take(ANSWERS_MAX).collect();
        for (identity, name) in new {
            let fate = match self.accept_answer(dropbox, &name, policy, signers) {
                Ok(()) => AnswerDecision::Accepted,
                Err(AnswerError::Rejected(_)) if may_be_incomplete(identity) => continue,
                Err(AnswerError::Rejected(why)) => {
                    tracing::warn!("{name}: answer not accepted: {}", escape_line(&why));
                    AnswerDecision::Rejected
                }
                // The next look reads it.
                Err(AnswerError::Momentary(error)) => {
                    tracing::debug!("{name}: not read yet: {error}");
                    continue;
                }
                Err(AnswerError::Store(error)) => return Err(error),
            };
            if let Err(error) = spool.move_answer(dropbox, &name, fate) {
                tracing::warn!("{name}: ignored until it changes: {error}");
                self.ignored.insert(name, identity);
            }
        }
        Ok(())
    }

    fn accept_answer(
        &mut self,
        dropbox: &Inbox,
        name: &str,
        policy: &Policy,
        signers: Option<&AllowedSigners>,
    ) -> Result<(), AnswerError> {
        let dropped = dropbox.read_answer(name).map_err(|error| match error.is_momentary() {
            true => AnswerError::Momentary(error),
            false => AnswerError::Rejected(error.to_string()),
        })?;
        let rules =
            AnswerRules { signers: signers.cloned(), uids: policy.permission_uids().clone() };
        let moment = moment()?;
        let evidence = AnswerEvidence {
            signatures: &dropped.signatures,
            owner: Some(dropped.owner),
            now: moment.now,
        };
        let accepted = rules.accept(&dropped.bytes, &evidence).map_err(|it| it.to_string())?;
        let source = accepted.answer().answers.source.clone();
        let change = self.store.set(&source, &accepted, &moment)?;
        if let PermissionChange::Answered { granted, denied, .. } = &change {
            let by = escape_line(&accepted.by().to_string());
            let (granted, denied) = (granted.len(), denied.len());
            tracing::info!(%by, granted, denied, "{name}: permission answered");
        }
        Ok(())
    }
}

/// A change time in the future gives no information.
fn may_be_incomplete(identity: AnswerFileId) -> bool {
    let now_sec = system::now().unix();
    identity.is_some_and(|(_, changed_sec, _)| {
        (0..INCOMPLETE_SEC_MAX).contains(&now_sec.saturating_sub(changed_sec))
    })
}

enum AnswerError {
    Rejected(String),
    /// Its file cannot be read at present.
    Momentary(SpoolError),
    Store(PermissionStoreError),
}

impl From<String> for AnswerError {
    fn from(why: String) -> Self {
        Self::Rejected(why)
    }
}

impl From<PermissionStoreError> for AnswerError {
    fn from(error: PermissionStoreError) -> Self {
        match error.is_refusal() {
            true => Self::Rejected(error.to_string()),
            false => Self::Store(error),
        }
    }
}

fn moment() -> Result<OperationContext, PermissionStoreError> {
    let by = Author::Program(PROGRAM.to_owned());
    Ok(OperationContext { now: system::now(), traceparent: new_traceparent()?, by })
}
