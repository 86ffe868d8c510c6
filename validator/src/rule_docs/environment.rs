//! The documentation of `environment.*`. The store and the policy of a host decide; the text only
//! names an environment.

use super::ExampleChange::Situation;
use super::example::{accepted, rejected};
use super::{DecidedBy, POLICY, RuleDoc, RuleSeverity};
use crate::code::Code;

pub(super) static UNAVAILABLE: RuleDoc = RuleDoc {
    code: Code::EnvironmentUnavailable,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Host],
    source: "docs/environments.md",
    why: "The digest of the environment is part of what was approved. Another build of the same \
          name, or one changed file, could run other code.",
    remedy: "Add the environment with `toolexec env import`, or build it anew. `toolexec env \
             verify` compares a stored one with its digest.",
    examples: &[
        rejected(
            "another build",
            Situation("The store has an environment `charts`, but of another digest."),
        ),
        rejected(
            "a file more",
            Situation("A file `sitecustomize.py` was added to the stored environment."),
        ),
        accepted(
            "stored and unchanged",
            Situation("The store has an environment of this digest, as it was built."),
        ),
        accepted(
            "built under another name",
            Situation("The store has this digest as `plots`; the digest decides."),
        ),
    ],
};

pub(super) static NOT_PERMITTED: RuleDoc = RuleDoc {
    code: Code::EnvironmentNotPermitted,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "The libraries of an environment run with all rights of the tool. Policy decides whether \
          this host runs each stored environment, listed ones, or none.",
    remedy: "Name a permitted environment, or ask the operator to list the digest under \
             `environments` in the policy.",
    examples: &[
        rejected("none at all", Situation("Policy has `allowed: none`.")),
        rejected(
            "not listed",
            Situation("Policy has `allowed: listed`, and `digests` lacks this digest."),
        ),
        accepted("listed", Situation("Policy has `allowed: listed` and lists this digest.")),
        accepted("each stored one", Situation("Policy has `allowed: stored`.")),
    ],
};

pub(super) static MISMATCH: RuleDoc = RuleDoc {
    code: Code::EnvironmentMismatch,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Policy, DecidedBy::Host],
    source: "docs/environments.md",
    why: "Libraries for another version of a runtime fail or compute something else. A variable of \
          an environment must not replace one that policy sets.",
    remedy: "Build the environment for the runtime of this host, and write the `language` of that \
             runtime.",
    examples: &[
        rejected(
            "another version",
            Situation("The environment needs python 3.11; the policy's runtime is python3.12."),
        ),
        rejected(
            "another language",
            Situation("`language: node`, and the environment has libraries for python."),
        ),
        rejected(
            "a variable of the policy",
            Situation("The environment sets `PATH`, which only policy sets."),
        ),
        rejected(
            "a word that it lacks",
            Situation("The command begins with `jq`, which the environment does not have."),
        ),
        accepted(
            "the same version",
            Situation("The environment needs python 3.11, and the runtime is python3.11."),
        ),
        accepted(
            "a program of the environment",
            Situation("The command begins with `cargo`, which a root environment has."),
        ),
    ],
};
