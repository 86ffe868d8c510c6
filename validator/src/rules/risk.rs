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
    why: "The four lines are what the approver weighs. A line left out is a question not asked.",
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
    why: "The level is for policy to weigh, and policy only ever raises it. A word that it \
          does not know would weigh nothing.",
    remedy: "Write low, medium or high.",
    cases: &[
        bad("the choice copied", Risk("Risk level", "* Risk level: low|medium|high")),
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
    remedy: "Say after `Justification:` why the level is right.",
    cases: &[
        bad("empty", Risk("Justification", "* Justification:")),
        bad(
            "given twice, so that two answers stand there",
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
    why: "How sensitive the data is decides who may approve it and where it may go. Only the \
          three classes of the schema have a meaning for policy.",
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
    why: "A network is the way out for data and the way in for instructions. Whoever asks for it \
          has to say what for.",
    remedy: "Say after `Network rationale:` which host is needed and why.",
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
