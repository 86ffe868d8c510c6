//! Prints a standing approval without an approval: front matter in the order of the schema, then
//! the command, one word a line, and its widest effect. Only the reader decides about the values.

use model::{EnvironmentReference, Language, StandingId, UtcTime};

use super::line::OneLine;
use super::model::{ComposedInput, ComposedOutput};
use super::print::{FrontMatterPrinter, input, output};
use super::quote::yaml;
use crate::network::NetworkAccess;
use crate::risk::{RiskLevel, Sensitivity};
use crate::standing::{ParameterKind, REQUEST_TYPE, StandingParameter};

/// All values in the text of a standing approval, for [`StandingComposition::to_text`]. The values
/// are unchecked: the reader of the text decides whether a name, a bound or a word is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingComposition {
    /// `standing_id`, and the title.
    pub id: StandingId,
    /// `created_utc`.
    pub created: UtcTime,
    /// `purpose`.
    pub purpose: OneLine,
    /// `x-audience`.
    pub audience: OneLine,
    /// `agents`.
    pub agents: Vec<OneLine>,
    /// `subject`; None is `null`.
    pub subject: Option<OneLine>,
    /// `not_before_utc`.
    pub not_before: UtcTime,
    /// `not_after_utc`.
    pub not_after: UtcTime,
    /// `uses_max`.
    pub uses_max: u64,
    /// `uses_per_hour_max`.
    pub uses_per_hour_max: u64,
    /// `language`.
    pub language: Language,
    /// `environment`; None is `null`.
    pub environment: Option<EnvironmentReference>,
    /// `network_allowlist`, as `host` or `host:port`; None is `network: none`.
    pub hosts: Option<Vec<OneLine>>,
    /// `cpu_limit`, a decimal number of cores.
    pub cpu: OneLine,
    /// `memory_limit_mb`, in MiB.
    pub memory_limit_mb: u64,
    /// `time_limit_sec`, in seconds.
    pub time_limit_sec: u64,
    /// `inputs_bytes_max`.
    pub inputs_bytes_max: u64,
    /// `runs_code_of_inputs`.
    pub runs_code_of_inputs: bool,
    /// The fixed files of `inputs`.
    pub inputs: Vec<ComposedInput>,
    /// The slots of `inputs`, after the fixed files.
    pub slots: Vec<ComposedSlot>,
    /// `parameters`.
    pub parameters: Vec<StandingParameter>,
    /// The lines of `## Command`, in the form of the file: `{name}` is a value.
    pub words: Vec<OneLine>,
    /// `outputs_expected`.
    pub outputs: Vec<ComposedOutput>,
    /// `constraints`.
    pub constraints: Vec<OneLine>,
    /// `risk`.
    pub risk: RiskLevel,
    /// `sensitivity`.
    pub sensitivity: Sensitivity,
    /// `examples`.
    pub examples: Vec<ComposedExample>,
    /// The section `## Widest Effect`.
    pub effect: OneLine,
}

/// A slot of `inputs`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComposedSlot {
    /// `slot`: the name by which words refer to it.
    pub name: OneLine,
    /// `name`: a file name with at most one `*`.
    pub files: OneLine,
    /// `count`: the least and the greatest number of files.
    pub count: (u64, u64),
    /// `bytes_max`: the most bytes of one file.
    pub bytes_max: u64,
}

/// An item of `examples`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComposedExample {
    /// `admitted`.
    pub is_admitted: bool,
    /// `words`.
    pub words: Vec<OneLine>,
    /// `files`: the names of the files in the slots.
    pub files: Vec<OneLine>,
}

impl StandingComposition {
    /// Returns the file. Its approval is empty, for an approver to fill in.
    #[must_use]
    pub fn to_text(&self) -> String {
        let words: String = self.words.iter().map(|word| format!("- {word}\n")).collect();
        let mut front = FrontMatterPrinter::default();
        self.print_uses(&mut front);
        self.print_bounds(&mut front);
        format!(
            "{}\n# {}\n\n## Command\n\n{words}\n## Widest Effect\n\n{}\n",
            front.into_text(),
            self.id,
            self.effect
        )
    }

