//! An agent, its tools, and the answers of people. It must never make a decision itself.

use std::collections::BTreeMap;

use model::UtcTime;
use policies::permissions::{
    AcceptedAnswer, AnswerData, AnsweredRequest, Author, FiledRequest, GrantLimits, InMemoryStore,
    OperationContext, PermissionAnswer, PermissionCalls, PermissionChange, PermissionError,
    PermissionManager, PermissionSource, ToolAuthorizationState, ToolName,
};
use serde_json::{Map, Value};

pub(crate) const NOON: &str = "2026-02-09T12:00:00Z";

pub(crate) fn source(subject: &str) -> PermissionSource {
    PermissionSource {
        name: "core".parse().unwrap(),
        subject: subject.parse().unwrap(),
        accesscontrol: None,
    }
}

pub(crate) fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

pub(crate) fn at(time: &str) -> OperationContext {
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    OperationContext { now: time.parse().unwrap(), traceparent, by: Author::Program("test".into()) }
}

pub(crate) fn noon() -> OperationContext {
    at(NOON)
}

pub(crate) fn later(seconds: i64) -> OperationContext {
    let noon: UtcTime = NOON.parse().unwrap();
    OperationContext { now: UtcTime::from_unix(noon.unix() + seconds), ..noon_parts() }
}

fn noon_parts() -> OperationContext {
    noon()
}

/// Returns these tools without any call.
pub(crate) fn calls(tools: &[&str]) -> PermissionCalls {
    let mut calls = PermissionCalls::new();
    tools.iter().for_each(|name| calls.add(tool(name), Vec::new()).unwrap());
    calls
}

pub(crate) fn with_inputs(name: &str, inputs: &[Value]) -> PermissionCalls {
    let mut calls = PermissionCalls::new();
    let inputs: Vec<Map<String, Value>> =
        inputs.iter().map(|input| input.as_object().unwrap().clone()).collect();
    calls.add(tool(name), inputs).unwrap();
    calls
}

pub(crate) fn answer_to(
    filed: &FiledRequest,
    granted: &[&str],
    denied: &[&str],
) -> PermissionAnswer {
    let ask = &filed.ask;
    let answers =
        AnsweredRequest { id: ask.id.clone(), sha256: ask.sha256, source: ask.source.clone() };
    let tools = |names: &[&str]| names.iter().map(|name| tool(name)).collect();
    let data = AnswerData { granted: tools(granted), denied: tools(denied), commentary: None };
    PermissionAnswer::new(answers, data, BTreeMap::new())
}

pub(crate) fn limited(
    mut answer: PermissionAnswer,
    name: &str,
    limits: GrantLimits,
) -> PermissionAnswer {
    answer.limits.insert(tool(name), limits);
    answer
}

pub(crate) struct PermissionScene {
    pub(crate) store: InMemoryStore,
    nonce: u64,
}

impl PermissionScene {
    pub(crate) fn new() -> Self {
        Self { store: InMemoryStore::default(), nonce: 0 }
    }

    pub(crate) fn add_request(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
    ) -> Result<FiledRequest, PermissionError> {
        self.nonce += 1;
        self.store.add_request(source, calls, &noon(), self.nonce)
    }

    pub(crate) fn set(
        &mut self,
        answer: PermissionAnswer,
    ) -> Result<PermissionChange, PermissionError> {
        let source = answer.answers.source.clone();
        self.store.set(&source, &AcceptedAnswer::vouched_for(answer, "test"), &noon())
    }

    pub(crate) fn request_and_answer(
        &mut self,
        source: &PermissionSource,
        granted: &[&str],
        denied: &[&str],
    ) {
        let names = [granted, denied].concat();
        let filed = self.add_request(source, &calls(&names)).unwrap();
        self.set(answer_to(&filed, granted, denied)).unwrap();
    }

    pub(crate) fn state(
        &mut self,
        source: &PermissionSource,
        name: &str,
    ) -> ToolAuthorizationState {
        self.state_of(source, &calls(&[name]), name)
    }

    pub(crate) fn state_of(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        name: &str,
    ) -> ToolAuthorizationState {
        self.store.get(source, calls, &noon()).unwrap()[&tool(name)]
    }
}
