//! The documentation of `risk.*`.

use super::Example::{All, Front, Risk};
use super::case::{bad, good};
use super::{Rule, TEXT, Weight};
use crate::code::Code;

const SOURCE: &str = "tool-request schema, Risk Assessment";

pub(super) static MISSING: Rule = Rule {
    code: Code::RiskMissing,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "The approver weighs these four lines. A missing line is an unanswered question.",
    remedy: "Begin one line each with `Risk level:`, `Justification:`, `Data sensitivity:` and \
             `Network rationale:`.",
    cases: &[
        bad("no level", Risk("Risk level", "")),
        bad("no rationale", Risk("Network rationale", "")),
        good("a line in bold", Risk("Risk level", "**Risk level:** low")),
        good("a rationale may be empty", Risk("Network rationale", "* Network rationale:")),
    ],
};

pub(super) static LEVEL: Rule = Rule {
    code: Code::RiskLevel,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "Policy weighs the level and only ever raises it. It cannot weigh an unknown word.",
    remedy: "Write low, medium or high.",
    cases: &[
        bad("the placeholder copied", Risk("Risk level", "* Risk level: low|medium|high")),
        bad("another word", Risk("Risk level", "* Risk level: minimal")),
        good("low", Risk("Risk level", "* Risk level: low")),
        good("capitals do not matter", Risk("Risk level", "* Risk level: High")),
    ],
};

pub(super) static JUSTIFICATION: Rule = Rule {
    code: Code::RiskJustification,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "A level without a reason cannot be judged. One sentence on what the tool does and \
          touches is enough.",
    remedy: "Give the reason for the level after `Justification:`.",
    cases: &[
        bad("empty", Risk("Justification", "* Justification:")),
        bad(
            "given twice, with two answers",
            Risk("Justification", "* Justification: one\n* Justification: two"),
        ),
        good("a reason", Risk("Justification", "* Justification: reads one public table")),
        good(
            "on the next line",
            Risk("Justification", "* Justification:\n  reads one public table"),
        ),
    ],
};

pub(super) static SENSITIVITY: Rule = Rule {
    code: Code::RiskSensitivity,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "The sensitivity of the data decides who may approve it and where it may go. Policy knows \
          only the three classes of the schema.",
    remedy: "Write public, internal or confidential.",
    cases: &[
        bad("another word", Risk("Data sensitivity", "* Data sensitivity: secret")),
        bad("empty", Risk("Data sensitivity", "* Data sensitivity:")),
        good("public", Risk("Data sensitivity", "* Data sensitivity: public")),
        good("confidential", Risk("Data sensitivity", "* Data sensitivity: confidential")),
    ],
};

pub(super) static NETWORK_RATIONALE: Rule = Rule {
    code: Code::RiskNetworkRationale,
    severity: Weight::Error,
    decided: TEXT,
    source: SOURCE,
    why: "A network lets data out and instructions in. A request for it must state its purpose.",
    remedy: "Name the host and its purpose after `Network rationale:`.",
    cases: &[
        bad(
            "a network, and no reason",
            All(&[
                Front("network", "network: \"allowlist\""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale: none"),
            ]),
        ),
        bad(
            "a network, and an empty line",
            All(&[
                Front("network", "network: \"allowlist\""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale:"),
            ]),
        ),
        good(
            "a network, and why",
            All(&[
                Front("network", "network: \"allowlist\""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale: reads rates from example.org"),
            ]),
        ),
        good("no network, so no reason", Risk("Network rationale", "* Network rationale: none")),
    ],
};
