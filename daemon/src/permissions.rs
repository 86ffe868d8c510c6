//! The host's permissions at work: what stands is looked up for the decision, what is missing is asked of
//! people, their answers are taken in, and what a start uses up is used up before it. It decides nothing,
//! and a store that cannot be read stops admission.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Sha256, escape_line};
use policies::permissions::{
    AnswerEvidence, AnswerRules, Author, Calls, Change, Moment, PermissionManager, Source, Terms,
};
use policies::{Permission, PermissionFinding, Policy, Signers};
use spool::{
    AnswerFate, Dropbox, Durable, Filed, Spool, SpoolError, StoreError, ToldPermissions,
    new_traceparent,
};
use validator::Request;

use crate::model::PermissionFiled;
use crate::system;

const PROGRAM: &str = "toolexecd";
/// At one look: whoever drops thousands keeps no request waiting for all of them.
const ANSWERS_MAX: usize = 256;

/// Who copies makes a name first and fills the file then: what is no answer and changed so lately may be
/// one in a moment.
const WRITING_SEC: i64 = 2;

/// The store of a host whose policy asks for permissions.
pub struct Permissions {
    store: Durable,
    drafts: PathBuf,
    /// Answers that were looked at and could not be taken away, by name, until they change.
    left_alone: BTreeMap<String, AnswerIdentity>,
    /// The number of the trail's last entry when it was last told what stands.
    told: Option<u64>,
}

/// Which object a name meant when it was looked at.
type AnswerIdentity = Option<(u64, i64, i64)>;

impl Permissions {
    /// Opens the store in `directory`, if the policy asks anybody for a permission. Questions go below
    /// `drafts`.
    ///
    /// # Errors
    /// The disk, or a store that was meddled with.
    pub fn open(
        policy: &Policy,
        directory: &Path,
        drafts: &Path,
    ) -> Result<Option<Self>, StoreError> {
        let Some(terms) = policy.permission_terms() else { return Ok(None) };
        let store = Durable::open(directory, terms.clone())?;
        Ok(Some(Self { store, drafts: drafts.to_owned(), left_alone: BTreeMap::new(), told: None }))
    }

    /// For a look alone.
    pub(crate) fn read(directory: &Path) -> Result<Self, StoreError> {
        let store = Durable::open(directory, Terms::default())?;
        Ok(Self { store, drafts: PathBuf::new(), left_alone: BTreeMap::new(), told: None })
    }

    /// Which answers stand, as one digest.
    pub(crate) fn standing(&mut self) -> Result<Sha256, StoreError> {
        let number = self.store.register()?.decided();
        Ok(Sha256::of(format!("permissions {number}").as_bytes()))
    }

    /// Tells what stands, if that changed since it was last told. Whoever cannot be told misses nothing that
    /// decides.
    pub(crate) fn tell(&mut self, spool: &Spool) -> Result<(), StoreError> {
        let register = self.store.register()?;
        let number = register.number();
        if self.told != Some(number) {
            let told = spool.tell_permissions(&ToldPermissions::of(register, system::now()));
            told.unwrap_or_else(|error| tracing::warn!("{error}; agents are not told what stands"));
            self.told = Some(number);
        }
        Ok(())
    }

    /// What stands of a request's run.
    pub(crate) fn look_up(&mut self, request: &Request) -> Result<Permission, StoreError> {
        // What has no name is refused by the rule itself.
        let Ok(source) = Source::of_request(request) else { return Ok(Permission::NotAsked) };
        let found = self.store.look_up(&source, &Calls::of_request(request), &moment()?)?;
        Ok(Permission::Found(found))
    }

    /// Asks people about a request's run, once. Others write where questions lie: one that cannot be
    /// put there is told, and nobody stops for it.
    pub(crate) fn ask(&mut self, request: &Request) -> PermissionFiled {
        let Ok(source) = Source::of_request(request) else { return PermissionFiled::Yes };
        let calls = Calls::of_request(request);
        let filed = moment()
            .and_then(|moment| self.store.file_request(&source, &calls, &moment, &self.drafts));
        match filed {
            Ok(Filed::New(_, paths)) => {
                for path in paths {
                    let (id, question) = (request.id(), path.display());
                    tracing::info!(%question, "{id}: a permission is asked for");
                }
                PermissionFiled::Yes
            }
            Ok(Filed::Waiting(..)) => PermissionFiled::Yes,
            Err(error) => {
                tracing::warn!("{}: nobody was asked for the permission: {error}", request.id());
                PermissionFiled::NotYet
            }
        }
    }

