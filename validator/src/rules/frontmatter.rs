//! The documentation of `frontmatter.*`.

use super::Example::{All, Front, Prose, Top};
use super::case::{bad, good};
use super::{Base, Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static MISSING: Rule = Rule {
    code: Code::FrontmatterMissing,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Policy decides only on the keys of this block. Only a block at the very top is read, so \
          that no second block can be mistaken for it.",
    remedy: "Begin the file with a line that is exactly `---`, then the keys, then `---` again.",
    cases: &[
        bad("words above the block", Top("Please run this.\n\n")),
        bad("an empty line above the block", Top("\n")),
        good("the file begins with the block", Top("")),
        good(
            "a line `---` in the text below is only a line",
            Prose("A table.\n\n---\n\nIts mean."),
        ),
    ],
};

pub(super) static SYNTAX: Rule = Rule {
    code: Code::FrontmatterSyntax,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "YAML has many forms for one value, and parsers disagree on the rare ones. Only the \
          common forms are read: no anchors, aliases, tags or merges.",
    remedy: "Write out every value, and put a value with `:`, `&`, `*`, `!` or `#` in quotes.",
    cases: &[
        bad("a second colon without quotes", Front("purpose", "purpose: Table: find the mean")),
        bad("an anchor", Front("purpose", "purpose: &why \"Find the mean.\"")),
        bad("a tag", Front("purpose", "purpose: !text \"Find the mean.\"")),
        good("the same in quotes", Front("purpose", "purpose: \"Table: find the mean\"")),
        good("a comment of its own", Front("purpose", "# in one line\npurpose: \"R&D: a mean\"")),
    ],
};

pub(super) static MISSING_KEY: Rule = Rule {
    code: Code::FrontmatterMissingKey,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "The program would have to guess a missing value, and cannot know what the approver \
          meant. Only `network`, `network_allowlist` and `backend` are optional: no network, no \
          hosts, and the default backend of the policy.",
    remedy: "Add the key. An empty list is written `[]`.",
    cases: &[
        bad("no language", Front("language", "")),
        bad("no list of constraints", Front("constraints", "")),
        bad("part of an agent", Front("x-agent", "x-agent: {name: reader}")),
        good("an empty list is present", Front("constraints", "constraints: []")),
        good("without `network` there is none", Front("network", "")),
    ],
};

pub(super) static UNKNOWN_KEY: Rule = Rule {
    code: Code::FrontmatterUnknownKey,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "A misspelt key would be ignored silently, and its setting would have no effect. Keys \
          that begin with `x-` are free for extensions.",
    remedy: "Correct the spelling, indent a key that belongs to a list item, or call it `x-…`.",
    cases: &[
        bad("a new key", Front("priority", "priority: high")),
        bad("a misspelt key", Front("backends", "backends: confined")),
        good("the same as an extension", Front("x-priority", "x-priority: high")),
        good("an optional key", Front("backend", "backend: confined")),
    ],
};

pub(super) static DUPLICATE_KEY: Rule = Rule {
    code: Code::FrontmatterDuplicateKey,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "Some parsers take the first value and others the last. The approved value would depend \
          on the program that shows it.",
    remedy: "Keep one of the two lines.",
    cases: &[
        bad("two limits", Front("time_limit_sec", "time_limit_sec: 120\ntime_limit_sec: 86400")),
        bad("the same twice", Front("language", "language: python\nlanguage: python")),
        good("one limit", Front("time_limit_sec", "time_limit_sec: 120")),
        good("two extensions", Front("x-a", "x-a: one\nx-b: one")),
    ],
};

pub(super) static TYPE: Rule = Rule {
    code: Code::FrontmatterType,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "A number in quotes is text, and an unquoted word such as `no` or `1e3` may not be what \
          it seems. A program that converts a value has to guess.",
    remedy: "Write numbers without quotes, text that looks like a number with quotes, and lists as \
             `[]` or one `- ` line for each item.",
    cases: &[
        bad("a number in quotes", Front("memory_limit_mb", "memory_limit_mb: \"1024\"")),
        bad("a number where text belongs", Front("approved_by", "approved_by: 1000")),
        bad("text where a list belongs", Front("constraints", "constraints: none")),
        bad("a code in quotes", Front("exit_code", "exit_code: \"0\"")).of(Base::Result),
        good("a number", Front("memory_limit_mb", "memory_limit_mb: 512")),
        good("a user number as text", Front("approved_by", "approved_by: \"1000\"")),
    ],
};

pub(super) static VALUE: Rule = Rule {
    code: Code::FrontmatterValue,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Some keys have a fixed set of values, others are one readable line. The schema's \
          `human|core_draft` is a choice, not a value.",
    remedy: "Write one of the values in the hint, or one line of visible text.",
    cases: &[
        bad("the placeholder copied", Front("requested_by", "requested_by: \"human|core_draft\"")),
        bad("an empty purpose", Front("purpose", "purpose: \"\"")),
        bad("a hidden character by an escape", Front("purpose", "purpose: \"Find\\u202e it.\"")),
        bad("half an exit code", Front("exit_code", "exit_code: 0.5")).of(Base::Result),
        good("one choice", Front("requested_by", "requested_by: \"human\"")),
        good("one line", Front("purpose", "purpose: \"Find the mean.\"")),
    ],
};

pub(super) static TOO_LARGE: Rule = Rule {
    code: Code::FrontmatterTooLarge,
    severity: Weight::Error,
    decided: TEXT,
    source: "design, Requests",
    why: "The block has facts that a person reads in a minute. Its size, depth and number of \
          values are limited, so that reading it is always cheap.",
    remedy: "Move text below the block, and data into an input file.",
    cases: &[
        bad("70,000 characters", Front("x-note", "x-note: «a × 70000»")),
        bad("20,000 values", Front("x-list", "x-list: [«1, × 20000» 1]")),
        good("a thousand characters", Front("x-note", "x-note: «a × 1000»")),
        good("a hundred values", All(&[Front("x-list", "x-list: [«1, × 100» 1]")])),
    ],
};
