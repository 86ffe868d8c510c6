//! The documentation of `code.*`: the sections of the monty backend.

use super::ExampleChange::{All, Section, Sections};
use super::example::{accepted, rejected};
use super::{Base, RuleDoc, RuleSeverity, TEXT};
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
