//! Our own extension keys: who asks, as which agent, for whom. They are claims of the text and
//! must never be taken for something verified.

use crate::fields::Fields;
use crate::report::Report;

/// The agent that a request says it comes from (`x-agent`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agent {
    name: String,
    subject: String,
    accesscontrol: Option<String>,
}

impl Agent {
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

    /// The access-control scope; None where the key is null or missing.
    #[must_use]
    pub fn accesscontrol(&self) -> Option<&str> {
        self.accesscontrol.as_deref()
    }
}

#[derive(Default)]
pub(crate) struct Extensions {
    pub(crate) requester: Option<String>,
    pub(crate) audience: Option<String>,
    pub(crate) agent: Option<Agent>,
}

impl Extensions {
    pub(crate) fn read(fields: &Fields<'_>, report: &mut Report) -> Self {
        Self {
            requester: optional(fields, "x-requester", report),
            audience: optional(fields, "x-audience", report),
            agent: agent(fields, report),
        }
    }
}

fn optional(fields: &Fields<'_>, key: &str, report: &mut Report) -> Option<String> {
    fields.peek(key)?;
    fields.sentence(key, report).map(|text| text.value.to_owned())
}

fn agent(fields: &Fields<'_>, report: &mut Report) -> Option<Agent> {
    let node = fields.peek("x-agent")?;
    let agent = Fields::of(node, "x-agent.".to_owned(), report)?;
    agent.refuse_unknown(&["name", "subject", "accesscontrol"], false, report);
    let name = agent.sentence("name", report);
    let subject = agent.sentence("subject", report);
    let accesscontrol = match agent.peek("accesscontrol") {
        Some(node) if !node.is_null() => agent.sentence("accesscontrol", report),
        _ => None,
    };
    Some(Agent {
        name: name?.value.to_owned(),
        subject: subject?.value.to_owned(),
        accesscontrol: accesscontrol.map(|text| text.value.to_owned()),
    })
}
