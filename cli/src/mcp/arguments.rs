//! The arguments of each tool, from which the client's JSON schemas are generated. Closed sets are
//! parsed here and nowhere else, so that no later value can contain a path.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{ClosedSet, Language};
use rmcp::schemars::{self, JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use validator::{RiskLevel, Sensitivity};

use super::references::{AnyId, EnvironmentArgument, StandingArgument};

/// A value of a closed set of the request schema.
pub(super) struct ClosedSetArgument<T>(pub(super) T);

impl<'de, T: ClosedSet> Deserialize<'de> for ClosedSetArgument<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let typed = Cow::<str>::deserialize(from)?;
        let found = T::ALL.iter().find(|value| value.as_str() == typed);
        found
            .map(|value| Self(*value))
            .ok_or_else(|| D::Error::custom(format!("not one of {}", T::TEXTS.join(", "))))
    }
}

impl<T: ClosedSet> JsonSchema for ClosedSetArgument<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": T::TEXTS })
    }
}

/// Without standing, purpose, language, one of words and command, risk, justification and
/// sensitivity are required
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DraftArguments {
    /// The reference of a standing approval from list_standing_approvals. It states purpose,
    /// language, words, command, environment, outputs, hosts, network_rationale, risk, sensitivity
    /// and audience: leave them out.
    #[serde(default)]
    pub(super) standing: Option<StandingArgument>,
    /// The value of each parameter of the standing approval, as a string
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, String>,
    /// The reason for the run, in one sentence
    #[serde(default)]
    pub(super) purpose: Option<String>,
    /// The last part of the request id, in letters, digits and dashes
    /// [default: derived from the purpose]
    #[serde(default)]
    pub(super) slug: Option<String>,
    #[serde(default)]
    pub(super) language: Option<ClosedSetArgument<Language>>,
    /// The command as separate words, such as ["python", "stats.py", "/in/table.csv",
    /// "/out/mean.json"]. No shell runs it: pipes, redirections and expansions are refused. Put
    /// them into a script.
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// The command as one line instead of words, with the quoting of a shell
    #[serde(default)]
    pub(super) command: Option<String>,
    /// An environment with libraries and programs for the command, as NAME@sha256:DIGEST. A person
    /// gives you its reference.
    #[serde(default)]
    pub(super) environment: Option<EnvironmentArgument>,
    /// The files that the command reads as /in/NAME, including scripts. Each must be given here;
    /// folders cannot be given.
    #[serde(default)]
    pub(super) inputs: Vec<InputArgument>,
    /// The files that the command writes as /out/PATH
    #[serde(default)]
    pub(super) outputs: Vec<OutputArgument>,
    /// Hosts that the command must reach, as host or host:port. Only hosts in list_runtimes can be
    /// granted.
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    /// The reason for network access, required with hosts
    #[serde(default)]
    pub(super) network_rationale: Option<String>,
    /// Processor cores as a decimal number in a string, such as "2" or "0.5"
    /// [default: 1, or that of the standing approval]
    #[serde(default)]
    pub(super) cpu: Option<String>,
    /// Memory in MiB [default: 256, or that of the standing approval]
    #[serde(default)]
    pub(super) memory_mb: Option<u64>,
    /// Wall time in seconds [default: 60, or that of the standing approval]
    #[serde(default)]
    pub(super) time_sec: Option<u64>,
    /// Your estimate of the risk. The approver sees it.
    #[serde(default)]
    pub(super) risk: Option<ClosedSetArgument<RiskLevel>>,
    /// The justification of the run, in one line. The approver sees it.
    #[serde(default)]
    pub(super) justification: Option<String>,
    /// The sensitivity of the data
    #[serde(default)]
    pub(super) sensitivity: Option<ClosedSetArgument<Sensitivity>>,
    /// The host that may run the request
    #[serde(default)]
    pub(super) audience: Option<String>,
}

impl DraftArguments {
    /// Returns the names of the given arguments that a standing approval fixes.
    pub(super) fn fixed(&self) -> Vec<&'static str> {
        let all = [
            ("purpose", self.purpose.is_some()),
            ("language", self.language.is_some()),
            ("words", !self.words.is_empty()),
            ("command", self.command.is_some()),
            ("environment", self.environment.is_some()),
            ("outputs", !self.outputs.is_empty()),
            ("hosts", !self.hosts.is_empty()),
            ("network_rationale", self.network_rationale.is_some()),
            ("risk", self.risk.is_some()),
            ("sensitivity", self.sensitivity.is_some()),
            ("audience", self.audience.is_some()),
        ];
        all.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}

/// Exactly one of text and base64 is required
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InputArgument {
    /// The path below /in, such as stats.py
    pub(super) name: String,
    /// The content of a text file, written as UTF-8 without changes
    #[serde(default)]
    pub(super) text: Option<String>,
    /// The content of a binary file in base64
    #[serde(default)]
    pub(super) base64: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputArgument {
    /// The path below /out, such as mean.json
    pub(super) path: String,
    /// The purpose of the file
    pub(super) description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LintArguments {
    /// The complete text of a request: Markdown with YAML front matter
    pub(super) text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IdArguments {
    /// The id of a request (TR-…) or result (TS-…)
    pub(super) id: AnyId,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitArguments {
    /// The id of a request (TR-…)
    pub(super) id: AnyId,
    /// The longest time to wait in seconds, at most 600
    #[serde(default = "wait_sec")]
    #[schemars(range(max = 600))]
    pub(super) timeout_sec: u64,
    /// Add the newest output of the running tool to progress notifications, as untrusted data
    #[serde(default)]
    pub(super) output: bool,
}

fn wait_sec() -> u64 {
    60
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    /// The id of a result (TS-…), or of a request (TR-…) with a result
    pub(super) id: AnyId,
    /// A file of the result: stdout, stderr, record, or artifacts/PATH. Without it: the facts of
    /// the record, and the beginning of stdout and stderr
    #[serde(default)]
    pub(super) file: Option<String>,
    /// The offset in the file, in bytes
    #[serde(default)]
    pub(super) offset: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PermissionArguments {
    /// The language of a run, which selects the tool toolexec.run.<language>
    #[serde(default)]
    pub(super) language: Option<ClosedSetArgument<Language>>,
    /// Another tool, by the name that agents use
    #[serde(default)]
    pub(super) tool: Option<String>,
}

/// Without a command: every standing approval
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StandingListArguments {
    /// List only the standing approvals that admit this command, given as separate words
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// The command as one line instead of words, with the quoting of a shell
    #[serde(default)]
    pub(super) command: Option<String>,
    /// The names of the command's inputs below /in [default: those that it names]
    #[serde(default)]
    pub(super) inputs: Vec<String>,
}