    /// Prints the identity, the agents, the time and the number of uses.
    fn print_uses(&self, front: &mut FrontMatterPrinter) {
        front.plain("request_type", REQUEST_TYPE);
        front.plain("schema_version", "1");
        front.quoted("standing_id", self.id.as_str());
        front.quoted("created_utc", &self.created.to_string());
        front.quoted("approved_by", "");
        front.quoted("approved_utc", "");
        front.quoted("purpose", self.purpose.as_str());
        front.quoted("x-audience", self.audience.as_str());
        front.plain("agents", &flow(&self.agents));
        match &self.subject {
            Some(subject) => front.quoted("subject", subject.as_str()),
            None => front.plain("subject", "null"),
        }
        front.quoted("not_before_utc", &self.not_before.to_string());
        front.quoted("not_after_utc", &self.not_after.to_string());
        front.plain("uses_max", &self.uses_max.to_string());
        front.plain("uses_per_hour_max", &self.uses_per_hour_max.to_string());
    }

    /// Prints the bounds of each run.
    fn print_bounds(&self, front: &mut FrontMatterPrinter) {
        front.quoted("language", self.language.as_str());
        match &self.environment {
            Some(environment) => front.quoted("environment", &environment.to_string()),
            None => front.plain("environment", "null"),
        }
        let access = self.hosts.as_ref().map_or(NetworkAccess::None, |_| NetworkAccess::Allowlist);
        front.quoted("network", access.as_str());
        let hosts = self.hosts.iter().flatten();
        front.list("network_allowlist", hosts.map(|host| yaml(host.as_str())));
        front.quoted("cpu_limit", self.cpu.as_str());
        front.plain("memory_limit_mb", &self.memory_limit_mb.to_string());
        front.plain("time_limit_sec", &self.time_limit_sec.to_string());
        front.plain("inputs_bytes_max", &self.inputs_bytes_max.to_string());
        front.plain("runs_code_of_inputs", &self.runs_code_of_inputs.to_string());
        let fixed = self.inputs.iter().map(input);
        front.list("inputs", fixed.chain(self.slots.iter().map(slot)));
        front.list("parameters", self.parameters.iter().map(parameter));
        front.list("outputs_expected", self.outputs.iter().map(output));
        front.quoted("risk", self.risk.as_str());
        front.quoted("sensitivity", self.sensitivity.as_str());
        front.list("constraints", self.constraints.iter().map(|it| yaml(it.as_str())));
        front.list("examples", self.examples.iter().map(example));
    }
}

fn slot(of: &ComposedSlot) -> String {
    let (name, files) = (yaml(of.name.as_str()), yaml(of.files.as_str()));
    let ((least, most), bytes_max) = (of.count, of.bytes_max);
    format!(
        "slot: {name}\n    name: {files}\n    kind: \"file\"\n    count: [{least}, {most}]\n    \
         bytes_max: {bytes_max}"
    )
}

fn parameter(of: &StandingParameter) -> String {
    let kind = match &of.kind {
        ParameterKind::Integer { min, max } => format!("integer: [{min}, {max}]"),
        ParameterKind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| yaml(word)).collect();
            format!("choice: [{}]", words.join(", "))
        }
        ParameterKind::Text { alphabet, chars_max } => {
            format!("text: {}\n    chars_max: {chars_max}", yaml(alphabet.as_str()))
        }
    };
    format!("name: {}\n    {kind}", yaml(&of.name))
}

fn example(of: &ComposedExample) -> String {
    let (words, files) = (flow(&of.words), flow(&of.files));
    format!("admitted: {}\n    words: {words}\n    files: {files}", of.is_admitted)
}

/// Returns a list on one line.
fn flow(items: &[OneLine]) -> String {
    let items: Vec<String> = items.iter().map(|item| yaml(item.as_str())).collect();
    format!("[{}]", items.join(", "))
}

#[cfg(test)]
mod tests;
