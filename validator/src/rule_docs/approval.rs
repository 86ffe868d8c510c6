//! The documentation of `approval.*`. Policy decides validity; the text shows only its fields.

use super::ExampleChange::{All, Front, Situation};
use super::example::{accepted, rejected};
use super::{DecidedBy, POLICY, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static MISSING: RuleDoc = RuleDoc {
    code: Code::ApprovalMissing,
    severity: RuleSeverity::Depends { error: "in a request", warning: "in a draft" },
    decided_by: TEXT,
    source: "tool-request schema, Approval Gate",
    why: "A request runs only after a person approved it. An empty field means that no person \
          has.",
    remedy: "Have a person read the request and fill in `approved_by` and `approved_utc`; until \
             then `lint --draft` only warns.",
    examples: &[
        rejected("an empty name", Front("approved_by", "approved_by: \"\"")),
        rejected("no time", Front("approved_utc", "")),
        accepted("a name", Front("approved_by", "approved_by: \"alice\"")),
        accepted(
            "a name with an address",
            Front("approved_by", "approved_by: \"alice@example.org\""),
        ),
    ],
};

pub(super) static DATE_ORDER: RuleDoc = RuleDoc {
    code: Code::ApprovalDateOrder,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Text, DecidedBy::Host],
    source: "docs/writing-requests.md",
    why: "An approval cannot be older than the request or lie in the future. A wrong order shows a \
          copied block or a wrong clock; a difference of two minutes is allowed.",
    remedy: "Approve the present request and write the time of that approval.",
    examples: &[
        rejected(
            "approved before it was created",
            Front("approved_utc", "approved_utc: \"2026-02-09T16:00:00Z\""),
        ),
        rejected(
            "approved in the future",
            Front("approved_utc", "approved_utc: \"9999-01-01T00:00:00Z\""),
        ),
        accepted("minutes later", Front("approved_utc", "approved_utc: \"2026-02-09T16:12:00Z\"")),
        accepted(
            "clocks that differ by a minute",
            All(&[
                Front("created_utc", "created_utc: \"2026-02-09T16:05:01Z\""),
                Front("approved_utc", "approved_utc: \"2026-02-09T16:04:01Z\""),
            ]),
        ),
    ],
};

pub(super) static EXPIRED: RuleDoc = RuleDoc {
    code: Code::ApprovalExpired,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "An approver judges the state of things at that time. A host can set an age after which \
          the approval no longer counts.",
    remedy: "Have the request approved again.",
    examples: &[
        rejected("too old", Situation("Approved eight days ago; policy allows seven.")),
        rejected(
            "held too long",
            Situation("It waited for a second signature until the first was too old."),
        ),
        accepted("fresh", Situation("Approved an hour ago; policy allows seven days.")),
        accepted("no maximum", Situation("Approved a year ago; policy sets no `age_sec_max`.")),
    ],
};

pub(super) static SIGNATURE: RuleDoc = RuleDoc {
    code: Code::ApprovalSignature,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md; OpenSSH, PROTOCOL.sshsig",
    why: "Anyone can type a name. A signature over the exact bytes shows who approved them, and \
          any changed byte invalidates it.",
    remedy: "Sign the final file with a key of `allowed_signers`, and do not change it \
             afterwards.",
    examples: &[
        rejected(
            "changed afterwards",
            Situation("A limit was raised after the file had been signed."),
        ),
        rejected("another purpose", Situation("The signature was made for another namespace.")),
        rejected("unread", Situation("A signature file is a hard link, and may be a rejection.")),
        accepted("unchanged", Situation("The signature covers the present bytes of the file.")),
        accepted("none required", Situation("Policy requires no signature, and none exists.")),
    ],
};

