//! The documentation of codes that the text alone cannot decide: spool, agents' permissions,
//! sandbox layers, the AANA gate and AIS artifacts. Their examples are described, not executed.

use super::ExampleChange::Situation;
use super::example::{accepted, rejected};
use super::{DecidedBy, Member, POLICY, RuleDoc, RuleSeverity, SPOOL};
use crate::code::Code;

/// Returns the layers of a sandbox by their names in the policy.
pub(super) fn layers() -> Vec<Member> {
    [
        ("namespaces", "users, processes, mounts and network of its own"),
        ("mounts", "only /in, /out, /tmp and the runtime are there"),
        ("landlock.fs", "the kernel's own list of permitted files"),
        ("seccomp", "the kernel's list of permitted calls"),
        ("capabilities", "no privileges, and none to be had"),
        ("cgroup", "limits of memory, processes and time, with accounts"),
    ]
    .map(|(name, what)| Member { name, what })
    .to_vec()
}

pub(super) static REPLAYED: RuleDoc = RuleDoc {
    code: Code::SpoolReplayed,
    severity: RuleSeverity::Error,
    decided_by: SPOOL,
    source: "docs/spool.md",
    why: "One approval is valid for one run. A file that is submitted again, by accident or on \
          purpose, must not run again.",
    remedy: "Draft a request with a new id and have it approved.",
    examples: &[
        rejected("submitted twice", Situation("The same file was submitted again after its run.")),
        rejected(
            "after a crash",
            Situation("The host stopped during the run; its outcome is unknown."),
        ),
        accepted("a new request", Situation("The same work under a new id, approved again.")),
        accepted(
            "refused before",
            Situation("It was refused before it could start, and is submitted again."),
        ),
    ],
};

pub(super) static ID_REUSED: RuleDoc = RuleDoc {
    code: Code::SpoolIdReused,
    severity: RuleSeverity::Error,
    decided_by: SPOOL,
    source: "docs/writing-requests.md",
    why: "Records refer to requests by their id. Two different requests under one id would make \
          every reference ambiguous.",
    remedy: "Give the request an id of its own.",
    examples: &[
        rejected("edited after a run", Situation("A limit was changed and the id kept.")),
        rejected(
            "copied",
            Situation("A new request was made from an old one, and its id left as it was."),
        ),
        accepted("an id of its own", Situation("The copy has a new id and new dates.")),
        accepted(
            "never run",
            Situation("The first version was refused; the corrected one keeps the id."),
        ),
    ],
};

pub(super) static FILE_KIND: RuleDoc = RuleDoc {
    code: Code::SpoolFileKind,
    severity: RuleSeverity::Error,
    decided_by: SPOOL,
    source: "docs/writing-requests.md",
    why: "A link, a pipe or a device can change between two accesses. Only a regular file keeps the \
          content that was hashed. A request or a signature must also have no hard link.",
    remedy: "Put a copy of the file there.",
    examples: &[
        rejected("a symbolic link", Situation("The request is a link to a file in a user's home.")),
        rejected("a pipe", Situation("An input is a named pipe.")),
        accepted("a file", Situation("A regular file with one link.")),
        accepted("a copy", Situation("The link was replaced by a copy of its target.")),
    ],
};

pub(super) static HELD: RuleDoc = RuleDoc {
    code: Code::SpoolHeld,
    severity: RuleSeverity::Error,
    decided_by: SPOOL,
    source: "docs/operators.md",
    why: "An operator may want to inspect a request or the host before the run. The request keeps \
          its place and waits until it is released or expires.",
    remedy: "Ask the operator to release it with `toolexec release ID`.",
    examples: &[
        rejected(
            "held",
            Situation("An operator held it, and it was not released within `held_sec_max`."),
        ),
        rejected(
            "held by another operator",
            Situation("One operator released it; another still holds it."),
        ),
        accepted("released", Situation("The operator who held it released it.")),
        accepted("never held", Situation("No operator held it.")),
    ],
};

