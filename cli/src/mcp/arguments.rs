//! The arguments of each tool, from which the client's JSON schemas are generated. Ids and closed
//! sets are parsed here and nowhere else, so that no later value can contain a path.

use std::borrow::Cow;

use model::{ClosedSet, Language, RequestId, ResultId};
use rmcp::schemars::{self, JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use validator::{RiskLevel, Sensitivity};

use crate::commands::request::draft::{DRAFT_CPU, DRAFT_MEMORY_MB, DRAFT_TIME_SEC};

/// A value of a closed set of the request schema.
pub(super) struct Word<T>(pub(super) T);

impl<'de, T: ClosedSet> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let typed = Cow::<str>::deserialize(from)?;
        let found = T::ALL.iter().find(|value| value.as_str() == typed);
        found
            .map(|value| Self(*value))
            .ok_or_else(|| D::Error::custom(format!("not one of {}", T::TEXTS.join(", "))))
    }
}

impl<T: ClosedSet> JsonSchema for Word<T> {
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

/// The id of a request or result. It is parsed, so it cannot be a path.
#[derive(Clone, Debug)]
pub(super) enum Id {
    Request(RequestId),
    Result(ResultId),
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let typed = Cow::<str>::deserialize(from)?;
        let result = || typed.parse().map(Self::Result);
        typed.parse().map(Self::Request).or_else(|_| result()).map_err(|_| {
            D::Error::custom(
                "not the id of a request (TR-YYYYMMDD-HHMMSSZ-slug) or of a result (TS-…)",
            )
        })
    }
}

impl JsonSchema for Id {
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^T[RS]-", "maxLength": 200 })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DraftArguments {
    /// Why the run is needed, in one sentence
    pub(super) purpose: String,
    /// The last part of the request's id, in letters, digits and dashes; made of the purpose if left out
    #[serde(default)]
    pub(super) slug: Option<String>,
    pub(super) language: Word<Language>,
    /// The command in its words, such as ["python", "stats.py", "/in/table.csv", "/out/mean.json"]. No
    /// shell runs it: pipes, redirections and expansions are refused; put such things into a script.
    pub(super) words: Vec<String>,
    /// The files that the command reads as /in/NAME, scripts among them: every one is given here
    #[serde(default)]
    pub(super) inputs: Vec<InputArgument>,
    /// The files that the command leaves as /out/PATH
    #[serde(default)]
    pub(super) outputs: Vec<OutputArgument>,
    /// Hosts that it must reach, as host or host:port; only what list_runtimes offers can be granted
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    /// Why a network is needed; needed where hosts are named
    #[serde(default)]
    pub(super) network_rationale: Option<String>,
    /// Processor cores, as a decimal number in a string, such as "2" or "0.5"
    #[serde(default = "cpu")]
    pub(super) cpu: String,
    /// Memory in MiB
    #[serde(default = "memory_mb")]
    pub(super) memory_mb: u64,
    /// Wall time in seconds
    #[serde(default = "time_sec")]
    pub(super) time_sec: u64,
    /// Your estimate of the risk; whoever approves sees it
    pub(super) risk: Word<RiskLevel>,
    /// Why the run is justified, in one line; whoever approves sees it
    pub(super) justification: String,
    /// How sensitive the data is
    pub(super) sensitivity: Word<Sensitivity>,
    /// For whom the result is
    #[serde(default)]
    pub(super) audience: Option<String>,
}

fn cpu() -> String {
    DRAFT_CPU.to_owned()
}

fn memory_mb() -> u64 {
    DRAFT_MEMORY_MB
}

fn time_sec() -> u64 {
    DRAFT_TIME_SEC
}

/// One of text and base64 must be given
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InputArgument {
    /// The path below /in, such as stats.py
    pub(super) name: String,
    /// The file's content, if it is text: it is written as UTF-8, exactly as it is here
    #[serde(default)]
    pub(super) text: Option<String>,
    /// The file's content in base64, if it is not text
    #[serde(default)]
    pub(super) base64: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputArgument {
    /// The path below /out, such as mean.json
    pub(super) path: String,
    /// What the file is for
    pub(super) description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LintArguments {
    /// The whole text of a request: Markdown with YAML front matter
    pub(super) text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IdArguments {
    /// The id of a request (TR-…) or of a result (TS-…)
    pub(super) id: Id,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitArguments {
    /// The id of a request (TR-…)
    pub(super) id: Id,
    /// Seconds to wait at most, up to 600
    #[serde(default = "wait_sec")]
    #[schemars(range(max = 600))]
    pub(super) timeout_sec: u64,
}

fn wait_sec() -> u64 {
    60
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    /// The id of a result (TS-…), or of a request (TR-…) that has one
    pub(super) id: Id,
    /// One file of it: stdout, stderr, record, or artifacts/PATH. Without it: what the record says, with
    /// the beginning of stdout and stderr
    #[serde(default)]
    pub(super) file: Option<String>,
    /// Where in the file to begin, in bytes
    #[serde(default)]
    pub(super) offset: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PermissionArguments {
    /// The language of a run, which asks about the tool toolexec.run.<language>
    #[serde(default)]
    pub(super) language: Option<Word<Language>>,
    /// Another tool, by the name that agents use
    #[serde(default)]
    pub(super) tool: Option<String>,
}
