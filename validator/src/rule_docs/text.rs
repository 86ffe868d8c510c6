//! The documentation of `text.*`: characters and sizes. Hidden characters are written as escapes.

use super::ExampleChange::{All, Command, Front, Prose, Risk};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{DecidedBy, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static CONTROL: RuleDoc = RuleDoc {
    code: Code::TextControl,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "A control character can move the cursor, colour or erase the text of a terminal, or \
          break a line for some readers only.",
    remedy: "Remove it; save the file as UTF-8 without a byte order mark.",
    examples: &[
        rejected("an escape sequence", Prose("Statistics\u{1b}[8m of one table")),
        rejected("a lone carriage return", Prose("Statistics\rof one table")),
        rejected("a line separator", Prose("Statistics\u{2028}of one table")),
        accepted("a tab", Prose("Statistics\tof one table")),
        accepted("letters of other scripts", Prose("Statistik über 数 und λ")),
    ],
};

pub(super) static BIDI: RuleDoc = RuleDoc {
    code: Code::TextBidi,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md; Unicode Standard Annex 9",
    why: "Such a character shows text in another order than it is stored: a person approves one \
          line and another is executed.",
    remedy: "Remove it. Right-to-left text needs none.",
    examples: &[
        rejected("reversed", Prose("Statistics \u{202e}elbat eno fo")),
        rejected("an isolate", Prose("Statistics \u{2067}of one table\u{2069}")),
        accepted("letters that run to the left", Prose("Statistics: \u{5d0}\u{5d1}\u{5d2}")),
        accepted("plain text", Prose("Statistics of one table")),
    ],
};

pub(super) static CONFUSABLE: RuleDoc = RuleDoc {
    code: Code::TextConfusable,
    severity: RuleSeverity::Depends {
        error: "in front matter, command, names and hosts",
        warning: "in prose",
    },
    decided_by: TEXT,
    source: "docs/writing-requests.md; Unicode Technical Standard 39",
    why: "A character that looks like another makes a different name that no reader can \
          distinguish. Prose in many scripts needs joiners, so there it is a warning.",
    remedy: "Type the word again in plain ASCII.",
    examples: &[
        rejected(
            "a Cyrillic letter in the command's name",
            Command("pyth\u{43e}n script.py /in/input.csv"),
        ),
        rejected("an invisible character", Command("python script.py /in/input.csv a\u{200b}b")),
        rejected("a curly quote", Command("python script.py /in/input.csv \u{2018}a\u{2019}")),
        rejected(
            "a Cyrillic letter in the approver's name",
            Front("approved_by", "approved_by: \"\u{430}lice\""),
        ),
        rejected(
            "a host of Cyrillic letters that look like `apple`",
            All(&[
                Front("network", "network: \"allowlist\""),
                Front("network_allowlist", "network_allowlist: [\"xn--80ak6aa92e.com\"]"),
                Risk("Network rationale", "* Network rationale: reads rates from a host"),
            ]),
        ),
        rejected_with_warning("a joiner in prose", Prose("Statistics\u{200d} of one table")),
        accepted("plain ASCII", Command("python script.py /in/input.csv 'a'")),
        accepted("an accent in an argument", Command("python script.py /in/input.csv caf\u{e9}")),
    ],
};

pub(super) static NOT_UTF8: RuleDoc = RuleDoc {
    code: Code::TextNotUtf8,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md; RFC 3629",
    why: "Programs show bytes that are not UTF-8 differently, so it is unknown what the approver \
          saw.",
    remedy: "Save the file as UTF-8.",
    examples: &[
        rejected("Latin-1", Prose("Caf«byte e9» statistics")),
        rejected("a stray byte", Prose("Statistics «byte ff»")),
        accepted("UTF-8", Prose("Café statistics")),
        accepted("ASCII is UTF-8", Prose("Cafe statistics")),
    ],
};

pub(super) static TOO_LARGE: RuleDoc = RuleDoc {
    code: Code::TextTooLarge,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Text, DecidedBy::Spool],
    source: "docs/writing-requests.md",
    why: "A person reads a request before approving it. Data belongs in inputs, which have \
          digests.",
    remedy: "Put data into an input file; the maximum is 256 KiB for a request, 128 KiB and 8,000 \
             words for its command, and 4 MiB for a result.",
    examples: &[
        rejected("a request of 300 KB", Prose("«words⏎ × 50000»")),
        rejected("a command of 131 KB", Command("python script.py /in/input.csv «x × 131072»")),
        rejected("a command of 9,000 words", Command("python script.py /in/input.csv «x  × 9000»")),
        accepted("a long text", Prose("«words⏎ × 5000»")),
        accepted("a long word", Command("python script.py /in/input.csv «x × 5000»")),
    ],
};

pub(super) static NUL: RuleDoc = RuleDoc {
    code: Code::TextNul,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "For many programs a text ends at its first NUL byte. Some readers would see the text \
          after it and others would not.",
    remedy: "Remove the byte; a file with NUL bytes is usually not text, or UTF-16.",
    examples: &[
        rejected("in the text", Prose("Statistics\0of one table")),
        rejected("in an answer", Risk("Justification", "* Justification: reads\0one table")),
        accepted("no such byte", Prose("Statistics of one table")),
        accepted("the digit", Prose("Statistics 0 of one table")),
    ],
};
