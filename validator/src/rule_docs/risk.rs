//! The documentation of `risk.*`.

use super::ExampleChange::{All, Front, Risk};
use super::example::{accepted, rejected};
use super::{RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

const SOURCE: &str = "tool-request schema, Risk Assessment";

pub(super) static MISSING: RuleDoc = RuleDoc {
    code: Code::RiskMissing,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "The approver weighs these four lines. A missing line is an unanswered question.",
    remedy: "Begin one line each with `Risk level:`, `Justification:`, `Data sensitivity:` and \
             `Network rationale:`.",
    examples: &[
        rejected("no level", Risk("Risk level", "")),
        rejected("no rationale", Risk("Network rationale", "")),
        accepted("a line in bold", Risk("Risk level", "**Risk level:** low")),
        accepted("a rationale may be empty", Risk("Network rationale", "* Network rationale:")),
    ],
};

pub(super) static LEVEL: RuleDoc = RuleDoc {
    code: Code::RiskLevel,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "Policy weighs the level and only ever raises it. It cannot weigh an unknown word.",
    remedy: "Write low, medium or high.",
    examples: &[
        rejected("the placeholder copied", Risk("Risk level", "* Risk level: low|medium|high")),
        rejected("another word", Risk("Risk level", "* Risk level: minimal")),
        accepted("low", Risk("Risk level", "* Risk level: low")),
        accepted("capitals do not matter", Risk("Risk level", "* Risk level: High")),
    ],
};

pub(super) static JUSTIFICATION: RuleDoc = RuleDoc {
    code: Code::RiskJustification,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "A level without a reason cannot be judged. One sentence on what the tool does and \
          touches is enough.",
    remedy: "Give the reason for the level after `Justification:`.",
    examples: &[
        rejected("empty", Risk("Justification", "* Justification:")),
        rejected(
            "given twice, with two answers",
            Risk("Justification", "* Justification: one\n* Justification: two"),
        ),
        accepted("a reason", Risk("Justification", "* Justification: reads one public table")),
        accepted(
            "on the next line",
            Risk("Justification", "* Justification:\n  reads one public table"),
        ),
    ],
};

pub(super) static SENSITIVITY: RuleDoc = RuleDoc {
    code: Code::RiskSensitivity,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "The sensitivity of the data decides who may approve it and where it may go. Policy knows \
          only the three classes of the schema.",
    remedy: "Write public, internal or confidential.",
    examples: &[
        rejected("another word", Risk("Data sensitivity", "* Data sensitivity: secret")),
        rejected("empty", Risk("Data sensitivity", "* Data sensitivity:")),
        accepted("public", Risk("Data sensitivity", "* Data sensitivity: public")),
        accepted("confidential", Risk("Data sensitivity", "* Data sensitivity: confidential")),
    ],
};

pub(super) static NETWORK_RATIONALE: RuleDoc = RuleDoc {
    code: Code::RiskNetworkRationale,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: SOURCE,
    why: "A network lets data out and instructions in. A request for it must state its purpose.",
    remedy: "Name the host and its purpose after `Network rationale:`.",
    examples: &[
        rejected(
            "a network, and no reason",
            All(&[
                Front("network", "network: \"allowlist\""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale: none"),
            ]),
        ),
        rejected(
            "a network, and an empty line",
            All(&[
                Front("network", "network: \"allowlist\""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale:"),
            ]),
        ),
        accepted(
            "a network, and why",
            All(&[
                Front("network", "network: \"allowlist\""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale: reads rates from example.org"),
            ]),
        ),
        accepted(
            "no network, so no reason",
            Risk("Network rationale", "* Network rationale: none"),
        ),
    ],
};
