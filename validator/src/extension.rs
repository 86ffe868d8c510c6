//! The extension keys: requester, agent, audience, standing approval and environment. Claims of the
//! text, never taken as verified.

use model::{EnvironmentReference, StandingReference, quote};

use crate::code::Code;
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

/// The extension keys that this version reads.
const KNOWN: [&str; 5] = ["x-requester", "x-audience", "x-agent", STANDING, ENVIRONMENT];
/// The key of the standing approval that a request uses.
pub(crate) const STANDING: &str = "x-standing";
/// The key of the environment that a request needs.
pub(crate) const ENVIRONMENT: &str = "x-environment";

#[derive(Default)]
pub(crate) struct Extensions {
    pub(crate) requester: Option<String>,
    pub(crate) audience: Option<String>,
    pub(crate) agent: Option<RequestAgent>,
    pub(crate) standing: Option<StandingReference>,
    pub(crate) environment: Option<EnvironmentReference>,
    /// Extension keys that this version does not read.
    pub(crate) unknown: Vec<String>,
}

impl Extensions {
    pub(crate) fn read(fields: &FrontMatterFields<'_>, report: &mut Report) -> Self {
        Self {
            requester: optional(fields, "x-requester", report),
            audience: optional(fields, "x-audience", report),
            agent: agent(fields, report),
            standing: standing(fields, report),
            environment: environment(fields, ENVIRONMENT, report),
            unknown: fields
                .extensions()
                .filter(|key| !KNOWN.contains(key))
                .map(str::to_owned)
                .collect(),
        }
    }
}

fn standing(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<StandingReference> {
    fields.peek(STANDING)?;
    let text = fields.text(STANDING, report)?;
    match text.value.parse() {
        Ok(reference) => Some(reference),
        Err(error) => {
            let message = format!("`{STANDING}`: {} is {error}", quote(text.value));
            let hint = "copy the reference that `toolexec standing show` prints";
            report.error_hint(Code::FrontmatterValue, text.span, message, hint);
            None
        }
    }
}

/// Reads the environment under this key, which may be missing. Reports any other value.
pub(crate) fn environment(
    fields: &FrontMatterFields<'_>,
    key: &str,
    report: &mut Report,
) -> Option<EnvironmentReference> {
    fields.peek(key)?;
    let text = fields.text(key, report)?;
    let environment: Option<EnvironmentReference> = text.value.parse().ok();
    if environment.is_none() {
        let form = "NAME@sha256: and 64 lower-case hexadecimal digits";
        let message = format!("`{key}`: {} is not {form}", quote(text.value));
        let hint = "copy the reference that `toolexec env show NAME` prints";
        report.error_hint(Code::FrontmatterValue, text.span, message, hint);
    }
    environment
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
