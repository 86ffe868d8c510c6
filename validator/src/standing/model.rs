//! A standing approval as it was read. Only [`super::read`] makes one, so it proves the form. It says
//! nothing about its signatures, its time or its uses.

use model::{EnvironmentReference, Language, Sha256, StandingId, StandingReference, UtcTime};

use crate::declarations::{Input, is_plain_path};
use crate::limits::CpuCores;
use crate::network::Network;
use crate::outputs::ExpectedOutput;
use crate::request::Constraint;
use crate::risk::{RiskLevel, Sensitivity};

/// A well-formed standing approval, with the exact bytes that people sign.
#[must_use]
#[derive(Debug)]
pub struct StandingApproval {
    bytes: Vec<u8>,
    sha256: Sha256,
    terms: StandingTerms,
}

impl StandingApproval {
    pub(super) fn new(bytes: &[u8], terms: StandingTerms) -> Self {
        Self { bytes: bytes.to_vec(), sha256: Sha256::of(bytes), terms }
    }

    /// The exact bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The digest of the exact bytes.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// The id and the digest, by which requests name it.
    #[must_use]
    pub fn reference(&self) -> StandingReference {
        StandingReference { id: self.terms.id.clone(), sha256: self.sha256 }
    }

    /// The bounds of the runs.
    #[must_use]
    pub fn terms(&self) -> &StandingTerms {
        &self.terms
    }
}

/// The bounds of the runs that a standing approval admits. Every field bounds every run.
#[derive(Clone, Debug)]
pub struct StandingTerms {
    /// `standing_id`.
    pub id: StandingId,
    /// `created_utc`.
    pub created: UtcTime,
    /// `approved_by`: a name in the text, not verified; none in a draft.
    pub approved_by: Option<String>,
    /// `approved_utc`; none in a draft.
    pub approved: Option<UtcTime>,
    /// `purpose`: one sentence.
    pub purpose: String,
    /// `x-audience`: the only host that may use it.
    pub audience: String,
    /// `agents`: the exact names that may use it, at least one.
    pub agents: Vec<String>,
    /// `subject`: the only workflow that may use it; none means each workflow of these agents.
    pub subject: Option<String>,
    /// `not_before_utc`: the first second of its use.
    pub not_before: UtcTime,
    /// `not_after_utc`: the second in which it has ended.
    pub not_after: UtcTime,
    /// `uses_max`: the number of uses in all, at least 1.
    pub uses_max: u64,
    /// `uses_per_hour_max`: the number of uses within any 3,600 seconds, at least 1.
    pub uses_per_hour_max: u64,
    /// `language`.
    pub language: Language,
    /// `environment`: the only environment that a request names; none means that it names none.
    pub environment: Option<EnvironmentReference>,
    /// `network` with `network_allowlist`: the most that a request may name.
    pub network: Network,
    /// `cpu_limit`, the most, in cores.
    pub cpu: CpuCores,
    /// `memory_limit_mb`, the most, in MiB.
    pub memory_limit_mb: u64,
    /// `time_limit_sec`, the most, in seconds.
    pub time_limit_sec: u64,
    /// `inputs_bytes_max`: the most bytes of all inputs together.
    pub inputs_bytes_max: u64,
    /// `runs_code_of_inputs`: the signer permits that the content of a slot is executed.
    pub runs_code_of_inputs: bool,
    /// `inputs`: fixed files, and slots for files of any content.
    pub inputs: Vec<StandingInput>,
    /// `parameters`: the values that a command may choose.
    pub parameters: Vec<StandingParameter>,
    /// `## Command`, one word a line; at least one, and the first is a literal.
    pub words: Vec<TemplateWord>,
    /// `outputs_expected`: exactly those of each request, in any order.
    pub outputs: Vec<ExpectedOutput>,
    /// `constraints`: each request has them.
    pub constraints: Vec<Constraint>,
    /// `risk`: the highest level that a request may state.
    pub risk: RiskLevel,
    /// `sensitivity`: the highest that a request may state.
    pub sensitivity: Sensitivity,
}

/// An input that a request must or may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StandingInput {
    /// This name with these bytes, in each request.
    Fixed(Input),
    /// Files of any content.
    Slot(InputSlot),
}

/// Files of any content, within these bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputSlot {
    /// `slot`: the name by which words refer to it.
    pub name: String,
    /// `name`: the names of its files.
    pub files: NamePattern,
    /// `count`: the least and the greatest number of files.
    pub count: (u64, u64),
    /// `bytes_max`: the most bytes of one file.
    pub bytes_max: u64,
}

/// A file name with at most one `*`, in place of one or more of `[A-Za-z0-9._-]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamePattern {
    pub(super) beginning: String,
    /// The rest of the name after a `*`; none if the pattern is a name.
    pub(super) end: Option<String>,
}

impl NamePattern {
    /// Returns whether this is the name of a file of the slot.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some(end) = &self.end else { return name == self.beginning };
        name.len() > self.beginning.len() + end.len()
            && name.starts_with(&self.beginning)
            && name.ends_with(end.as_str())
            && is_plain_name(name)
    }
}

const NAME_BYTES_MAX: usize = 128;

/// Returns whether this is a plain file name: no directory, no hidden file, no `..`.
pub(super) fn is_plain_name(name: &str) -> bool {
    is_plain_path(name)
        && name.len() <= NAME_BYTES_MAX
        && !name.contains('/')
        && !name.starts_with('-')
        && !name.contains("..")
}

/// A value that a command may choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingParameter {
    /// `name`.
    pub name: String,
    /// The permitted values.
    pub kind: ParameterKind,
}

/// The permitted values of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// A whole number between these two, in its shortest decimal form.
    Integer {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// One of these words.
    Choice(Vec<String>),
    /// Text of an alphabet, of 1 to `chars_max` characters.
    Text {
        /// The permitted characters and their order.
        alphabet: TextAlphabet,
        /// The greatest number of characters, all of which are ASCII.
        chars_max: usize,
    },
}

model::closed_set! {
    /// The form of a text. Patterns of an author are not offered: a reader knows each form by its name.
    #[derive(Hash)]
    pub enum TextAlphabet {
        /// An ASCII letter or `_`, then letters, digits and `_`.
        Identifier = "identifier",
        /// `YYYY-MM-DD`, a real date.
        Date = "date",
        /// Whole numbers without sign or leading zero, with a comma between them.
        NumberList = "number-list",
    }
}

/// One word of the command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TemplateWord {
    /// Exactly this word.
    Literal(String),
    /// A literal beginning, empty or ended by `=`, and a value.
    Value {
        /// The beginning.
        beginning: String,
        /// The value after it.
        value: WordValue,
    },
}

/// The variable part of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WordValue {
    /// The value of this parameter.
    Parameter(String),
    /// `/in/` and the name of the only file of this slot.
    Slot(String),
}
