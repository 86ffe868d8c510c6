//! The request and the policy as choices, and their texts. Every text here must be valid.

use std::fmt::Write as _;

use policies::Policy;

use super::scene;

/// The properties of the request that matter to the rules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RequestChoices {
    pub(crate) drafted: bool,
    pub(crate) agent: bool,
    pub(crate) too_large: bool,
    pub(crate) confidential: bool,
    /// True if its text names alice as the requester.
    pub(crate) by_alice: bool,
    pub(crate) constrained: bool,
}

/// The policy choices of a world. Each key is ordered by strictness.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PolicyChoices {
    pub(crate) invoker: bool,
    /// True if alice is an approving owner. Another owner always is.
    pub(crate) owners: bool,
    pub(crate) low: usize,
    pub(crate) high: usize,
    pub(crate) self_approval: bool,
    pub(crate) requester_required: bool,
    pub(crate) audience_required: bool,
    pub(crate) aged: bool,
    pub(crate) shadow: bool,
    pub(crate) unknown_category: bool,
    /// The covered requests: 0 is none, 1 an agent's drafts, 2 all.
    pub(crate) asks_permission: usize,
    pub(crate) asks_bundle: usize,
    pub(crate) profile_known: bool,
    pub(crate) sca_required: bool,
    pub(crate) constraints_refused: bool,
}

const COVERS: [&str; 3] = ["none", "core_draft", "all"];

impl PolicyChoices {
    pub(crate) fn text(self) -> String {
        let mut changes: Vec<(&str, String)> = Vec::new();
        let mut say = |from, to: String| changes.push((from, to));
        say("invoker: false", format!("invoker: {}", self.invoker));
        say("owners: []", format!("owners: [{}]", if self.owners { "alice" } else { "zoe" }));
        say("    low: 1\n", format!("    low: {}\n", self.low));
        say("    medium: 1\n", format!("    medium: {}\n", self.low));
        say("    high: 1\n", format!("    high: {}\n", self.high));
        say("self_approval: false", format!("self_approval: {}", self.self_approval));
        let required = self.requester_required;
        say("requester_required: false", format!("requester_required: {required}"));
        let required = self.audience_required;
        say("audience_required: false", format!("audience_required: {required}"));
        let age = if self.aged { "60" } else { "null" };
        say("age_sec_max: 604800", format!("age_sec_max: {age}"));
        say("mode: enforce", format!("mode: {}", if self.shadow { "shadow" } else { "enforce" }));
        let category = if self.unknown_category { "unknown" } else { "write" };
        say("tool_category: write", format!("tool_category: {category}"));
        say("covers: core_draft", format!("covers: {}", COVERS[self.asks_permission]));
        let bundle = format!("  covers: {}\n  # A missing rule", COVERS[self.asks_bundle]);
        say("  covers: none\n  # A missing rule", bundle);
        if self.profile_known {
            let known =
                "profiles: {research-readonly: {}}\n    jurisdiction: EU\n    obligations: [log]";
            say("profiles: {}", known.to_owned());
        }
        let sca = if self.sca_required { "required" } else { "optional" };
        say("sca: optional", format!("sca: {sca}"));
        let constraints = if self.constraints_refused { "refuse" } else { "stated" };
        say("constraints: stated", format!("constraints: {constraints}"));
        // From the last section up, so that `covers: none` of one check is not that of another.
        let text = Policy::shipped_text("standard").expect("a shipped profile").to_owned();
        changes.iter().rev().fold(text, |text, (from, to)| {
            assert!(text.contains(from), "standard has no {from}");
            text.replacen(from, to, 1)
        })
    }
}

impl RequestChoices {
    pub(crate) fn text(self) -> String {
        let mut front = String::new();
        if self.agent {
            front.push_str("x-agent:\n  name: \"stats.agent\"\n  subject: \"wf-1\"\n");
        }
        if self.by_alice {
            front.push_str("x-requester: \"alice\"\n");
        }
        write!(front, "requested_by: \"{}\"", if self.drafted { "core_draft" } else { "human" })
            .expect("a text");
        let memory = if self.too_large { 99_999 } else { 1024 };
        let data = if self.confidential { "confidential" } else { "public" };
        let more = if self.constrained { "\n  - \"Be kind\"" } else { "" };
        scene::text(&[
            ("\"A sum.\"", "\"Summarize the weather.\""),
            ("requested_by: \"human\"", &front),
            ("memory_limit_mb: 1024", &format!("memory_limit_mb: {memory}")),
            ("Data sensitivity: public", &format!("Data sensitivity: {data}")),
            ("  - \"No persistence\"", &format!("  - \"No persistence\"{more}")),
        ])
    }
}