pub(super) static CANCELLED: RuleDoc = RuleDoc {
    code: Code::SpoolCancelled,
    severity: RuleSeverity::Error,
    decided_by: SPOOL,
    source: "docs/operators.md",
    why: "An operator has decided that the request must not run. The cancellation and its author are \
          recorded like any refusal.",
    remedy: "To run it after all, have it approved again; the approval was not used.",
    examples: &[
        rejected("waiting", Situation("It waited for its turn when an operator cancelled it.")),
        rejected("held", Situation("It was waiting for an answer when an operator cancelled it.")),
        accepted("too late", Situation("Its run had ended when it was cancelled.")),
        accepted("not cancelled", Situation("No operator cancelled it.")),
    ],
};

pub(super) static PERMISSION_DENIED: RuleDoc = RuleDoc {
    code: Code::PermissionDenied,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/permissions.md",
    why: "A human has decided that this agent may not use this tool. Repeated requests must not \
          change that.",
    remedy: "Have a human run it, or have the decision changed by its author.",
    examples: &[
        rejected("this tool", Situation("The agent is denied `toolexec.run.python`.")),
        rejected(
            "in this workflow",
            Situation("It is denied in this workflow and approved in another."),
        ),
        accepted("approved", Situation("The agent is approved for the tool in this workflow.")),
        accepted(
            "not covered",
            Situation("Policy requires no permission for the requests of a human."),
        ),
    ],
};

pub(super) static PERMISSION_REQUESTABLE: RuleDoc = RuleDoc {
    code: Code::PermissionRequestable,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/permissions.md",
    why: "A missing entry is not a permission. The request waits, and a human is asked once about \
          the agent.",
    remedy: "Answer the permission request in drafts/permissions/ with `toolexec permission set`, \
             and put the answer into approved/; the daemon then decides the request again.",
    examples: &[
        rejected("a new agent", Situation("The store has no entry for this agent and this tool.")),
        rejected(
            "no name",
            Situation("A covered request without `x-agent` is the agent `unknown`."),
        ),
        accepted("answered", Situation("A human has approved the agent for the tool.")),
        accepted(
            "not covered",
            Situation("Policy covers agents only, and the requester is a human."),
        ),
    ],
};

pub(super) static LAYER: RuleDoc = RuleDoc {
    code: Code::Layer("<name>"),
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Host],
    source: "docs/policy.md (layers)",
    why: "Without a required layer the run would be less confined than was approved. It is refused \
          by the name of the layer and never weakened silently.",
    remedy: "Provide the named layer on the host, or list it as an exception in the policy.",
    examples: &[
        rejected("no namespaces", Situation("The kernel forbids user namespaces to this user.")),
        rejected("no Landlock", Situation("The kernel was started without Landlock.")),
        accepted("complete", Situation("Every layer that policy requires is active.")),
        accepted(
            "a named exception",
            Situation("No cgroup is writable, and policy excepts `cgroup`."),
        ),
    ],
};

pub(super) static GATE: RuleDoc = RuleDoc {
    code: Code::Gate("<blocker>"),
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "AANA, pre-tool-call gate; docs/policy.md",
    why: "The gate weighs the effects of the tool against the verified evidence. Its blockers keep \
          their own names, so that its documentation applies.",
    remedy: "Look up the blocker in docs/gate.md, and verify or declare what is missing.",
    examples: &[
        rejected("nothing verified", Situation("The only approval is a name in the text.")),
        rejected("no schema", Situation("The event lacks a field that its schema requires.")),
        accepted("confirmed", Situation("Every approval that policy requires has been verified.")),
        accepted("read only", Situation("A tool that writes nothing, with a valid signature.")),
    ],
};

pub(super) static AIS: RuleDoc = RuleDoc {
    code: Code::Ais("<code>"),
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "AIS, verification; docs/policy.md",
    why: "Where policy requires AIS, a chain of signed artifacts binds the run to one intent of \
          one agent. A failed check has the name of the specification, in lower case.",
    remedy: "Look up the code in docs/ais.md, and have the artifact issued again for exactly this \
             request.",
    examples: &[
        rejected(
            "another intent",
            Situation("The envelope is bound to a request with other arguments."),
        ),
        rejected("too old", Situation("The envelope has expired since it was made.")),
        accepted("bound", Situation("The envelope names the digest of this request's intent.")),
        accepted("not required", Situation("Policy does not require AIS, and no bundle exists.")),
    ],
};
