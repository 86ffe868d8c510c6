//! The documentation of `code.*`: the sections of the monty backend.

use super::ExampleChange::{All, Section, Sections, Situation};
use super::example::{accepted, rejected};
use super::{Base, DecidedBy, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static EMPTY: RuleDoc = RuleDoc {
    code: Code::CodeEmpty,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema of later date, Monty sections",
    why: "A request without code has nothing to approve or to run.",
    remedy: "Write the program under `## Code`.",
    examples: &[
        rejected("nothing", Section("Code", "")).of(Base::Monty),
        rejected("empty lines", Section("Code", "\n\n")).of(Base::Monty),
        accepted("an expression", Section("Code", "sum(rows)")).of(Base::Monty),
        accepted("several lines", Section("Code", "total = sum(rows)\ntotal / len(rows)"))
            .of(Base::Monty),
    ],
};

pub(super) static FORBIDDEN: RuleDoc = RuleDoc {
    code: Code::CodeForbidden,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "threegate, tools/validate_tool_request.py",
    why: "The monty backend refuses the names by which Python code reaches files, modules or its \
          own interpreter. The interpreter has none of these; the check reports it before an \
          approval.",
    remedy: "Compute with plain values only; for files or modules name the confined backend.",
    examples: &[
        rejected("a module", Section("Code", "import os\nos.listdir()")).of(Base::Monty),
        rejected("a file", Section("Code", "open('a.txt').read()")).of(Base::Monty),
        rejected("code from text", Section("Code", "eval('1 + 1')")).of(Base::Monty),
        accepted("plain values", Section("Code", "sum(rows)")).of(Base::Monty),
        accepted("a longer word is another word", Section("Code", "important = 1\nimportant"))
            .of(Base::Monty),
    ],
};

pub(super) static UNSUPPORTED: RuleDoc = RuleDoc {
    code: Code::CodeUnsupported,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Host],
    source: "docs/monty.md",
    why: "Monty has a subset of Python. `toolexec lint` lets monty compile the code, so that the \
          author learns of a missing construct before an approval.",
    remedy: "Write the line with other constructs (docs/monty.md has the list), or name another \
             backend.",
    examples: &[
        rejected("a statement", Situation("The code has `del total`, which monty does not have.")),
        rejected("an error of syntax", Situation("A parenthesis in the code is not closed.")),
        accepted("what monty compiles", Situation("The code is `sum(rows)`.")),
        accepted(
            "no interpreter",
            Situation("`toolexec-monty` is not installed; `lint` notes that it was not asked."),
        ),
    ],
};

pub(super) static INPUTS: RuleDoc = RuleDoc {
    code: Code::CodeInputs,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema of later date, Monty sections",
    why: "Each key of the object becomes a variable of the program. A list has no names, and a key \
          with a space cannot be a variable.",
    remedy: "Write one JSON object whose keys are Python names, or remove the section.",
    examples: &[
        rejected("a list", Section("Inputs (JSON)", "[1, 2]")).of(Base::Monty),
        rejected("a key that is not a name", Section("Inputs (JSON)", "{\"all rows\": [1, 2]}"))
            .of(Base::Monty),
        rejected("text that is not JSON", Section("Inputs (JSON)", "rows = [1, 2]"))
            .of(Base::Monty),
        accepted("an object", Section("Inputs (JSON)", "{\"rows\": [1, 2]}")).of(Base::Monty),
        accepted(
            "no inputs",
            All(&[
                Section("Code", "1 + 2"),
                Sections(&["Code", "Output Expectations", "Risk Assessment"]),
            ]),
        )
        .of(Base::Monty),
    ],
};
