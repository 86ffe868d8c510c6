//! The documentation of `backend.*`.

use super::ExampleChange::{All, Command, Front, Section, Situation};
use super::example::{accepted, rejected};
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
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Policy, DecidedBy::Host],
    source: "docs/backends.md",
    why: "A request for an unavailable backend is refused. Another backend could give the tool \
          less confinement, or other rights, than were approved.",
    remedy: "Name a backend that policy offers, with the sections of that backend, or ask the \
             operator to install it.",
    examples: &[
        rejected(
            "not in the policy",
            Situation("The request has `backend: ERA`, and policy has no entry `ERA`."),
        ),
        rejected(
            "another program",
            Situation("The program of the backend has another digest than policy pins."),
        ),
        rejected(
            "a changed program",
            Situation("The program of the backend changed after the daemon had read it."),
        ),
        accepted(
            "in the policy and installed",
            Situation("Policy has an entry `monty`, and its program is installed."),
        ),
        accepted(
            "none named",
            Situation("The request names no backend, so that of policy runs it."),
        ),
    ],
};

pub(super) static MISMATCH: RuleDoc = RuleDoc {
    code: Code::BackendMismatch,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Text, DecidedBy::Policy],
    source: "tool-request schema of later date, backend; tool-exec policy, Backend monty",
    why: "An interpreter has no processes, network, environments or patches, and code in a \
          request has no files either. A virtual machine runs only commands of its root images, \
          without a network. A request that needs anything else could not run as approved.",
    remedy: "For code, leave `inputs` and `outputs_expected` empty; for a script, write `python` \
             and the name of an input; for a virtual machine, write a `## Command` whose first \
             word the policy offers. Write `network: none`, and `language: python` for an \
             interpreter. Else name another backend.",
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
        rejected("a command that is not a script", Front("backend", "backend: monty")),
        accepted("code only", Front("backend", "backend: \"monty\"")).of(Base::Monty),
        accepted(
            "a script with files",
            All(&[
                Front("backend", "backend: monty"),
                Command("python script.py --in /in/input.csv --out /out/output.json"),
            ]),
        ),
        accepted("files in a backend that has them", Front("backend", "backend: ERA")),
    ],
};
