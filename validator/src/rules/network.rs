//! The documentation of `network.*`.

use super::Example::{All, Front, Risk, Words};
use super::case::{bad, good, warned};
use super::{Base, POLICY, Rule, TEXT, Weight};
use crate::code::Code;

const ALLOWLIST: super::Example = Front("network", "network: \"allowlist\"");
const REASON: super::Example =
    Risk("Network rationale", "* Network rationale: reads rates from example.org");

pub(super) static VALUE: Rule = Rule {
    code: Code::NetworkValue,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "Only no network and named hosts can be reviewed. A word such as `all` cannot.",
    remedy: "Write `none`, or `allowlist` and the hosts.",
    cases: &[
        bad("everything", Front("network", "network: \"all\"")),
        bad("a truth value as text", Front("network", "network: \"false\"")),
        bad("in a result", Front("network_used", "network_used: \"some\"")).of(Base::Result),
        good("none", Front("network", "network: \"none\"")),
        good(
            "named hosts",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
    ],
};

pub(super) static ALLOWLIST_MISSING: Rule = Rule {
    code: Code::NetworkAllowlistMissing,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "`allowlist` without a host could mean no host or every host. The approver must see \
          which.",
    remedy: "List the hosts under `network_allowlist`, or write `network: \"none\"`.",
    cases: &[
        bad("no list", All(&[ALLOWLIST, Front("network_allowlist", ""), REASON])),
        bad("an empty list", All(&[ALLOWLIST, REASON])),
        bad(
            "the list under an unknown key",
            All(&[ALLOWLIST, Front("network_allowlist", "x-hosts: [example.org]"), REASON]),
        ),
        good(
            "a list",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
        good("no list is needed", Front("network_allowlist", "")),
    ],
};

pub(super) static ALLOWLIST_UNUSED: Rule = Rule {
    code: Code::NetworkAllowlistUnused,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "A list next to `none` contradicts it. A person who reads only one of the two lines \
          approves something else than runs.",
    remedy: "Empty the list, or write `network: \"allowlist\"` and the reason.",
    cases: &[
        bad("none, and a host", Front("network_allowlist", "network_allowlist: [example.org]")),
        bad(
            "none by default, and a host",
            All(&[
                Front("network", ""),
                Front("network_allowlist", "network_allowlist: [example.org]"),
            ]),
        ),
        good("none, and no host", Front("network_allowlist", "network_allowlist: []")),
        good(
            "a host, and why",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
    ],
};

pub(super) static HOST: Rule = Rule {
    code: Code::NetworkHost,
    severity: Weight::Depends { error: "for an invalid host", warning: "for a duplicate" },
    decided: TEXT,
    source: "design, Requests",
    why: "The entry is compared with the host that a tool connects to, so it must be one name in \
          plain letters. Paths and wildcards would look like limits without effect.",
    remedy: "Write `host` or `host:port`, with a name outside ASCII in its `xn--` form.",
    cases: &[
        bad(
            "a URL",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [\"https://example.org/a\"]"),
                REASON,
            ]),
        ),
        bad(
            "a wildcard",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [\"*.example.org\"]"),
                REASON,
            ]),
        ),
        bad(
            "half an address",
            All(&[ALLOWLIST, Front("network_allowlist", "network_allowlist: [\"10.1\"]"), REASON]),
        ),
        warned(
            "one host under two spellings",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org, \"Example.org:443\"]"),
                REASON,
            ]),
        ),
        good(
            "a host",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
        good(
            "a host and a port",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [\"example.org:8443\"]"),
                REASON,
            ]),
        ),
    ],
};

pub(super) static HOST_UNUSED: Rule = Rule {
    code: Code::NetworkHostUnused,
    severity: Weight::Warning,
    decided: TEXT,
    source: "design, Requests",
    why: "A host without a stated use is one more way out for a misbehaving tool. A library may \
          need it; then the rationale should say so.",
    remedy: "Remove the host, or name it in `Network rationale:`.",
    cases: &[
        warned(
            "a second host without a reason",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org, example.net]"),
                REASON,
            ]),
        ),
        warned(
            "a reason without the host",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                Risk("Network rationale", "* Network rationale: reads the rates of today"),
            ]),
        ),
        good(
            "named in the rationale",
            All(&[
                ALLOWLIST,
                Front("network_allowlist", "network_allowlist: [example.org]"),
                REASON,
            ]),
        ),
        good("no hosts at all", Front("network_allowlist", "network_allowlist: []")),
    ],
};

pub(super) static NOT_PERMITTED: Rule = Rule {
    code: Code::NetworkNotPermitted,
    severity: Weight::Error,
    decided: POLICY,
    source: "tool-request schema, Required Front Matter; design, Policy",
    why: "The operator decides which hosts can be reached, before and apart from any request. No \
          approval extends this list.",
    remedy: "Provide the data as a declared input, or ask the operator to permit the host.",
    cases: &[
        bad("not listed", Words("The request names example.net; policy permits example.org only.")),
        bad("no network here", Words("The request names a host; policy permits no network.")),
        good("listed", Words("The request names example.org, and policy permits it.")),
        good("no network", Words("`network: none`, under any policy.")),
    ],
};
