//! The configuration of a daemon, and the edits of its policy that several suites need.

use std::path::PathBuf;

use crate::bench::Bench;

/// The edits of the embedded policy that require one signature for every request.
pub const ONE_SIGNATURE: [(&str, &str); 3] =
    [("low: 0", "low: 1"), ("medium: 0", "medium: 1"), ("high: 0", "high: 1")];

pub struct ServiceConfig {
    pub policy: String,
    pub shutdown_grace_sec: u32,
    pub allowed_signers: Option<PathBuf>,
    /// `None` keeps the daemon's default.
    pub prewarmed_sandboxes: Option<u32>,
}

impl ServiceConfig {
    /// The embedded policy, with the user who runs the daemon as the only approving owner.
    #[must_use]
    pub fn for_owner(bench: &Bench) -> Self {
        let shown = bench.toolexec(["policy", "show", "embedded"]);
        shown.assert_code(0);
        let edits = [
            ("invoker: true", "invoker: false".to_owned()),
            ("owners: []", format!("owners: [{}]", bench.uid())),
            ("binary: auto", "binary: /usr/bin/python3".to_owned()),
            ("binary: auto", "binary: /usr/bin/node".to_owned()),
            ("binary: auto", "binary: /usr/bin/node".to_owned()),
            ("    names: [node, nodejs]\n", String::new()),
            ("binary: auto", "binary: /usr/bin/go".to_owned()),
            ("binary: auto", "binary: /usr/bin/ruby".to_owned()),
            ("name: embedded", "name: for-tests".to_owned()),
        ];
        let policy = edited_policy(shown.stdout, &edits);
        Self { policy, shutdown_grace_sec: 1, allowed_signers: None, prewarmed_sandboxes: None }
    }

    /// Edits the policy as [`edited_policy`] does.
    #[must_use]
    #[track_caller]
    pub fn edited(self, edits: &[(&str, impl AsRef<str>)]) -> Self {
        Self { policy: edited_policy(self.policy, edits), ..self }
    }

    /// Requires one signature for every request.
    #[must_use]
    #[track_caller]
    pub fn with_one_signature(self) -> Self {
        self.edited(&ONE_SIGNATURE)
    }

    /// Holds a request for up to so many seconds.
    #[must_use]
    #[track_caller]
    pub fn with_hold_sec(self, seconds: u32) -> Self {
        self.edited(&[("held_sec_max: 0", format!("held_sec_max: {seconds}"))])
    }
}

/// Replaces the first occurrence of each text of a policy, in this order.
///
/// # Panics
/// Panics if the policy does not contain a text.
#[must_use]
#[track_caller]
pub fn edited_policy(mut policy: String, edits: &[(&str, impl AsRef<str>)]) -> String {
    for (from, to) in edits {
        assert!(policy.contains(from), "{from} is not in the policy");
        policy = policy.replacen(from, to.as_ref(), 1);
    }
    policy
}
