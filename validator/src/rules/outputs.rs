//! The documentation of `outputs.*`.

use super::Example::{All, Front, Section};
use super::case::{bad, good};
use super::{Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static PATH: Rule = Rule {
    code: Code::OutputsPath,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Output Expectations",
    why: "The approver reads the section and the program reads the front matter. Both must name \
          the same files, by paths that are valid on every system.",
    remedy: "List under `## Output Expectations` exactly the paths of `outputs_expected`: files \
             below /out, of letters, digits, `.`, `_` and `-`.",
    cases: &[
        bad("declared, but not listed", Section("Output Expectations", "One file of means.")),
        bad(
            "listed, but not declared",
            Section("Output Expectations", "- /out/output.json\n- /out/plot.png"),
        ),
        bad(
            "a hidden file",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \".cache\"\n    description: \"none\"",
            ),
        ),
        good("the same in both", Section("Output Expectations", "- /out/output.json: the means")),
        good(
            "none in both",
            All(&[
                Front("outputs_expected", "outputs_expected: []"),
                Section("Output Expectations", "None."),
            ]),
        ),
    ],
};

pub(super) static OUTSIDE_OUT: Rule = Rule {
    code: Code::OutputsOutsideOut,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Output Expectations",
    why: "Files are collected from /out only. Another directory is a mistake or an attempt to \
          write on the host.",
    remedy: "Write a path below /out, with or without the `/out/`.",
    cases: &[
        bad(
            "on the host",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"\n  \
                 - path: \"/etc/motd\"\n    description: \"a greeting\"",
            ),
        ),
        bad(
            "by `..`",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"\n  \
                 - path: \"../in/input.csv\"\n    description: \"the table\"",
            ),
        ),
        good(
            "relative",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"",
            ),
        ),
        good(
            "absolute",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"/out/output.json\"\n    description: \"the means\"",
            ),
        ),
    ],
};

pub(super) static DUPLICATE: Rule = Rule {
    code: Code::OutputsDuplicate,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "One file cannot meet two expectations, and a file cannot have a path below it.",
    remedy: "Give each output its own path; `a` and `/out/a` are the same.",
    cases: &[
        bad(
            "two spellings of one path",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"\n  \
                 - path: \"/out/output.json\"\n    description: \"the counts\"",
            ),
        ),
        bad(
            "a file and a folder",
            All(&[
                Front(
                    "outputs_expected",
                    "outputs_expected:\n  - path: \"output.json\"\n    description: \"a\"\n  \
                     - path: \"output.json/b\"\n    description: \"b\"",
                ),
                Section("Output Expectations", "- /out/output.json\n- /out/output.json/b"),
            ]),
        ),
        good(
            "two files",
            All(&[
                Front(
                    "outputs_expected",
                    "outputs_expected:\n  - path: \"output.json\"\n    description: \"a\"\n  \
                     - path: \"plots/output.json\"\n    description: \"b\"",
                ),
                Section("Output Expectations", "- /out/output.json\n- /out/plots/output.json"),
            ]),
        ),
        good("one file", Section("Output Expectations", "* **/out/output.json** the means")),
    ],
};
