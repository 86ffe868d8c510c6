//! An agent, its tools, and the answers of people. It must never make a decision itself.

use std::collections::BTreeMap;

use model::UtcTime;
use policies::permissions::{
    Accepted, Answer, AnswerData, Answered, Author, Calls, Change, GrantLimits, Lodged, Moment,
    PermissionManager, Refused, Scoped, Source, ToolAuthorizationState, ToolName,
};
use serde_json::{Map, Value};

pub(crate) const NOON: &str = "2026-02-09T12:00:00Z";

pub(crate) fn source(subject: &str) -> Source {
    Source { name: "core".parse().unwrap(), subject: subject.parse().unwrap(), accesscontrol: None }
}

pub(crate) fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

pub(crate) fn at(time: &str) -> Moment {
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    Moment { now: time.parse().unwrap(), traceparent, by: Author::Program("test".into()) }
}

pub(crate) fn noon() -> Moment {
    at(NOON)
}

pub(crate) fn later(seconds: i64) -> Moment {
    let noon: UtcTime = NOON.parse().unwrap();
    Moment { now: UtcTime::from_unix(noon.unix() + seconds), ..noon_parts() }
}

fn noon_parts() -> Moment {
    noon()
}

/// Returns these tools without any call.
pub(crate) fn calls(tools: &[&str]) -> Calls {
    let mut calls = Calls::new();
    tools.iter().for_each(|name| calls.ask(tool(name), Vec::new()).unwrap());
    calls
}

/// Returns one tool with calls of these inputs.
pub(crate) fn with_inputs(name: &str, inputs: &[Value]) -> Calls {
    let mut calls = Calls::new();
    let inputs: Vec<Map<String, Value>> =
        inputs.iter().map(|input| input.as_object().unwrap().clone()).collect();
    calls.ask(tool(name), inputs).unwrap();
    calls
}

pub(crate) fn answer(lodged: &Lodged, granted: &[&str], denied: &[&str]) -> Answer {
    let ask = &lodged.ask;
    let answers = Answered { id: ask.id.clone(), sha256: ask.sha256, source: ask.source.clone() };
    let tools = |names: &[&str]| names.iter().map(|name| tool(name)).collect();
    let data = AnswerData { granted: tools(granted), denied: tools(denied), commentary: None };
    Answer::to(answers, data, BTreeMap::new())
}

pub(crate) fn limited(mut answer: Answer, name: &str, limits: GrantLimits) -> Answer {
    answer.limits.insert(tool(name), limits);
    answer
}

pub(crate) struct Desk {
    pub(crate) store: Scoped,
    nonce: u64,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { store: Scoped::default(), nonce: 0 }
    }

    pub(crate) fn lodge(&mut self, source: &Source, calls: &Calls) -> Result<Lodged, Refused> {
        self.nonce += 1;
        self.store.lodge(source, calls, &noon(), self.nonce)
    }

    pub(crate) fn set(&mut self, answer: Answer) -> Result<Change, Refused> {
        let source = answer.answers.source.clone();
        self.store.set(&source, &Accepted::vouched(answer, "test"), &noon())
    }

    /// Files a permission request and answers it.
    pub(crate) fn settle(&mut self, source: &Source, granted: &[&str], denied: &[&str]) {
        let names = [granted, denied].concat();
        let lodged = self.lodge(source, &calls(&names)).unwrap();
        self.set(answer(&lodged, granted, denied)).unwrap();
    }

    pub(crate) fn state(&mut self, source: &Source, name: &str) -> ToolAuthorizationState {
        self.state_of(source, &calls(&[name]), name)
    }

    pub(crate) fn state_of(
        &mut self,
        source: &Source,
        calls: &Calls,
        name: &str,
    ) -> ToolAuthorizationState {
        self.store.get(source, calls, &noon()).unwrap()[&tool(name)]
    }
}
