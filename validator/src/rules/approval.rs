//! The documentation of `approval.*`. Policy decides whether an approval is valid; the text only
//! shows whether its fields are filled in and in order.

use super::Example::{All, Front, Words};
use super::case::{bad, good};
use super::{By, LATER, POLICY, Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static MISSING: Rule = Rule {
    code: Code::ApprovalMissing,
    severity: Weight::Depends { error: "in a request", warning: "in a draft" },
    decided: TEXT,
    source: "tool-request schema, Approval Gate",
    why: "A request runs only after a person approved it. An empty field means that no person \
          has.",
    remedy: "Have a person read the request and fill in `approved_by` and `approved_utc`; until \
             then `lint --draft` only warns.",
    cases: &[
        bad("an empty name", Front("approved_by", "approved_by: \"\"")),
        bad("no time", Front("approved_utc", "")),
        good("a name", Front("approved_by", "approved_by: \"alice\"")),
        good("a name with an address", Front("approved_by", "approved_by: \"alice@example.org\"")),
    ],
};

pub(super) static DATE_ORDER: Rule = Rule {
    code: Code::ApprovalDateOrder,
    severity: Weight::Error,
    decided: &[By::Text, By::Host],
    source: "design, Requests",
    why: "An approval cannot be older than the request or lie in the future. A wrong order shows a \
          copied block or a wrong clock; a difference of two minutes is allowed.",
    remedy: "Approve the present request and write the time of that approval.",
    cases: &[
        bad(
            "approved before it was created",
            Front("approved_utc", "approved_utc: \"2026-02-09T16:00:00Z\""),
        ),
        bad(
            "approved in the future",
            Front("approved_utc", "approved_utc: \"9999-01-01T00:00:00Z\""),
        ),
        good("minutes later", Front("approved_utc", "approved_utc: \"2026-02-09T16:12:00Z\"")),
        good(
            "clocks that differ by a minute",
            All(&[
                Front("created_utc", "created_utc: \"2026-02-09T16:05:01Z\""),
                Front("approved_utc", "approved_utc: \"2026-02-09T16:04:01Z\""),
            ]),
        ),
    ],
};

pub(super) static EXPIRED: Rule = Rule {
    code: Code::ApprovalExpired,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy",
    why: "An approver judges the state of things at that time. A host can set an age after which \
          the approval no longer counts.",
    remedy: "Have the request approved again.",
    cases: &[
        bad("too old", Words("Approved eight days ago; policy allows seven.")),
        bad(
            "held too long",
            Words("It waited for a second signature until the first was too old."),
        ),
        good("fresh", Words("Approved an hour ago; policy allows seven days.")),
        good("no maximum", Words("Approved a year ago; policy sets no `age_sec_max`.")),
    ],
};

pub(super) static SIGNATURE: Rule = Rule {
    code: Code::ApprovalSignature,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy; OpenSSH, PROTOCOL.sshsig",
    why: "Anyone can type a name. A signature over the exact bytes shows who approved them, and \
          any changed byte invalidates it.",
    remedy: "Sign the final file with a key of `allowed_signers`, and do not change it \
             afterwards.",
    cases: &[
        bad("changed afterwards", Words("A limit was raised after the file had been signed.")),
        bad("another purpose", Words("The signature was made for another namespace.")),
        bad("unread", Words("A signature file is a hard link, and may be a rejection.")),
        good("unchanged", Words("The signature covers the present bytes of the file.")),
        good("none required", Words("Policy requires no signature, and none exists.")),
    ],
};

pub(super) static PRINCIPAL: Rule = Rule {
    code: Code::ApprovalPrincipal,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy",
    why: "Policy lists the approvers of this host by name. A valid signature of an unlisted \
          person, or of another person than the text names, does not count.",
    remedy: "Write the signer's name as in `allowed_signers`, or have a listed person sign.",
    cases: &[
        bad("another person signed", Words("`approved_by: alice`, and only bob has signed.")),
        bad("an unknown user", Words("The owner of the file is not in `approval.owners`.")),
        good("the same person", Words("`approved_by: alice`, and alice has signed.")),
        good("one of several", Words("`approved_by: alice`; alice and bob have signed.")),
    ],
};

pub(super) static COUNT: Rule = Rule {
    code: Code::ApprovalCount,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy",
    why: "Some risks need the attention of more than one person. Two signatures of one person \
          count once.",
    remedy: "Put the missing signatures of other approvers next to the request.",
    cases: &[
        bad("one of two", Words("Policy requires two approvers; one has signed.")),
        bad("one person twice", Words("Both signatures are alice's, with two keys.")),
        good("two people", Words("Policy requires two; alice and bob have signed.")),
        good("more than needed", Words("Policy requires one; two have signed.")),
    ],
};

pub(super) static APPROVER_IS_REQUESTER: Rule = Rule {
    code: Code::ApprovalSelf,
    severity: Weight::Error,
    decided: LATER,
    source: "design, Policy",
    why: "An approval is a check by a second person. The requester cannot be that person.",
    remedy: "Have another person approve it.",
    cases: &[
        bad("one's own request", Words("`x-requester: alice`, approved and signed by alice.")),
        bad("by another key", Words("Alice is the requester, and signs with her other key.")),
        good("another person's", Words("`x-requester: alice`, approved and signed by bob.")),
        good("allowed by policy", Words("Policy has `self_approval: true`.")),
    ],
};

pub(super) static REVOKED: Rule = Rule {
    code: Code::ApprovalRevoked,
    severity: Weight::Error,
    decided: LATER,
    source: "design, Policy",
    why: "A key is revoked because another person may have it. Its signatures no longer prove \
          anything about its owner.",
    remedy: "Check what the old key has signed, then sign with the new key.",
    cases: &[
        bad("a lost key", Words("The signing key is on the revocation list.")),
        bad("revoked while it waited", Words("The key was revoked after signing, before the run.")),
        good("a valid key", Words("The signing key is not on the revocation list.")),
        good("another key", Words("An old key of the approver is revoked; the new one signed.")),
    ],
};

pub(super) static REJECTED: Rule = Rule {
    code: Code::ApprovalRejected,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, The command line",
    why: "A rejection is final. It must not depend on the order in which signatures are read, or \
          on a later approval of the same bytes.",
    remedy: "Read the reason of the rejection, and draft a new request under a new id.",
    cases: &[
        bad("a signed rejection", Words("Bob signed a rejection of these bytes.")),
        bad("yes and no", Words("Alice approved and bob rejected the same bytes.")),
        good("no rejection", Words("No person whom policy lists has rejected it.")),
        good("an unknown key", Words("A rejection by a key that policy does not list.")),
    ],
};
