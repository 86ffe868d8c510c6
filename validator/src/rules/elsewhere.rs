//! The documentation of codes that the text alone cannot decide: the spool, the agents'
//! permissions, the sandbox layers, the AANA gate and the AIS artifacts. Their examples are
//! described, not executed.

use super::Example::Words;
use super::case::{bad, good};
use super::{By, LATER, Member, POLICY, Rule, SPOOL, Weight};
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

pub(super) static REPLAYED: Rule = Rule {
    code: Code::SpoolReplayed,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "One approval is valid for one run. A file that is submitted again, by accident or on \
          purpose, must not run again.",
    remedy: "Draft a request with a new id and have it approved.",
    cases: &[
        bad("submitted twice", Words("The same file was submitted again after its run.")),
        bad("after a crash", Words("The host stopped during the run; its outcome is unknown.")),
        good("a new request", Words("The same work under a new id, approved again.")),
        good(
            "refused before",
            Words("It was refused before it could start, and is submitted again."),
        ),
    ],
};

pub(super) static ID_REUSED: Rule = Rule {
    code: Code::SpoolIdReused,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "Records refer to requests by their id. Two different requests under one id would make \
          every reference ambiguous.",
    remedy: "Give the request an id of its own.",
    cases: &[
        bad("edited after a run", Words("A limit was changed and the id kept.")),
        bad("copied", Words("A new request was made from an old one, and its id left as it was.")),
        good("an id of its own", Words("The copy has a new id and new dates.")),
        good("never run", Words("The first version was refused; the corrected one keeps the id.")),
    ],
};

pub(super) static OWNER: Rule = Rule {
    code: Code::SpoolOwner,
    severity: Weight::Error,
    decided: LATER,
    source: "design, The spool",
    why: "The mode of a directory decides who can write into it. The owner that the kernel reports \
          decides once more whose requests are accepted.",
    remedy: "Submit as a user whom the policy permits to submit.",
    cases: &[
        bad("an unknown user", Words("The file belongs to a user whom policy does not list.")),
        bad("changed hands", Words("The file was given to another user before it was claimed.")),
        good("listed", Words("The file belongs to a user whom policy lists.")),
        good("by group", Words("The file belongs to a member of a group that policy lists.")),
    ],
};

pub(super) static INCOMPLETE: Rule = Rule {
    code: Code::SpoolIncomplete,
    severity: Weight::Error,
    decided: LATER,
    source: "design, The spool",
    why: "A submitter renames the request into place last, so its files exist by then or never \
          arrive. Waiting would only hide the mistake.",
    remedy: "Put inputs and signatures there first, or submit with `toolexec promote`.",
    cases: &[
        bad("no inputs", Words("Two inputs are declared, and the directory of inputs is missing.")),
        bad("too early", Words("The request was moved into place before its files were copied.")),
        good("complete", Words("Inputs and signatures existed before the request.")),
        good("nothing needed", Words("No inputs are declared and no signature is required.")),
    ],
};

pub(super) static FILE_KIND: Rule = Rule {
    code: Code::SpoolFileKind,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "A link, a pipe or a device can change between two accesses. Only a regular file with one \
          link keeps the content that was hashed.",
    remedy: "Put a copy of the file there.",
    cases: &[
        bad("a symbolic link", Words("The request is a link to a file in a user's home.")),
        bad("a pipe", Words("An input is a named pipe.")),
        good("a file", Words("A regular file with one link.")),
        good("a copy", Words("The link was replaced by a copy of its target.")),
    ],
};

pub(super) static HELD: Rule = Rule {
    code: Code::SpoolHeld,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "An operator may want to inspect a request or the host before the run. The request keeps \
          its place and waits until it is released or expires.",
    remedy: "Ask the operator to release it with `toolexec release ID`.",
    cases: &[
        bad("held", Words("An operator held it, and it was not released within `held_sec_max`.")),
        bad("held by another operator", Words("One operator released it; another still holds it.")),
        good("released", Words("The operator who held it released it.")),
        good("never held", Words("No operator held it.")),
    ],
};

