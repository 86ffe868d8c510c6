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
    why: "One approval is for one run. A file that is dropped again, by accident or on purpose, \
          must not run again.",
    remedy: "Draft a request with a new id and have it approved.",
    cases: &[
        bad("dropped twice", Words("The same file was dropped again after its run.")),
        bad("after a crash", Words("The host died while it ran; nobody knows how far it came.")),
        good("a new request", Words("The same work under a new id, approved anew.")),
        good(
            "refused before",
            Words("It was refused before it could start, and is dropped again."),
        ),
    ],
};

pub(super) static ID_REUSED: Rule = Rule {
    code: Code::SpoolIdReused,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "Records refer to requests by their id. Two different requests under one id would make \
          every such reference ambiguous.",
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
    why: "Who may write into a directory is a matter of its mode; whose requests are taken from it \
          is decided once more by the owner that the kernel reports.",
    remedy: "Submit as a user whom the policy lets submit.",
    cases: &[
        bad("a stranger", Words("The file belongs to a user whom policy does not list.")),
        bad("changed hands", Words("The file was given to another user before it was taken.")),
        good("listed", Words("The file belongs to a user whom policy lists.")),
        good("by group", Words("The file belongs to a member of a group that policy lists.")),
    ],
};

pub(super) static INCOMPLETE: Rule = Rule {
    code: Code::SpoolIncomplete,
    severity: Weight::Error,
    decided: LATER,
    source: "design, The spool",
    why: "The request is renamed into place last, so what belongs to it is there or never comes. \
          Waiting would only hide the mistake.",
    remedy: "Put inputs and signatures there first, or use `toolexec promote`, which does so.",
    cases: &[
        bad("no inputs", Words("Two inputs are declared, and there is no directory of inputs.")),
        bad("too early", Words("The request was moved into place before its files were copied.")),
        good("complete", Words("Inputs and signatures lay there before the request did.")),
        good("nothing needed", Words("No inputs are declared and no signature is asked for.")),
    ],
};

pub(super) static FILE_KIND: Rule = Rule {
    code: Code::SpoolFileKind,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "A link, a pipe or a device can become something else between two looks at it. Only a \
          plain file with one name is what it was when it was hashed.",
    remedy: "Put a copy of the file there.",
    cases: &[
        bad("a symbolic link", Words("The request is a link to a file in somebody's home.")),
        bad("a pipe", Words("An input is a named pipe.")),
        good("a file", Words("A regular file with one link.")),
        good("a copy", Words("The link was replaced by a copy of what it pointed to.")),
    ],
};

pub(super) static HELD: Rule = Rule {
    code: Code::SpoolHeld,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "Whoever runs the host may want to look into a request, or at the host, before it runs. It \
          keeps its place and waits, until it is released or has waited too long.",
    remedy: "Have it released: toolexec release ID.",
    cases: &[
        bad("held", Words("An operator held it, and nobody released it within the policy's time.")),
        bad("held by another", Words("One operator released nothing; another still holds it.")),
        good("released", Words("The operator who held it released it.")),
        good("never held", Words("Nobody asked for it to wait.")),
    ],
};

pub(super) static CANCELLED: Rule = Rule {
    code: Code::SpoolCancelled,
    severity: Weight::Error,
    decided: SPOOL,
    source: "design, The spool",
    why: "What is not wanted any more must not run because nobody could stop it. That it was \
          cancelled, and by whom, is recorded as any refusal is.",
    remedy: "If it is wanted after all, approve it once more; it was not used up.",
    cases: &[
        bad("waiting", Words("It waited for its turn when an operator cancelled it.")),
        bad("held", Words("It was held for an answer when an operator cancelled it.")),
        good("too late", Words("Its run had ended when it was cancelled.")),
        good("nobody asked", Words("No operator cancelled it.")),
    ],
};

pub(super) static PERMISSION_DENIED: Rule = Rule {
    code: Code::PermissionDenied,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy (permissions)",
    why: "A human has decided that this agent shall not have this tool. Asking again and again \
          must not wear that decision down.",
    remedy: "Have a human do it, or have the decision changed by whoever took it.",
    cases: &[
        bad("this tool", Words("The agent is denied `toolexec.run.python`.")),
        bad("in this workflow", Words("It is denied in this workflow and approved in another.")),
        good("approved", Words("The agent is approved for the tool in this workflow.")),
        good("not covered", Words("Policy asks for no permission where a human requests.")),
    ],
};

pub(super) static PERMISSION_REQUESTABLE: Rule = Rule {
    code: Code::PermissionRequestable,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy (permissions)",
    why: "No entry is not a yes. The request waits, and a human is asked about the agent once.",
    remedy: "Answer the question that was put into drafts/permissions/, with `toolexec permission set`, \
             and drop the answer into approved/; the request is then decided anew.",
    cases: &[
        bad("a new agent", Words("Nothing is known of this agent and this tool.")),
        bad("no name", Words("A covered request without `x-agent` is the agent `unknown`.")),
        good("answered", Words("A human has approved the agent for the tool.")),
        good("not covered", Words("Policy covers agents only, and a human asks.")),
    ],
};

pub(super) static LAYER: Rule = Rule {
    code: Code::Layer("<name>"),
    severity: Weight::Error,
    decided: &[By::Host],
    source: "design, Policy (layers)",
    why: "A run without a layer that policy requires would be less confined than was approved. It \
          is refused by the layer's name and never silently weakened.",
    remedy: "Give the host what the message names, or let the policy name the exception.",
    cases: &[
        bad("no namespaces", Words("The kernel forbids user namespaces to this user.")),
        bad("no Landlock", Words("The kernel was started without Landlock.")),
        good("all there", Words("Every layer that policy requires is in force.")),
        good("a named exception", Words("No cgroup can be written, and policy excepts `cgroup`.")),
    ],
};

pub(super) static GATE: Rule = Rule {
    code: Code::Gate("<blocker>"),
    severity: Weight::Error,
    decided: POLICY,
    source: "AANA, pre-tool-call gate; design, Policy",
    why: "The gate weighs what the tool may touch against what was really verified. Its blockers \
          are passed on under their own names, so that its documentation applies.",
    remedy: "Look up the blocker in docs/gate.md, and verify or declare what it misses.",
    cases: &[
        bad("nothing verified", Words("The only approval is a name in the text.")),
        bad("no schema", Words("The event lacks a field that its schema requires.")),
        good("confirmed", Words("Every approval that policy asks for has been verified.")),
        good("read only", Words("A tool that writes nothing, with a valid signature.")),
    ],
};

pub(super) static AIS: Rule = Rule {
    code: Code::Ais("<code>"),
    severity: Weight::Error,
    decided: POLICY,
    source: "AIS, verification; design, Policy",
    why: "Where policy requires AIS, a chain of signed artifacts binds the run to one intent of \
          one agent. A check that fails is named as the specification names it, in small letters.",
    remedy: "Look up the code in docs/ais.md, and have the artifact issued anew for exactly this \
             request.",
    cases: &[
        bad("another intent", Words("The envelope is bound to a request with other arguments.")),
        bad("too old", Words("The envelope was fresh when it was made, and is not any more.")),
        good("bound", Words("The envelope names the digest of this request's intent.")),
        good("not required", Words("Policy does not require AIS, and there is none.")),
    ],
};