pub(super) static PRINCIPAL: RuleDoc = RuleDoc {
    code: Code::ApprovalPrincipal,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "Policy lists the approvers of this host by name. A valid signature of an unlisted \
          person, or of another person than the text names, does not count.",
    remedy: "Write the signer's name as in `allowed_signers`, or have a listed person sign.",
    examples: &[
        rejected(
            "another person signed",
            Situation("`approved_by: alice`, and only bob has signed."),
        ),
        rejected(
            "an unknown user",
            Situation("The owner of the file is not in `approval.owners`."),
        ),
        accepted("the same person", Situation("`approved_by: alice`, and alice has signed.")),
        accepted("one of several", Situation("`approved_by: alice`; alice and bob have signed.")),
    ],
};

pub(super) static COUNT: RuleDoc = RuleDoc {
    code: Code::ApprovalCount,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "Some risks need the attention of more than one person. Two signatures of one person \
          count once.",
    remedy: "Put the missing signatures of other approvers next to the request.",
    examples: &[
        rejected("one of two", Situation("Policy requires two approvers; one has signed.")),
        rejected("one person twice", Situation("Both signatures are alice's, with two keys.")),
        accepted("two people", Situation("Policy requires two; alice and bob have signed.")),
        accepted("more than needed", Situation("Policy requires one; two have signed.")),
    ],
};

pub(super) static APPROVER_IS_REQUESTER: RuleDoc = RuleDoc {
    code: Code::ApprovalSelf,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "An approval is a check by a second person. The requester cannot be that person.",
    remedy: "Have another person approve it.",
    examples: &[
        rejected(
            "one's own request",
            Situation("`x-requester: alice`, approved and signed by alice."),
        ),
        rejected(
            "by another key",
            Situation("Alice is the requester, and signs with her other key."),
        ),
        accepted(
            "another person's",
            Situation("`x-requester: alice`, approved and signed by bob."),
        ),
        accepted("allowed by policy", Situation("Policy has `self_approval: true`.")),
    ],
};

pub(super) static REVOKED: RuleDoc = RuleDoc {
    code: Code::ApprovalRevoked,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/approving.md",
    why: "A key is revoked because another person may have it. Its signatures no longer prove \
          anything about its owner.",
    remedy: "Check what the old key has signed, then sign with the new key.",
    examples: &[
        rejected("a lost key", Situation("The signing key is on the revocation list.")),
        rejected(
            "revoked while it waited",
            Situation("The key was revoked after signing, before the run."),
        ),
        accepted("a valid key", Situation("The signing key is not on the revocation list.")),
        accepted(
            "another key",
            Situation("An old key of the approver is revoked; the new one signed."),
        ),
    ],
};

pub(super) static REJECTED: RuleDoc = RuleDoc {
    code: Code::ApprovalRejected,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/approving.md",
    why: "A rejection is final. It must not depend on the order in which signatures are read, or \
          on a later approval of the same bytes.",
    remedy: "Read the reason of the rejection, and draft a new request under a new id.",
    examples: &[
        rejected("a signed rejection", Situation("Bob signed a rejection of these bytes.")),
        rejected("yes and no", Situation("Alice approved and bob rejected the same bytes.")),
        accepted("no rejection", Situation("No person whom policy lists has rejected it.")),
        accepted("an unknown key", Situation("A rejection by a key that policy does not list.")),
    ],
};

pub(super) static STANDING: RuleDoc = RuleDoc {
    code: Code::ApprovalStanding,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Policy, DecidedBy::Spool],
    source: "docs/standing-approvals.md",
    why: "A standing approval bounds every run that uses it. A request that differs anywhere was \
          not approved.",
    remedy: "Correct the request where the message says so, or have it approved by itself.",
    examples: &[
        rejected("a value beyond the bound", Situation("`last` is 4000; the bound is 3650.")),
        rejected("used up", Situation("`uses_max` is 200, and 200 runs have used it.")),
        rejected("ended", Situation("`not_after_utc` passed while the request waited.")),
        accepted("within all bounds", Situation("Every word, file and limit is admitted.")),
        accepted("the last use", Situation("`uses_max` is 200, and 199 runs have used it.")),
    ],
};