    /// Uses up what the start of a request's run uses up. It is on the disk when this returns.
    pub(crate) fn spend(
        &mut self,
        found: &PermissionFinding,
        request: &Request,
        policy: &Policy,
    ) -> Result<(), StoreError> {
        let calls = Calls::of_request(request);
        match policy.workflow_idle_sec() {
            Some(_) => self.store.spend_with_entry(&found.source, &calls, &moment()?).map(drop),
            None => self.store.spend(&found.source, &calls, &moment()?).map(drop),
        }
    }

    /// Ends the workflows of agents in which nothing happened for as long as the policy says.
    pub(crate) fn clean_up_idle(
        &mut self,
        policy: &Policy,
        spool: &Spool,
    ) -> Result<(), StoreError> {
        let Some(idle_sec) = policy.workflow_idle_sec() else { return Ok(()) };
        let ended = self.store.cleanup_idle(idle_sec, &moment()?)?;
        for change in &ended {
            let source = change.source().map(|it| escape_line(&it.to_string()));
            let source = source.unwrap_or_default();
            tracing::info!("{source}: idle for {idle_sec} s; its permissions ended");
        }
        if ended.is_empty() { Ok(()) } else { self.tell(spool) }
    }

    /// A request that names no agent is a workflow of its own, which has ended with it. Whatever this
    /// answers, the run has ended as it ended.
    pub(crate) fn clean_up(&mut self, request: &Request) {
        let Ok(source) = Source::of_request(request) else { return };
        if request.agent().is_some() {
            return;
        }
        let cleaned = moment().and_then(|moment| self.store.cleanup(&source, &moment));
        if let Err(error) = cleaned {
            tracing::warn!("{}: its permissions were not let go of: {error}", request.id());
        }
    }

    /// Takes in the answers that were dropped; what is none, or nobody's whose answers count, is put
    /// away with the reason in the log.
    pub(crate) fn take_answers(
        &mut self,
        (spool, dropbox): (&Spool, &Dropbox),
        policy: &Policy,
        signers: Option<&Signers>,
    ) -> Result<(), StoreError> {
        let names = dropbox.answers()?;
        self.left_alone.retain(|name, _| names.contains(name));
        let new = names.into_iter().map(|name| (dropbox.identity(&name), name));
        let new = new.filter(|(identity, name)| self.left_alone.get(name) != Some(identity));
        let new: Vec<(AnswerIdentity, String)> = new.take(ANSWERS_MAX).collect();
        for (identity, name) in new {
            let fate = match self.take_answer(dropbox, &name, policy, signers) {
                Ok(()) => AnswerFate::TakenIn,
                Err(AnswerError::TurnedDown(_)) if may_be_written(identity) => continue,
                Err(AnswerError::TurnedDown(why)) => {
                    tracing::warn!("{name}: not taken in: {}", escape_line(&why));
                    AnswerFate::TurnedDown
                }
                Err(AnswerError::Store(error)) => return Err(error),
            };
            if let Err(error) = spool.put_answer_away(dropbox, &name, fate) {
                tracing::warn!("{error}; looked at, and left alone until it changes");
                self.left_alone.insert(name, identity);
            }
        }
        Ok(())
    }

    fn take_answer(
        &mut self,
        dropbox: &Dropbox,
        name: &str,
        policy: &Policy,
        signers: Option<&Signers>,
    ) -> Result<(), AnswerError> {
        let dropped = dropbox.read_answer(name).map_err(|it: SpoolError| it.to_string())?;
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
        if let Change::Answered { granted, denied, .. } = &change {
            let by = escape_line(&accepted.by().to_string());
            let (granted, denied) = (granted.len(), denied.len());
            tracing::info!(%by, granted, denied, "{name}: a permission was answered");
        }
        Ok(())
    }
}

/// A time that is still to come says nothing.
fn may_be_written(identity: AnswerIdentity) -> bool {
    let now_sec = system::now().unix();
    identity.is_some_and(|(_, changed_sec, _)| {
        (0..WRITING_SEC).contains(&now_sec.saturating_sub(changed_sec))
    })
}

enum AnswerError {
    TurnedDown(String),
    Store(StoreError),
}

impl From<String> for AnswerError {
    fn from(why: String) -> Self {
        Self::TurnedDown(why)
    }
}

impl From<StoreError> for AnswerError {
    fn from(error: StoreError) -> Self {
        match error.is_refusal() {
            true => Self::TurnedDown(error.to_string()),
            false => Self::Store(error),
        }
    }
}

fn moment() -> Result<Moment, StoreError> {
    let by = Author::Program(PROGRAM.to_owned());
    Ok(Moment { now: system::now(), traceparent: new_traceparent()?, by })
}
