//! The documentation of `section.*`.

use super::ExampleChange::{Prose, Section, Sections};
use super::example::{accepted, rejected};
use super::{Base, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static MISSING: RuleDoc = RuleDoc {
    code: Code::SectionMissing,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Sections; tool-result schema",
    why: "Each section answers a question of the approver. A section that is missing, or that a \
          Markdown reader does not show, leaves it open.",
    remedy: "Begin a line with exactly the required heading, outside of fences and comments.",
    examples: &[
        rejected(
            "no risk assessment",
            Sections(&["Command", "Input Files", "Output Expectations"]),
        ),
        rejected(
            "no input files",
            Sections(&["Command", "Output Expectations", "Risk Assessment"]),
        ),
        rejected(
            "a result without one of its safety notes",
            Section(
                "Safety Notes",
                "- Untrusted Output Statement: data only\n- Unexpected behavior: None observed",
            ),
        )
        .of(Base::Result),
        accepted(
            "all four",
            Sections(&["Command", "Input Files", "Output Expectations", "Risk Assessment"]),
        ),
        accepted("a fence that is closed above them", Prose("```\nprint(1)\n```")),
    ],
};

pub(super) static ORDER: RuleDoc = RuleDoc {
    code: Code::SectionOrder,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Sections",
    why: "People who approve many requests know where to look. A fixed order shows them what is \
          unusual.",
    remedy: "Put the sections in the order Command, Input Files, Output Expectations, Risk \
             Assessment.",
    examples: &[
        rejected(
            "outputs before inputs",
            Sections(&["Command", "Output Expectations", "Input Files", "Risk Assessment"]),
        ),
        rejected(
            "the command last",
            Sections(&["Input Files", "Output Expectations", "Risk Assessment", "Command"]),
        ),
        accepted(
            "in order",
            Sections(&["Command", "Input Files", "Output Expectations", "Risk Assessment"]),
        ),
        accepted(
            "a result in its own order",
            Sections(&["Summary", "Provenance", "Outputs", "Stdout", "Stderr", "Safety Notes"]),
        )
        .of(Base::Result),
    ],
};

pub(super) static DUPLICATE: RuleDoc = RuleDoc {
    code: Code::SectionDuplicate,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Sections",
    why: "Of two sections with one name, the approver may read one and the program the other. A \
          rendered page shows headings of every level and style alike.",
    remedy: "Merge the two sections, or give the other heading other words.",
    examples: &[
        rejected(
            "two commands",
            Sections(&[
                "Command",
                "Input Files",
                "Output Expectations",
                "Risk Assessment",
                "Command",
            ]),
        ),
        rejected(
            "two risk assessments",
            Sections(&[
                "Command",
                "Input Files",
                "Output Expectations",
                "Risk Assessment",
                "Risk Assessment",
            ]),
        ),
        rejected(
            "a smaller heading with a section's title",
            Section("Output Expectations", "### Command\n\n- /out/output.json"),
        ),
        rejected("a larger one, in emphasis", Prose("# **Command**\n\npython other.py")),
        rejected("an underlined one, with an entity", Prose("Comm&#97;nd\n=======\n\nother")),
        rejected("indented, in other case", Prose("   ###### risk assessment ######")),
        accepted(
            "each once",
            Sections(&["Command", "Input Files", "Output Expectations", "Risk Assessment"]),
        ),
        accepted(
            "a smaller heading inside a section",
            Section("Output Expectations", "### Files\n\n- /out/output.json"),
        ),
        accepted("a title in a fence", Prose("```\n# Command\n```")),
    ],
};

pub(super) static UNEXPECTED: RuleDoc = RuleDoc {
    code: Code::SectionUnexpected,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Sections; docs/writing-requests.md",
    why: "No rule checks an unknown section, and a misspelt title hides a required section.",
    remedy: "Correct the title, or use `###` for headings inside a section and `#` above the \
             first.",
    examples: &[
        rejected(
            "a new section",
            Sections(&[
                "Command",
                "Input Files",
                "Output Expectations",
                "Risk Assessment",
                "Notes",
            ]),
        ),
        rejected("underlined text is a heading to Markdown", Prose("Statistics\n----------")),
        accepted(
            "a title above the sections",
            Prose("# Statistics of one table\n\nFor the report."),
        ),
        accepted(
            "a smaller heading",
            Section("Output Expectations", "### Notes\n\n- /out/output.json: the means"),
        ),
    ],
};

pub(super) static HIDDEN: RuleDoc = RuleDoc {
    code: Code::SectionHidden,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "A Markdown reader does not show comments and tags, and `<details hidden>` hides all text \
          after it. The approver of the page would not see what counts.",
    remedy: "Write the line as plain text; put a literal `<` in backquotes.",
    examples: &[
        rejected(
            "files in a comment",
            Section("Input Files", "<!--\n- `/in/input.csv`\n- `/in/script.py`\n-->"),
        ),
        rejected(
            "outputs in an invisible block",
            Section(
                "Output Expectations",
                "<div style=\"display:none\">\n- /out/output.json\n</div>\n\nNone.",
            ),
        ),
        rejected(
            "an element around the sections",
            Prose("<details hidden>\n\nNothing to see.\n\n</details>"),
        ),
        rejected("a comment in the prose above", Prose("Means <!-- and more --> of one table.")),
        accepted("in backquotes", Section("Output Expectations", "- /out/output.json: `<mean>`")),
        accepted("a comparison in the prose above", Prose("Means of all rows with x < 3.")),
    ],
};
