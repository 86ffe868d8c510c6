//! Prints a composition: front matter in the order of the schema, then the four sections. Text
//! appears only where no Markdown reader and no rule of the schema can take it for structure.

use serde_json::Value;

use super::quote::yaml;
use super::{ComposedInput, ComposedOutput, ComposedWork, Composition, OneLine};
use crate::monty::PureCode;
use crate::network::NetworkAccess;
use crate::outputs::PATCH_OF;

pub(super) fn text(of: &Composition) -> String {
    let mut text = front_matter(of);
    text.push_str(&format!("\n# {}\n\n", of.id));
    match &of.work {
        ComposedWork::Command(line) => {
            text.push_str(&format!("## Command\n\n{line}\n\n"));
            let item = |it: &ComposedInput| format!("- /in/{} sha256: {}\n", it.name, it.sha256);
            push_files(&mut text, "## Input Files", of.inputs.iter().map(item));
        }
        ComposedWork::Code(code) => push_code(&mut text, code),
    }
    // Descriptions are in the front matter only: a path in one would count as an output here.
    let outputs = of.outputs_expected.iter().map(|it| format!("- /out/{}\n", relative(&it.path)));
    push_files(&mut text, "## Output Expectations", outputs);
    text.push_str(&format!("## Risk Assessment\n\n- Risk level: {}\n", of.risk.level.as_str()));
    push_risk_line(&mut text, "Justification", &of.risk.justification);
    text.push_str(&format!("- Data sensitivity: {}\n", of.risk.sensitivity.as_str()));
    push_risk_line(&mut text, "Network rationale", &of.risk.network_rationale);
    text
}

/// Writes the code in a fence, so that a Markdown reader sees no line of it as structure.
fn push_code(text: &mut String, code: &PureCode) {
    let fence = if code.text().contains("```") { "~~~" } else { "```" };
    text.push_str(&format!("## Code\n\n{fence}python\n{}\n{fence}\n\n", code.text()));
    if !code.inputs().is_empty() {
        let inputs = Value::Object(code.inputs().clone());
        text.push_str(&format!("## Inputs (JSON)\n\n```json\n{inputs}\n```\n\n"));
    }
}

fn front_matter(of: &Composition) -> String {
    let mut front = FrontMatterPrinter::default();
    front.plain("request_type", "tool_request");
    front.plain("schema_version", "1");
    front.quoted("request_id", of.id.as_str());
    front.quoted("created_utc", &of.created.to_string());
    front.quoted("requested_by", of.requested_by.as_str());
    let approval = of.approval.as_ref();
    front.quoted("approved_by", approval.map_or("", |(name, _)| name.as_str()));
    front.quoted("approved_utc", &approval.map_or(String::new(), |(_, at)| at.to_string()));
    front.quoted("purpose", of.purpose.as_str());
    front.quoted("language", of.language.as_str());
    let access = of.hosts.as_ref().map_or(NetworkAccess::None, |_| NetworkAccess::Allowlist);
    front.quoted("network", access.as_str());
    front.list("network_allowlist", of.hosts.iter().flatten().map(|host| yaml(host.as_str())));
    front.quoted("cpu_limit", of.cpu.as_str());
    front.plain("memory_limit_mb", &of.memory_limit_mb.to_string());
    front.plain("time_limit_sec", &of.time_limit_sec.to_string());
    front.list("inputs", of.inputs.iter().map(input));
    front.list("outputs_expected", of.outputs_expected.iter().map(output));
    front.list("constraints", of.constraints.iter().map(|it| yaml(it.as_str())));
    if let Some(backend) = of.backend {
        front.quoted("backend", backend.as_str());
    }
    front.optional("x-requester", of.requester.as_ref());
    if let Some(agent) = &of.agent {
        front.0.push_str("x-agent:\n");
        front.quoted("  name", agent.name.as_str());
        front.quoted("  subject", agent.subject.as_str());
        front.optional("  accesscontrol", agent.accesscontrol.as_ref());
    }
    front.optional("x-audience", of.audience.as_ref());
    if let Some(standing) = &of.standing {
        front.quoted("x-standing", &standing.to_string());
    }
    if let Some(environment) = &of.environment {
        front.quoted("x-environment", &environment.to_string());
    }
    front.into_text()
}

/// Returns the item of a fixed input.
pub(super) fn input(of: &ComposedInput) -> String {
    format!("name: {}\n    sha256: \"{}\"", yaml(of.name.as_str()), of.sha256)
}

/// Returns the item of an expected output.
pub(super) fn output(of: &ComposedOutput) -> String {
    let (path, description) = (yaml(of.path.as_str()), yaml(&of.description));
    let patch_of = of.patch_of.as_ref().map(|folder| format!("\n    {PATCH_OF}: {}", yaml(folder)));
    format!("path: {path}\n    description: {description}{}", patch_of.unwrap_or_default())
}

/// The lines between the two `---`.
#[derive(Default)]
pub(super) struct FrontMatterPrinter(String);

impl FrontMatterPrinter {
    pub(super) fn plain(&mut self, key: &str, value: &str) {
        self.0.push_str(&format!("{key}: {value}\n"));
    }

    pub(super) fn quoted(&mut self, key: &str, value: &str) {
        self.plain(key, &yaml(value));
    }

    fn optional(&mut self, key: &str, value: Option<&OneLine>) {
        if let Some(value) = value {
            self.quoted(key, value.as_str());
        }
    }

    pub(super) fn list(&mut self, key: &str, items: impl Iterator<Item = String>) {
        let items: String = items.map(|item| format!("\n  - {item}")).collect();
        let items = if items.is_empty() { " []" } else { &items };
        self.0.push_str(&format!("{key}:{items}\n"));
    }

    pub(super) fn into_text(self) -> String {
        format!("---\n{}---\n", self.0)
    }
}

fn push_files(text: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let lines: String = lines.collect();
    let lines = if lines.is_empty() { "None.\n" } else { &lines };
    text.push_str(&format!("{heading}\n\n{lines}\n"));
}

fn relative(path: &OneLine) -> &str {
    path.as_str().strip_prefix("/out/").unwrap_or(path.as_str())
}

/// Writes a line of the risk assessment. A text whose ends a reader would strip as markup goes on a
/// line of its own, indented far enough that Markdown continues the sentence.
fn push_risk_line(text: &mut String, key: &str, answer: &OneLine) {
    let answer = answer.as_str();
    let space = match answer {
        "" => "",
        _ if survives_trim(answer) => " ",
        _ => "\n      ",
    };
    text.push_str(&format!("- {key}:{space}{answer}\n"));
}

/// Returns true if the reader of a key line strips nothing from the ends of the text.
fn survives_trim(answer: &str) -> bool {
    let stripped = |c: char| c.is_whitespace() || "*_`".contains(c);
    !answer.starts_with(stripped) && !answer.ends_with(stripped)
}
