//! The documentation of `backend.*`.

use super::Example::{All, Front, Prose, Section};
use super::case::{bad, good, warned};
use super::{Base, By, Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static VALUE: Rule = Rule {
    code: Code::BackendValue,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema of later date, backend; design, Requests",
    why: "The backend decides how a tool is confined. An unknown word could mean anything, so no \
          default replaces it.",
    remedy: "Write ERA, monty or confined exactly so, or remove the key.",
    cases: &[
        bad("another system", Front("backend", "backend: docker")),
        bad("small letters", Front("backend", "backend: era")),
        good("ERA", Front("backend", "backend: ERA")),
        good("confined", Front("backend", "backend: confined")),
    ],
};

pub(super) static UNAVAILABLE: Rule = Rule {
    code: Code::BackendUnavailable,
    severity: Weight::Depends {
        error: "when it is submitted or run",
        warning: "for the monty backend in lint, since no policy of this version offers it",
    },
    decided: &[By::Text, By::Policy, By::Host],
    source: "design, Requests",
    why: "A request for an unavailable backend is refused. Another backend could give the tool \
          less confinement, or other rights, than were approved.",
    remedy: "Name a backend that policy offers, with the sections of that backend.",
    cases: &[
        warned("the monty backend", Front("backend", "backend: monty")).of(Base::Monty),
        warned("in quotes", Front("backend", "backend: \"monty\"")).of(Base::Monty),
        good("the confined backend", Front("backend", "backend: confined")),
        good("none named: the default of the policy", Prose("# Statistics of one table")),
    ],
};

pub(super) static MISMATCH: Rule = Rule {
    code: Code::BackendMismatch,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema of later date, backend; tool-exec policy, Backend monty",
    why: "Monty is an interpreter of Python without files, processes or network. A request that \
          declares any of them could not run as approved.",
    remedy: "Leave `inputs` and `outputs_expected` empty, write `network: none` and `language: \
             python`, or name another backend.",
    cases: &[
        bad(
            "an input file",
            Front("inputs", "inputs:\n  - name: \"input.csv\"\n    sha256: \"«a1 × 32»\""),
        )
        .of(Base::Monty),
        bad("another language", Front("language", "language: \"ruby\"")).of(Base::Monty),
        bad(
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
        good("code only", Front("backend", "backend: \"monty\"")).of(Base::Monty),
        good("files in a backend that has them", Front("backend", "backend: ERA")),
    ],
};
