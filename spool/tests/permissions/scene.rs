//! A directory for a test's permissions, and an agent with its tools. It never decides anything.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use policies::permissions::{
    AcceptedAnswer, AnswerData, AnsweredRequest, Author, FiledRequest, GrantLimits,
    OperationContext, PermissionAnswer, PermissionCalls, PermissionManager, PermissionSource,
    PermissionTerms, ToolAuthorizationState, ToolName,
};
use spool::{PermissionStore, PermissionStoreError};

static COUNT: AtomicU64 = AtomicU64::new(0);

pub(crate) struct StoreTestDir(PathBuf);

impl Drop for StoreTestDir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

impl StoreTestDir {
    pub(crate) fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-permissions-{}-{count}", std::process::id());
        let top = std::env::temp_dir().join(name);
        fs::create_dir(&top).unwrap();
        Self(top)
    }

    pub(crate) fn of(trail: &[u8]) -> Self {
        let place = Self::new();
        fs::create_dir(place.path("store")).unwrap();
        fs::write(place.trail(), trail).unwrap();
        place
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.join("store")
    }

    pub(crate) fn trail(&self) -> PathBuf {
        self.store().join("trail.jsonl")
    }

    /// Returns a path: old trails are in the store, drafts next to it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        if name.starts_with("trail") { self.store().join(name) } else { self.0.join(name) }
    }

    pub(crate) fn opened(&self) -> Result<PermissionStore, PermissionStoreError> {
        open(&self.store())
    }

    pub(crate) fn open(&self) -> PermissionStore {
        self.opened().unwrap_or_else(|error| panic!("{error}"))
    }
}

pub(crate) fn open(store: &Path) -> Result<PermissionStore, PermissionStoreError> {
    PermissionStore::open(store, PermissionTerms::default())
}

pub(crate) fn source(number: u64) -> PermissionSource {
    PermissionSource {
        name: "core".parse().unwrap(),
        subject: format!("wf-{number}").parse().unwrap(),
        accesscontrol: None,
    }
}

pub(crate) fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

pub(crate) fn noon() -> OperationContext {
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    let now = "2026-02-09T12:00:00Z".parse().unwrap();
    OperationContext { now, traceparent, by: Author::Program("test".into()) }
}

pub(crate) fn calls(tools: &[&str]) -> PermissionCalls {
    let mut calls = PermissionCalls::new();
    tools.iter().for_each(|name| calls.add(tool(name), Vec::new()).unwrap());
    calls
}

pub(crate) fn answer(
    filed: &FiledRequest,
    granted: &[&str],
    denied: &[&str],
    uses: Option<u32>,
) -> AcceptedAnswer {
    let ask = &filed.ask;
    let answers =
        AnsweredRequest { id: ask.id.clone(), sha256: ask.sha256, source: ask.source.clone() };
    let tools = |names: &[&str]| -> Vec<ToolName> { names.iter().map(|it| tool(it)).collect() };
    let data = AnswerData { granted: tools(granted), denied: tools(denied), commentary: None };
    let limits = GrantLimits { uses: uses.and_then(NonZeroU32::new), ..GrantLimits::default() };
    let limits: BTreeMap<_, _> = data.granted.iter().map(|it| (it.clone(), limits)).collect();
    AcceptedAnswer::vouched_for(PermissionAnswer::new(answers, data, limits), "test")
}

pub(crate) fn grant(
    store: &mut PermissionStore,
    source: &PermissionSource,
    tools: &[&str],
    uses: Option<u32>,
) {
    let nonce = COUNT.fetch_add(1, Ordering::Relaxed);
    let filed = store.add_request(source, &calls(tools), &noon(), nonce).unwrap();
    store.set(source, &answer(&filed, tools, &[], uses), &noon()).unwrap();
}

pub(crate) fn state(
    store: &mut PermissionStore,
    source: &PermissionSource,
    name: &str,
) -> ToolAuthorizationState {
    store.get(source, &calls(&[name]), &noon()).unwrap()[&tool(name)]
}
