//! The documentation of `backend.*`.

use super::ExampleChange::{All, Front, Prose, Section};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{Base, DecidedBy, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static VALUE: RuleDoc = RuleDoc {
    code: Code::BackendValue,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema of later date, backend; docs/writing-requests.md",
    why: "The backend decides how a tool is confined. An unknown word could mean anything, so no \
          default replaces it.",
    remedy: "Write ERA, monty or confined exactly so, or remove the key.",
    examples: &[
        rejected("another system", Front("backend", "backend: docker")),
        rejected("small letters", Front("backend", "backend: era")),
        accepted("ERA", Front("backend", "backend: ERA")),
        accepted("confined", Front("backend", "backend: confined")),
    ],
};

pub(super) static UNAVAILABLE: RuleDoc = RuleDoc {
    code: Code::BackendUnavailable,
    severity: RuleSeverity::Depends {
        error: "when it is submitted or run",
        warning: "for the monty backend in lint, since no policy of this version offers it",
    },
    decided_by: &[DecidedBy::Text, DecidedBy::Policy, DecidedBy::Host],
    source: "docs/writing-requests.md",
    why: "A request for an unavailable backend is refused. Another backend could give the tool \
          less confinement, or other rights, than were approved.",
    remedy: "Name a backend that policy offers, with the sections of that backend.",
    examples: &[
        rejected_with_warning("the monty backend", Front("backend", "backend: monty"))
            .of(Base::Monty),
        rejected_with_warning("in quotes", Front("backend", "backend: \"monty\"")).of(Base::Monty),
        accepted("the confined backend", Front("backend", "backend: confined")),
        accepted("none named: the default of the policy", Prose("# Statistics of one table")),
    ],
};

pub(super) static MISMATCH: RuleDoc = RuleDoc {
    code: Code::BackendMismatch,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema of later date, backend; tool-exec policy, Backend monty",
    why: "Monty is an interpreter of Python without files, processes or network. A request that \
          declares any of them could not run as approved.",
    remedy: "Leave `inputs` and `outputs_expected` empty, write `network: none` and `language: \
             python`, or name another backend.",
    examples: &[
        rejected(
            "an input file",
            Front("inputs", "inputs:\n  - name: \"input.csv\"\n    sha256: \"«a1 × 32»\""),
        )
        .of(Base::Monty),
        rejected("another language", Front("language", "language: \"ruby\"")).of(Base::Monty),
        rejected(
            "an output file",
            All(&[
                Front(
                    "outputs_expected",
                    "outputs_expected:\n  - path: \"a.json\"\n    description: \"a\"",
                ),
                Section("Output Expectations", "- `/out/a.json`"),
            ]),
        )
        .of(Base::Monty),
        accepted("code only", Front("backend", "backend: \"monty\"")).of(Base::Monty),
        accepted("files in a backend that has them", Front("backend", "backend: ERA")),
    ],
};