pub(super) static CANCELLED: Rule = Rule {
    code: Code::SpoolCancelled,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "A request that is no longer wanted must not run. Its cancellation, and by whom, is \
          recorded like any refusal.",
    remedy: "To run it after all, have it approved again; the approval was not used.",
    cases: &[
        bad("waiting", Words("It waited for its turn when an operator cancelled it.")),
        bad("held", Words("It was waiting for an answer when an operator cancelled it.")),
        good("too late", Words("Its run had ended when it was cancelled.")),
        good("not cancelled", Words("No operator cancelled it.")),
    ],
};

pub(super) static PERMISSION_DENIED: Rule = Rule {
    code: Code::PermissionDenied,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy (permissions)",
    why: "A human has decided that this agent may not use this tool. Repeated requests must not \
          change that.",
    remedy: "Have a human run it, or have the decision changed by its author.",
    cases: &[
        bad("this tool", Words("The agent is denied `toolexec.run.python`.")),
        bad("in this workflow", Words("It is denied in this workflow and approved in another.")),
        good("approved", Words("The agent is approved for the tool in this workflow.")),
        good("not covered", Words("Policy requires no permission for the requests of a human.")),
    ],
};

pub(super) static PERMISSION_REQUESTABLE: Rule = Rule {
    code: Code::PermissionRequestable,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy (permissions)",
    why: "A missing entry is not a permission. The request waits, and a human is asked once about \
          the agent.",
    remedy: "Answer the permission request in drafts/permissions/ with `toolexec permission set`, \
             and put the answer into approved/; the daemon then decides the request again.",
    cases: &[
        bad("a new agent", Words("The store has no entry for this agent and this tool.")),
        bad("no name", Words("A covered request without `x-agent` is the agent `unknown`.")),
        good("answered", Words("A human has approved the agent for the tool.")),
        good("not covered", Words("Policy covers agents only, and the requester is a human.")),
    ],
};

pub(super) static LAYER: Rule = Rule {
    code: Code::Layer("<name>"),
    severity: Weight::Error,
    decided: &[By::Host],
    source: "design, Policy (layers)",
    why: "Without a required layer the run would be less confined than was approved. It is refused \
          by the name of the layer and never weakened silently.",
    remedy: "Provide the named layer on the host, or list it as an exception in the policy.",
    cases: &[
        bad("no namespaces", Words("The kernel forbids user namespaces to this user.")),
        bad("no Landlock", Words("The kernel was started without Landlock.")),
        good("complete", Words("Every layer that policy requires is active.")),
        good("a named exception", Words("No cgroup is writable, and policy excepts `cgroup`.")),
    ],
};

pub(super) static GATE: Rule = Rule {
    code: Code::Gate("<blocker>"),
    severity: Weight::Error,
    decided: POLICY,
    source: "AANA, pre-tool-call gate; design, Policy",
    why: "The gate weighs the effects of the tool against the verified evidence. Its blockers keep \
          their own names, so that its documentation applies.",
    remedy: "Look up the blocker in docs/gate.md, and verify or declare what is missing.",
    cases: &[
        bad("nothing verified", Words("The only approval is a name in the text.")),
        bad("no schema", Words("The event lacks a field that its schema requires.")),
        good("confirmed", Words("Every approval that policy requires has been verified.")),
        good("read only", Words("A tool that writes nothing, with a valid signature.")),
    ],
};

pub(super) static AIS: Rule = Rule {
    code: Code::Ais("<code>"),
    severity: Weight::Error,
    decided: POLICY,
    source: "AIS, verification; design, Policy",
    why: "Where policy requires AIS, a chain of signed artifacts binds the run to one intent of \
          one agent. A failed check has the name of the specification, in lower case.",
    remedy: "Look up the code in docs/ais.md, and have the artifact issued again for exactly this \
             request.",
    cases: &[
        bad("another intent", Words("The envelope is bound to a request with other arguments.")),
        bad("too old", Words("The envelope has expired since it was made.")),
        good("bound", Words("The envelope names the digest of this request's intent.")),
        good("not required", Words("Policy does not require AIS, and no bundle exists.")),
    ],
};
