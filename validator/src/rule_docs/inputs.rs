//! The documentation of `inputs.*`.

use super::ExampleChange::{All, Command, Front, Section};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{Base, DecidedBy, ExampleChange, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

/// The inputs of the request, with this digest for its table.
macro_rules! inputs {
    ($digest:literal) => {
        concat!(
            "inputs:\n  - name: \"input.csv\"\n    sha256: \"",
            $digest,
            "\"\n  - name: \"script.py\"\n    sha256: \"«a1 × 32»\""
        )
    };
}

const BOTH: ExampleChange = Section("Input Files", "- /in/input.csv\n- /in/script.py");

pub(super) static HASH_MISSING: RuleDoc = RuleDoc {
    code: Code::InputsHashMissing,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Approval Gate",
    why: "The digest ties the approval to the bytes. Without it the file could be exchanged before \
          the run.",
    remedy: "Add the digest that `sha256sum FILE` prints.",
    examples: &[
        rejected(
            "no digest",
            Front(
                "inputs",
                "inputs:\n  - name: \"input.csv\"\n  - name: \"script.py\"\n    sha256: \"«a1 × \
                 32»\"",
            ),
        ),
        rejected("an empty digest", Front("inputs", inputs!(""))),
        accepted("a digest for each", Front("inputs", inputs!("«b2 × 32»"))),
        accepted(
            "no inputs, so no digests",
            All(&[
                Front("inputs", "inputs: []"),
                Command("python -c 'print(1)'"),
                Section("Input Files", "None."),
            ]),
        ),
    ],
};

pub(super) static HASH_FORMAT: RuleDoc = RuleDoc {
    code: Code::InputsHashFormat,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Text of another length is not a SHA-256. A placeholder such as `hex...` must not pass \
          for a digest.",
    remedy: "Write the 64 hexadecimal digits that `sha256sum FILE` prints.",
    examples: &[
        rejected("the schema's placeholder", Front("inputs", inputs!("hex..."))),
        rejected("cut short", Front("inputs", inputs!("«a1 × 20»"))),
        rejected("of a stream", Front("stdout_sha256", "stdout_sha256: \"none\"")).of(Base::Result),
        accepted("64 digits", Front("inputs", inputs!("«0f × 32»"))),
        accepted("of a stream", Front("stdout_sha256", "stdout_sha256: \"«0f × 32»\""))
            .of(Base::Result),
    ],
};

pub(super) static NAME: RuleDoc = RuleDoc {
    code: Code::InputsName,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "The name becomes a path below /in. Dots, slashes and unusual characters could lead out \
          of that directory or name a hidden file.",
    remedy: "Write the path below /in: up to 8 parts of letters, digits, `.`, `_` and `-`, none \
             of them beginning with a dot. End the name of a folder with `/`.",
    examples: &[
        rejected(
            "out of the directory",
            Front(
                "inputs",
                concat!(
                    inputs!("«a1 × 32»"),
                    "\n  - name: \"../rates.csv\"\n    sha256: \"«a1 \
                                 × 32»\""
                ),
            ),
        ),
        rejected(
            "a hidden file",
            Front(
                "inputs",
                concat!(
                    inputs!("«a1 × 32»"),
                    "\n  - name: \".netrc\"\n    sha256: \
                   \"«a1 × 32»\""
                ),
            ),
        ),
        accepted(
            "a file in a folder",
            All(&[
                Front(
                    "inputs",
                    "inputs:\n  - name: \"data/in-2.csv\"\n    sha256: \"«a1 × 32»\"\n  - name: \
                     \"script.py\"\n    sha256: \"«a1 × 32»\"",
                ),
                Command("python script.py /in/data/in-2.csv"),
                Section("Input Files", "- /in/data/in-2.csv\n- /in/script.py"),
            ]),
        ),
        accepted(
            "a folder",
            All(&[
                Front("inputs", "inputs:\n  - name: \"repo/\"\n    sha256: \"«a1 × 32»\""),
                Command("python -m unittest discover -s /in/repo/tests"),
                Section("Input Files", "- /in/repo/"),
            ]),
        ),
        accepted("plain names", BOTH),
    ],
};

pub(super) static DUPLICATE: RuleDoc = RuleDoc {
    code: Code::InputsDuplicate,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "Two entries for one path do not define its bytes, and a path cannot be a file and a \
          folder at once.",
    remedy: "Give each input its own path. Leave out what a declared folder contains.",
    examples: &[
        rejected(
            "the same twice",
            Front(
                "inputs",
                concat!(
                    inputs!("«a1 × 32»"),
                    "\n  - name: \"input.csv\"\n    sha256: \"«b2 × \
                                 32»\""
                ),
            ),
        ),
        rejected(
            "a file and a folder",
            All(&[
                Front(
                    "inputs",
                    concat!(
                        inputs!("«a1 × 32»"),
                        "\n  - name: \"script.py/a\"\n    sha256: \
                                     \"«a1 × 32»\""
                    ),
                ),
                Section("Input Files", "- /in/input.csv\n- /in/script.py\n- /in/script.py/a"),
            ]),
        ),
        rejected(
            "a folder and a file in it",
            All(&[
                Front(
                    "inputs",
                    concat!(
                        inputs!("«a1 × 32»"),
                        "\n  - name: \"repo/\"\n    sha256: \"«a1 × 32»\"",
                        "\n  - name: \"repo/rates.csv\"\n    sha256: \"«b2 × 32»\""
                    ),
                ),
                Section(
                    "Input Files",
                    "- /in/input.csv\n- /in/script.py\n- /in/repo/\n- /in/repo/rates.csv",
                ),
            ]),
        ),
        accepted(
            "alike, but not the same",
            All(&[
                Front(
                    "inputs",
                    "inputs:\n  - name: \"input.csv\"\n    sha256: \"«a1 × 32»\"\n  - name: \
                     \"old/input.csv\"\n    sha256: \"«a1 × 32»\"\n  - name: \"script.py\"\n    \
                     sha256: \"«a1 × 32»\"",
                ),
                Section("Input Files", "- /in/input.csv\n- /in/old/input.csv\n- /in/script.py"),
            ]),
        ),
        accepted("two files", BOTH),
    ],
};

pub(super) static MISSING: RuleDoc = RuleDoc {
    code: Code::InputsMissing,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Text, DecidedBy::Spool],
    source: "tool-request schema, Input Files",
    why: "The approver reads the section, and the tool gets the directory. Each must contain every \
          file that the front matter declares.",
    remedy: "List the file under `## Input Files`, and put it into `<request>.inputs/`.",
    examples: &[
        rejected("one is not listed", Section("Input Files", "- /in/input.csv")),
        rejected("none is listed", Section("Input Files", "None.")),
        accepted("both are listed", BOTH),
        accepted(
            "as a table",
            Section("Input Files", "| /in/input.csv | data |\n| /in/script.py | |"),
        ),
    ],
};

