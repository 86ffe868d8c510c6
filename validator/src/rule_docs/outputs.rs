//! The documentation of `outputs.*`.

use super::ExampleChange::{All, Command, Front, Section};
use super::example::{accepted, rejected};
use super::{ExampleChange, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static PATH: RuleDoc = RuleDoc {
    code: Code::OutputsPath,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Output Expectations",
    why: "The approver reads the section and the program reads the front matter. Both must name \
          the same files, by paths that are valid on every system.",
    remedy: "List under `## Output Expectations` exactly the paths of `outputs_expected`: files \
             below /out, of letters, digits, `.`, `_` and `-`.",
    examples: &[
        rejected("declared, but not listed", Section("Output Expectations", "One file of means.")),
        rejected(
            "listed, but not declared",
            Section("Output Expectations", "- /out/output.json\n- /out/plot.png"),
        ),
        rejected(
            "a hidden file",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \".cache\"\n    description: \"none\"",
            ),
        ),
        accepted(
            "the same in both",
            Section("Output Expectations", "- /out/output.json: the means"),
        ),
        accepted(
            "none in both",
            All(&[
                Front("outputs_expected", "outputs_expected: []"),
                Section("Output Expectations", "None."),
            ]),
        ),
    ],
};

pub(super) static OUTSIDE_OUT: RuleDoc = RuleDoc {
    code: Code::OutputsOutsideOut,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Output Expectations",
    why: "Files are collected from /out only. Another directory is a mistake or an attempt to \
          write on the host.",
    remedy: "Write a path below /out, with or without the `/out/`.",
    examples: &[
        rejected(
            "on the host",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"\n  \
                 - path: \"/etc/motd\"\n    description: \"a greeting\"",
            ),
        ),
        rejected(
            "by `..`",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"\n  \
                 - path: \"../in/input.csv\"\n    description: \"the table\"",
            ),
        ),
        accepted(
            "relative",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"",
            ),
        ),
        accepted(
            "absolute",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"/out/output.json\"\n    description: \"the means\"",
            ),
        ),
    ],
};

pub(super) static DUPLICATE: RuleDoc = RuleDoc {
    code: Code::OutputsDuplicate,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "One file cannot meet two expectations, and a file cannot have a path below it.",
    remedy: "Give each output its own path; `a` and `/out/a` are the same.",
    examples: &[
        rejected(
            "two spellings of one path",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"\n  \
                 - path: \"/out/output.json\"\n    description: \"the counts\"",
            ),
        ),
        rejected(
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
        accepted(
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
        accepted("one file", Section("Output Expectations", "* **/out/output.json** the means")),
    ],
};

/// A folder as the only input, and a script of it.
const FOLDER: ExampleChange = All(&[
    Front("inputs", "inputs:\n  - name: \"repo/\"\n    sha256: \"«a1 × 32»\""),
    Command("python fix.py"),
    Section("Input Files", "- /in/repo/"),
]);

/// The outputs of a request: its patch, and these lines after it.
macro_rules! patch {
    ($more:literal) => {
        concat!(
            "outputs_expected:\n  - path: \"changes.patch\"\n    description: \"the changes\"\n    \
             x-patch-of: \"repo/\"",
            $more
        )
    };
}

pub(super) static PATCH: RuleDoc = RuleDoc {
    code: Code::OutputsPatch,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "TOOL-EXEC compares one declared folder with the tool's copy of it, /out/work. Another \
          output there would be part of the patch.",
    remedy: "Give one output `x-patch-of`, with the name of a folder of `inputs`: `repo/`. Write \
             no other output to `work/`.",
    examples: &[
        rejected(
            "a file instead of a folder",
            Front(
                "outputs_expected",
                "outputs_expected:\n  - path: \"output.json\"\n    description: \"the means\"\n    \
                 x-patch-of: \"input.csv\"",
            ),
        ),
        rejected(
            "a folder that is not declared",
            All(&[
                Command("python /in/script.py /in/input.csv"),
                Front("outputs_expected", patch!("")),
                Section("Output Expectations", "- /out/changes.patch"),
            ]),
        ),
        rejected(
            "two patches",
            All(&[
                FOLDER,
                Front(
                    "outputs_expected",
                    patch!(
                        "\n  - path: \"again.patch\"\n    description: \"the same\"\n    \
                         x-patch-of: \"repo/\""
                    ),
                ),
                Section("Output Expectations", "- /out/changes.patch\n- /out/again.patch"),
            ]),
        ),
        rejected(
            "another output in the copy",
            All(&[
                FOLDER,
                Front(
                    "outputs_expected",
                    patch!("\n  - path: \"work/report.txt\"\n    description: \"a report\""),
                ),
                Section("Output Expectations", "- /out/changes.patch\n- /out/work/report.txt"),
            ]),
        ),
        accepted(
            "the changes to a folder",
            All(&[
                FOLDER,
                Front("outputs_expected", patch!("")),
                Section("Output Expectations", "- /out/changes.patch"),
            ]),
        ),
        accepted(
            "a text that names the copy",
            All(&[
                FOLDER,
                Front("outputs_expected", patch!("")),
                Section("Output Expectations", "- /out/changes.patch: of /out/work/src"),
            ]),
        ),
    ],
};
