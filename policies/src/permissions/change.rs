//! The changes that there are, as the trail keeps them: one entry each, with when, in whose trace and by
//! whose word. An entry is what happened whole: an answer's grants and denials are never two entries.

use model::UtcTime;
use serde::{Deserialize, Serialize};

use super::as_text;
use super::ask::{AskId, OpenAsk};
use super::grant::{Denial, Grant, GrantId, Standing};
use super::model::Author;
use super::name::{Source, ToolName};
use super::trace::Traceparent;

/// One entry of the trail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its number: one more than the one before it.
    pub number: u64,
    /// When.
    #[serde(with = "as_text")]
    pub at: UtcTime,
    /// In whose trace.
    pub traceparent: Traceparent,
    /// By whose word.
    pub by: Author,
    /// What.
    pub change: Change,
}

/// What happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Change {
    /// A person was asked.
    Lodged(OpenAsk),
    /// What was asked cannot be answered any more.
    Withdrawn {
        /// Which.
        request: AskId,
    },
    /// The person answered.
    Answered {
        /// What was asked.
        request: AskId,
        /// Whose permissions.
        source: Source,
        /// What may be called now.
        granted: Vec<Granted>,
        /// What may not.
        denied: Vec<Denied>,
        /// The person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commentary: Option<String>,
    },
    /// Calls were begun.
    Spent {
        /// Whose.
        source: Source,
        /// One for each call whose grant is for a number of uses.
        uses: Vec<Use>,
    },
    /// Grants were taken back; whoever was asked about the tool cannot answer any more.
    Revoked {
        /// Whose.
        source: Source,
        /// Of which tool.
        tool: ToolName,
        /// Which.
        grants: Vec<GrantId>,
    },
    /// A denial was taken back: the tool may be asked for again.
    Lifted {
        /// Whose.
        source: Source,
        /// Of which tool.
        tool: ToolName,
    },
    /// The workflow ended: nothing of it is kept.
    CleanedUp {
        /// Whose.
        source: Source,
        /// It was taken to have ended since nothing happened in it for so many seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_sec: Option<u64>,
    },
    /// What stood when the trail was begun anew.
    Kept {
        /// Whose.
        source: Source,
        /// All of it.
        standings: Vec<Standing>,
    },
}

impl Change {
    /// The workflow that it is about; a withdrawal names its question alone.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Lodged(ask) => Some(&ask.source),
            Self::Withdrawn { .. } => None,
            Self::Answered { source, .. }
            | Self::Spent { source, .. }
            | Self::Revoked { source, .. }
            | Self::Lifted { source, .. }
            | Self::CleanedUp { source, .. }
            | Self::Kept { source, .. } => Some(source),
        }
    }
}

/// A tool with what was granted of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    /// The tool.
    pub tool: ToolName,
    /// The grant.
    pub grant: Grant,
}

/// A tool that was denied, and how.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denied {
    /// The tool.
    pub tool: ToolName,
    /// How.
    pub denial: Denial,
}

/// One call that a limited grant was used for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// The tool.
    pub tool: ToolName,
    /// The grant that has one use less now.
    pub grant: GrantId,
}
