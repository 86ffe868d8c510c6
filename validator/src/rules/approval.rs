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
    why: "Nothing runs that no person has said yes to. An empty field means that nobody has, \
          whoever wrote the rest.",
    remedy: "Have a person read the request and fill in `approved_by` and `approved_utc`; `lint \
             --draft` only warns until then.",
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
    why: "Nobody can approve what is not written yet, or in the future. Times in the wrong order \
          tell of a copied block or of a wrong clock; two minutes of difference are allowed.",
    remedy: "Approve the request as it is now and write the time at which that was done.",
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
    why: "An approval is given for the state of things that the approver knew. A host may set a \
          time after which that knowledge no longer counts.",
    remedy: "Have the request approved anew.",
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
    why: "A name can be typed by anybody. Only a signature over the exact bytes shows who has \
          seen them, and a changed byte ends it.",
    remedy: "Sign the final file with a key of `allowed_signers`, and change nothing after that.",
    cases: &[
        bad("changed afterwards", Words("A limit was raised after the file had been signed.")),
        bad("another purpose", Words("The signature was made for another namespace.")),
        bad("unread", Words("A signature file is a hard link: it may be one that rejects.")),
        good("unchanged", Words("The signature is over the bytes of the file as it lies there.")),
        good("none asked for", Words("Policy asks for no signature, and there is none.")),
    ],
};

pub(super) static PRINCIPAL: Rule = Rule {
    code: Code::ApprovalPrincipal,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy",
    why: "Policy lists by name whose word counts on this host. A good signature of a stranger, or \
          of somebody else than the text names, is not theirs.",
    remedy: "Write the signer's name as `allowed_signers` has it, or have a listed person sign.",
    cases: &[
        bad("somebody else signed", Words("`approved_by: alice`, and only bob has signed.")),
        bad("a stranger", Words("The file was dropped by a user whom `approval.owners` omits.")),
        good("the same person", Words("`approved_by: alice`, and alice has signed.")),
        good("one of several", Words("`approved_by: alice`; alice and bob have signed.")),
    ],
};

pub(super) static COUNT: Rule = Rule {
    code: Code::ApprovalCount,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy",
    why: "For some risks one person's attention is not enough. Two signatures of one person are \
          one person's attention.",
    remedy: "Put the missing signatures of other approvers beside the request.",
    cases: &[
        bad("one of two", Words("Policy asks for two approvers; one has signed.")),
        bad("one person twice", Words("Both signatures are alice's, with two keys.")),
        good("two people", Words("Policy asks for two; alice and bob have signed.")),
        good("more than needed", Words("Policy asks for one; two have signed.")),
    ],
};

pub(super) static APPROVER_IS_REQUESTER: Rule = Rule {
    code: Code::ApprovalSelf,
    severity: Weight::Error,
    decided: LATER,
    source: "design, Policy",
    why: "A second pair of eyes is the point of an approval. Who wants the run is not the best \
          judge of it.",
    remedy: "Have another person approve it.",
    cases: &[
        bad("one's own request", Words("`x-requester: alice`, approved and signed by alice.")),
        bad("by another key", Words("Alice asks, and signs with the key of her other machine.")),
        good("somebody else's", Words("`x-requester: alice`, approved and signed by bob.")),
        good("allowed by policy", Words("Policy does not forbid approving one's own requests.")),
    ],
};

pub(super) static REVOKED: Rule = Rule {
    code: Code::ApprovalRevoked,
    severity: Weight::Error,
    decided: LATER,
    source: "design, Policy",
    why: "A key is revoked because somebody else may have it. From then on its signatures say \
          nothing about its owner.",
    remedy: "Sign with the new key, after a look at what the old one has signed.",
    cases: &[
        bad("a lost key", Words("The key that signed stands in the revocation list.")),
        bad("revoked while it waited", Words("The key was revoked after signing, before the run.")),
        good("a valid key", Words("The key that signed stands in no revocation list.")),
        good("another key", Words("An old key of the approver is revoked; the new one signed.")),
    ],
};

pub(super) static REJECTED: Rule = Rule {
    code: Code::ApprovalRejected,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, The command line",
    why: "A no is final: it must not depend on which of two signatures is read first, or on a \
          later yes to the same bytes.",
    remedy: "Read the reason of the rejection, and draft a new request under a new id.",
    cases: &[
        bad("a signed rejection", Words("Bob signed a rejection of these bytes.")),
        bad("yes and no", Words("Alice approved and bob rejected the same bytes.")),
        good("no rejection", Words("Nobody whom policy knows has rejected it.")),
        good("an unknown key", Words("A rejection by a key that policy does not know.")),
    ],
};
