//! The documentation of `frontmatter.*`.

use super::ExampleChange::{All, Front, Prose, Top};
use super::example::{accepted, rejected};
use super::{Base, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static MISSING: RuleDoc = RuleDoc {
    code: Code::FrontmatterMissing,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Policy decides only on the keys of this block. Only a block at the very top is read, so \
          that no second block can be mistaken for it.",
    remedy: "Begin the file with a line that is exactly `---`, then the keys, then `---` again.",
    examples: &[
        rejected("words above the block", Top("Please run this.\n\n")),
        rejected("an empty line above the block", Top("\n")),
        accepted("the file begins with the block", Top("")),
        accepted(
            "a line `---` in the text below is only a line",
            Prose("A table.\n\n---\n\nIts mean."),
        ),
    ],
};

pub(super) static SYNTAX: RuleDoc = RuleDoc {
    code: Code::FrontmatterSyntax,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "YAML has many forms for one value, and parsers disagree on the rare ones. Only the \
          common forms are read: no anchors, aliases, tags or merges.",
    remedy: "Write out every value, and put a value with `:`, `&`, `*`, `!` or `#` in quotes.",
    examples: &[
        rejected(
            "a second colon without quotes",
            Front("purpose", "purpose: Table: find the mean"),
        ),
        rejected("an anchor", Front("purpose", "purpose: &why \"Find the mean.\"")),
        rejected("a tag", Front("purpose", "purpose: !text \"Find the mean.\"")),
        accepted("the same in quotes", Front("purpose", "purpose: \"Table: find the mean\"")),
        accepted(
            "a comment of its own",
            Front("purpose", "# in one line\npurpose: \"R&D: a mean\""),
        ),
    ],
};

pub(super) static MISSING_KEY: RuleDoc = RuleDoc {
    code: Code::FrontmatterMissingKey,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "The program would have to guess a missing value, and cannot know what the approver \
          meant. Only `network`, `network_allowlist` and `backend` are optional: no network, no \
          hosts, and the default backend of the policy.",
    remedy: "Add the key. An empty list is written `[]`.",
    examples: &[
        rejected("no language", Front("language", "")),
        rejected("no list of constraints", Front("constraints", "")),
        rejected("part of an agent", Front("x-agent", "x-agent: {name: reader}")),
        accepted("an empty list is present", Front("constraints", "constraints: []")),
        accepted("without `network` there is none", Front("network", "")),
    ],
};

pub(super) static UNKNOWN_KEY: RuleDoc = RuleDoc {
    code: Code::FrontmatterUnknownKey,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "A misspelt key would be ignored silently, and its setting would have no effect. Keys \
          that begin with `x-` are free for extensions.",
    remedy: "Correct the spelling, indent a key that belongs to a list item, or call it `x-…`.",
    examples: &[
        rejected("a new key", Front("priority", "priority: high")),
        rejected("a misspelt key", Front("backends", "backends: confined")),
        accepted("the same as an extension", Front("x-priority", "x-priority: high")),
        accepted("an optional key", Front("backend", "backend: confined")),
    ],
};

pub(super) static DUPLICATE_KEY: RuleDoc = RuleDoc {
    code: Code::FrontmatterDuplicateKey,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "Some parsers take the first value and others the last. The approved value would depend \
          on the program that shows it.",
    remedy: "Keep one of the two lines.",
    examples: &[
        rejected(
            "two limits",
            Front("time_limit_sec", "time_limit_sec: 120\ntime_limit_sec: 86400"),
        ),
        rejected("the same twice", Front("language", "language: python\nlanguage: python")),
        accepted("one limit", Front("time_limit_sec", "time_limit_sec: 120")),
        accepted("two extensions", Front("x-a", "x-a: one\nx-b: one")),
    ],
};

pub(super) static TYPE: RuleDoc = RuleDoc {
    code: Code::FrontmatterType,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "A number in quotes is text, and an unquoted word such as `no` or `1e3` may not be what \
          it seems. A program that converts a value has to guess.",
    remedy: "Write numbers without quotes, text that looks like a number with quotes, and lists as \
             `[]` or one `- ` line for each item.",
    examples: &[
        rejected("a number in quotes", Front("memory_limit_mb", "memory_limit_mb: \"1024\"")),
        rejected("a number where text belongs", Front("approved_by", "approved_by: 1000")),
        rejected("text where a list belongs", Front("constraints", "constraints: none")),
        rejected("a code in quotes", Front("exit_code", "exit_code: \"0\"")).of(Base::Result),
        accepted("a number", Front("memory_limit_mb", "memory_limit_mb: 512")),
        accepted("a user number as text", Front("approved_by", "approved_by: \"1000\"")),
    ],
};

pub(super) static VALUE: RuleDoc = RuleDoc {
    code: Code::FrontmatterValue,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Some keys have a fixed set of values, others are one readable line. The schema's \
          `human|core_draft` is a choice, not a value.",
    remedy: "Write one of the values in the hint, or one line of visible text.",
    examples: &[
        rejected(
            "the placeholder copied",
            Front("requested_by", "requested_by: \"human|core_draft\""),
        ),
        rejected("an empty purpose", Front("purpose", "purpose: \"\"")),
        rejected(
            "a hidden character by an escape",
            Front("purpose", "purpose: \"Find\\u202e it.\""),
        ),
        rejected("half an exit code", Front("exit_code", "exit_code: 0.5")).of(Base::Result),
        accepted("one choice", Front("requested_by", "requested_by: \"human\"")),
        accepted("one line", Front("purpose", "purpose: \"Find the mean.\"")),
    ],
};

pub(super) static TOO_LARGE: RuleDoc = RuleDoc {
    code: Code::FrontmatterTooLarge,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "The block has facts that a person reads in a minute. Its size, depth and number of \
          values are limited, so that reading it is always cheap.",
    remedy: "Move text below the block, and data into an input file.",
    examples: &[
        rejected("70,000 characters", Front("x-note", "x-note: «a × 70000»")),
        rejected("20,000 values", Front("x-list", "x-list: [«1, × 20000» 1]")),
        accepted("a thousand characters", Front("x-note", "x-note: «a × 1000»")),
        accepted("a hundred values", All(&[Front("x-list", "x-list: [«1, × 100» 1]")])),
    ],
};