pub(super) static MISMATCH: RuleDoc = RuleDoc {
    code: Code::InputsMismatch,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Text, DecidedBy::Spool],
    source: "tool-request schema, Input Files",
    why: "Two digests mean two files. The file that the approver read may not be the one that the \
          tool gets.",
    remedy: "Restore the approved file, or write its new digest and have it approved again.",
    examples: &[
        rejected(
            "section and front matter differ",
            Section("Input Files", "- /in/input.csv sha256: «b2 × 32»\n- /in/script.py"),
        ),
        rejected(
            "the digest alone, beside the path",
            Section("Input Files", "- /in/input.csv\n- /in/script.py («ff × 32»)"),
        ),
        accepted(
            "the same digest",
            Section("Input Files", "- /in/input.csv sha256: «a1 × 32»\n- /in/script.py"),
        ),
        accepted("the digests stand in the front matter only", BOTH),
    ],
};

pub(super) static UNDECLARED: RuleDoc = RuleDoc {
    code: Code::InputsUndeclared,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Text, DecidedBy::Spool],
    source: "tool-request schema, Input Files",
    why: "A file without a declared digest could have any content at the time of the run.",
    remedy: "Declare the file under `inputs` with its sha256, or remove it.",
    examples: &[
        rejected(
            "listed, but not declared",
            Section("Input Files", "- /in/input.csv\n- /in/script.py\n- /in/rates.csv"),
        ),
        rejected(
            "named in a remark",
            Section("Input Files", "- /in/input.csv, made from /in/raw.csv\n- /in/script.py"),
        ),
        accepted("only declared files", BOTH),
        accepted(
            "a remark without a path",
            Section("Input Files", "- /in/input.csv, made from the raw data\n- /in/script.py"),
        ),
    ],
};

pub(super) static UNUSED: RuleDoc = RuleDoc {
    code: Code::InputsUnused,
    severity: RuleSeverity::Warning,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "A file that the command does not name may be a mistake, and the tool can read it. A \
          script may open it by itself, so this is only a warning.",
    remedy: "Name the file in the command, or remove it.",
    examples: &[
        rejected_with_warning(
            "a file without a use",
            Command("python script.py --out /out/output.json"),
        ),
        rejected_with_warning("only the other one", Command("python -u script.py")),
        accepted("both are named", Command("python script.py /in/input.csv")),
        accepted("by a relative path", Command("python script.py --in=input.csv")),
    ],
};
