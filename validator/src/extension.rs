//! The extension keys: requester, agent and audience. Claims of the text, never taken as verified.

use crate::confusable;
use crate::fields::FrontMatterFields;
use crate::report::Report;

/// The agent that a request claims to come from (`x-agent`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestAgent {
    name: String,
    subject: String,
    accesscontrol: Option<String>,
}

impl RequestAgent {
    /// The agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The workflow execution that it works in.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The access-control scope; None if the key is null or missing.
    #[must_use]
    pub fn accesscontrol(&self) -> Option<&str> {
        self.accesscontrol.as_deref()
    }
}

#[derive(Default)]
pub(crate) struct Extensions {
    pub(crate) requester: Option<String>,
    pub(crate) audience: Option<String>,
    pub(crate) agent: Option<RequestAgent>,
}

impl Extensions {
    pub(crate) fn read(fields: &FrontMatterFields<'_>, report: &mut Report) -> Self {
        Self {
            requester: optional(fields, "x-requester", report),
            audience: optional(fields, "x-audience", report),
            agent: agent(fields, report),
        }
    }
}

fn optional(fields: &FrontMatterFields<'_>, key: &str, report: &mut Report) -> Option<String> {
    fields.peek(key)?;
    name(fields, key, report)
}

/// Reads a name of one line and reports a misleading one.
fn name(fields: &FrontMatterFields<'_>, key: &str, report: &mut Report) -> Option<String> {
    let text = fields.sentence(key, report)?;
    confusable::check_name(key, text, report);
    Some(text.value.to_owned())
}

fn agent(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<RequestAgent> {
    let node = fields.peek("x-agent")?;
    let agent = FrontMatterFields::of(node, "x-agent.".to_owned(), report)?;
    agent.refuse_unknown(&["name", "subject", "accesscontrol"], false, report);
    let agent_name = name(&agent, "name", report);
    let subject = name(&agent, "subject", report);
    let accesscontrol = match agent.peek("accesscontrol") {
        Some(node) if !node.is_null() => name(&agent, "accesscontrol", report),
        _ => None,
    };
    Some(RequestAgent { name: agent_name?, subject: subject?, accesscontrol })
}
