//! The documentation of `network.*`.

use super::ExampleChange::{All, Front, Risk, Situation};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{Base, POLICY, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

const ALLOWLIST: super::ExampleChange = Front("network", "network: \"allowlist\"");
const REASON: super::ExampleChange =
    Risk("Network rationale", "* Network rationale: reads rates from example.org");

pub(super) static VALUE: RuleDoc = RuleDoc {
    code: Code::NetworkValue,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Only no network and named hosts can be reviewed. A word such as `all` cannot.",
    remedy: "Write `none`, or `allowlist` and the hosts.",
    examples: &[
        rejected("everything", Front("network", "network: \"all\"")),
        rejected("a truth value as text", Front("network", "network: \"false\"")),
        rejected("in a result", Front("network_used", "network_used: \"some\"")).of(Base::Result),
        accepted("none", Front("network", "network: \"none\"")),
        accepted(
            "named hosts",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
    ],
};

pub(super) static ALLOWLIST_MISSING: RuleDoc = RuleDoc {
    code: Code::NetworkAllowlistMissing,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "`allowlist` without a host could mean no host or every host. The approver must see \
          which.",
    remedy: "List the hosts under `network_allowlist`, or write `network: \"none\"`.",
    examples: &[
        rejected("no list", All(&[ALLOWLIST, Front("network_allowlist", ""), REASON])),
        rejected("an empty list", All(&[ALLOWLIST, REASON])),
        rejected(
            "the list under an unknown key",
            All(&[ALLOWLIST, Front("network_allowlist", "x-hosts: [example.org]"), REASON]),
        ),
        accepted(
            "a list",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
        accepted("no list is needed", Front("network_allowlist", "")),
    ],
};

pub(super) static ALLOWLIST_UNUSED: RuleDoc = RuleDoc {
    code: Code::NetworkAllowlistUnused,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "A list next to `none` contradicts it. A person who reads only one of the two lines \
          approves something else than runs.",
    remedy: "Empty the list, or write `network: \"allowlist\"` and the reason.",
    examples: &[
        rejected(
            "none, and a host",
            Front("network_allowlist", "network_allowlist: [example.org]"),
        ),
        rejected(
            "none by default, and a host",
            All(&[
                Front("network", ""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
            ]),
        ),
        accepted("none, and no host", Front("network_allowlist", "network_allowlist: []")),
        accepted(
            "a host, and why",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
    ],
};

pub(super) static HOST: RuleDoc = RuleDoc {
    code: Code::NetworkHost,
    severity: RuleSeverity::Depends { error: "for an invalid host", warning: "for a duplicate" },
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "The entry is compared with the host that a tool connects to, so it must be one name in \
          plain letters. Paths and wildcards would look like limits without effect.",
    remedy: "Write `host` or `host:port`, with a name outside ASCII in its `xn--` form.",
    examples: &[
        rejected(
            "a URL",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [\"https://example.org/a\"]"),
                REASON,
            ]),
        ),
        rejected(
            "a wildcard",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [\"*.example.org\"]"),
                REASON,
            ]),
        ),
        rejected(
            "half an address",
            All(&[ALLOWLIST, Front("network_allowlist", "network_allowlist: [\"10.1\"]"), REASON]),
        ),
        rejected_with_warning(
            "one host under two spellings",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org, \"Example.org:443\"]"),
                REASON,
            ]),
        ),
        accepted(
            "a host",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
        accepted(
            "a host and a port",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [\"example.org:8443\"]"),
                REASON,
            ]),
        ),
    ],
};

pub(super) static HOST_UNUSED: RuleDoc = RuleDoc {
    code: Code::NetworkHostUnused,
    severity: RuleSeverity::Warning,
    decided_by: TEXT,
    source: "docs/writing-requests.md",
    why: "A host without a stated use is one more way out for a misbehaving tool. A library may \
          need it; then the rationale should say so.",
    remedy: "Remove the host, or name it in `Network rationale:`.",
    examples: &[
        rejected_with_warning(
            "a second host without a reason",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org, example.net]"),
                REASON,
            ]),
        ),
        rejected_with_warning(
            "a reason without the host",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale: reads the rates of today"),
            ]),
        ),
        accepted(
            "named in the rationale",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
        accepted("no hosts at all", Front("network_allowlist", "network_allowlist: []")),
    ],
};

pub(super) static NOT_PERMITTED: RuleDoc = RuleDoc {
    code: Code::NetworkNotPermitted,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "tool-request schema, Required Front Matter; docs/policy.md",
    why: "The operator decides which hosts can be reached, before and apart from any request. No \
          approval extends this list.",
    remedy: "Provide the data as a declared input, or ask the operator to permit the host.",
    examples: &[
        rejected(
            "not listed",
            Situation("The request names example.net; policy permits example.org only."),
        ),
        rejected(
            "no network here",
            Situation("The request names a host; policy permits no network."),
        ),
        accepted("listed", Situation("The request names example.org, and policy permits it.")),
        accepted("no network", Situation("`network: none`, under any policy.")),
    ],
};
