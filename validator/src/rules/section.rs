//! The documentation of `section.*`.

use super::Example::{Prose, Section, Sections};
use super::case::{bad, good};
use super::{Base, Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static MISSING: Rule = Rule {
    code: Code::SectionMissing,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Sections; tool-result schema",
    why: "Each section answers a question of the approver. A section that is missing, or that a \
          Markdown reader does not show, leaves it open.",
    remedy: "Begin a line with exactly the required heading, outside of fences and comments.",
    cases: &[
        bad("no risk assessment", Sections(&["Command", "Input Files", "Output Expectations"])),
        bad("no input files", Sections(&["Command", "Output Expectations", "Risk Assessment"])),
        bad(
            "a result without one of its safety notes",
            Section(
                "Safety Notes",
                "- Untrusted Output Statement: data only\n- Unexpected behavior: None observed",
            ),
        )
        .of(Base::Result),
        good(
            "all four",
            Sections(&["Command", "Input Files", "Output Expectations", "Risk Assessment"]),
        ),
        good("a fence that is closed above them", Prose("```\nprint(1)\n```")),
    ],
};

pub(super) static ORDER: Rule = Rule {
    code: Code::SectionOrder,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Sections",
    why: "People who approve many requests know where to look. A fixed order shows them what is \
          unusual.",
    remedy: "Put the sections in the order Command, Input Files, Output Expectations, Risk \
             Assessment.",
    cases: &[
        bad(
            "outputs before inputs",
            Sections(&["Command", "Output Expectations", "Input Files", "Risk Assessment"]),
        ),
        bad(
            "the command last",
            Sections(&["Input Files", "Output Expectations", "Risk Assessment", "Command"]),
        ),
        good(
            "in order",
            Sections(&["Command", "Input Files", "Output Expectations", "Risk Assessment"]),
        ),
        good(
            "a result in its own order",
            Sections(&["Summary", "Provenance", "Outputs", "Stdout", "Stderr", "Safety Notes"]),
        )
        .of(Base::Result),
    ],
};

pub(super) static DUPLICATE: Rule = Rule {
    code: Code::SectionDuplicate,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Sections",
    why: "Of two sections with one name, the approver may read one and the program the other. A \
          rendered page shows headings of every level and style alike.",
    remedy: "Merge the two sections, or give the other heading other words.",
    cases: &[
        bad(
            "two commands",
            Sections(&[
                "Command",
                "Input Files",
                "Output Expectations",
                "Risk Assessment",
                "Command",
            ]),
        ),
        bad(
            "two risk assessments",
            Sections(&[
                "Command",
                "Input Files",
                "Output Expectations",
                "Risk Assessment",
                "Risk Assessment",
            ]),
        ),
        bad(
            "a smaller heading with a section's title",
            Section("Output Expectations", "### Command\n\n- /out/output.json"),
        ),
        bad("a larger one, in emphasis", Prose("# **Command**\n\npython other.py")),
        bad("an underlined one, with an entity", Prose("Comm&#97;nd\n=======\n\nother")),
        bad("indented, in other case", Prose("   ###### risk assessment ######")),
        good(
            "each once",
            Sections(&["Command", "Input Files", "Output Expectations", "Risk Assessment"]),
        ),
        good(
            "a smaller heading inside a section",
            Section("Output Expectations", "### Files\n\n- /out/output.json"),
        ),
        good("a title in a fence", Prose("```\n# Command\n```")),
    ],
};

pub(super) static UNEXPECTED: Rule = Rule {
    code: Code::SectionUnexpected,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Sections; design, Requests",
    why: "No rule checks an unknown section, and a misspelt title hides a required section.",
    remedy: "Correct the title, or use `###` for headings inside a section and `#` above the \
             first.",
    cases: &[
        bad(
            "a new section",
            Sections(&[
                "Command",
                "Input Files",
                "Output Expectations",
                "Risk Assessment",
                "Notes",
            ]),
        ),
        bad("underlined text is a heading to Markdown", Prose("Statistics\n----------")),
        good("a title above the sections", Prose("# Statistics of one table\n\nFor the report.")),
        good(
            "a smaller heading",
            Section("Output Expectations", "### Notes\n\n- /out/output.json: the means"),
        ),
    ],
};

pub(super) static HIDDEN: Rule = Rule {
    code: Code::SectionHidden,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "A Markdown reader does not show comments and tags, and `<details hidden>` hides all text \
          after it. The approver of the page would not see what counts.",
    remedy: "Write the line as plain text; put a literal `<` in backquotes.",
    cases: &[
        bad(
            "files in a comment",
            Section("Input Files", "<!--\n- `/in/input.csv`\n- `/in/script.py`\n-->"),
        ),
        bad(
            "outputs in an invisible block",
            Section(
                "Output Expectations",
                "<div style=\"display:none\">\n- /out/output.json\n</div>\n\nNone.",
            ),
        ),
        bad(
            "an element around the sections",
            Prose("<details hidden>\n\nNothing to see.\n\n</details>"),
        ),
        bad("a comment in the prose above", Prose("Means <!-- and more --> of one table.")),
        good("in backquotes", Section("Output Expectations", "- /out/output.json: `<mean>`")),
        good("a comparison in the prose above", Prose("Means of all rows with x < 3.")),
    ],
};
