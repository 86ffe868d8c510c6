//! Tests the error texts of this crate against `tests/snapshots/messages/policies.txt`. They must
//! never leave out an error that a test can make.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use model::UtcTime;
use shared::{Named, assert_texts, every, refused};
use validator::JsonError;

use crate::ais::{
    AisBundle, AisBundleError, AisCode, AisRules, AisTrustError, Algorithm, PublicKeyError,
    SigningKeyError,
};
use crate::permissions::{
    AgentName, CallsError, GrantId, PermissionAnswer, PermissionDenial, PermissionError,
    PermissionRequestId, PermissionSource, ToolFinding, ToolName, Traceparent,
};
use crate::{
    AllowedSigners, EntitlementError, FleetListError, FleetListSerialError, FleetLostOrderError,
    FleetSignatureError, KeyKind, PolicyError, PolicyProblem, RevokedKeys, SignatureError,
    SignedActionError, SignedActionKind, SignerKeyError, WebauthnProblem,
};

fn tool() -> ToolName {
    "toolexec.run.python".parse().unwrap()
}

fn permission_request_id() -> PermissionRequestId {
    "PR-20260209-160501Z-0123456789abcdef".parse().unwrap()
}

fn grant() -> GrantId {
    "G12.0".parse().unwrap()
}

fn time() -> UtcTime {
    "2026-02-09T16:05:01Z".parse().unwrap()
}

fn source() -> PermissionSource {
    PermissionSource {
        name: "core".parse().unwrap(),
        subject: "wf-1".parse().unwrap(),
        accesscontrol: Some("finance".parse().unwrap()),
    }
}

fn fingerprint() -> String {
    "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU".to_owned()
}

fn of_approvals() -> Vec<Named> {
    [
        every!(SignerKeyError:
            Kind("ssh-rsa".to_owned()),
            Malformed(KeyKind::Ed25519),
            Unsound(KeyKind::P256),
            Application("webauthn".to_owned()),
        ),
        every!(SignatureError:
            TooLarge,
            NotASignature,
            Version(2),
            Hash("md5".to_owned()),
            Key(SignerKeyError::Kind("ssh-rsa".to_owned())),
            Mismatch(KeyKind::SkP256),
            Unverified { fingerprint: fingerprint() },
            NoTouch { fingerprint: fingerprint() },
            Webauthn { fingerprint: fingerprint(), problem: WebauthnProblem::Flags },
            Passkey { fingerprint: fingerprint() },
        ),
        every!(WebauthnProblem: Flags, ClientData, Member("origin"), Embedded),
        vec![
            refused("AllowedSignersError", AllowedSigners::parse("alice\n")),
            refused(
                "AllowedSignersError, of its options",
                AllowedSigners::parse("alice x-y ssh-ed25519 AAAA\n"),
            ),
            refused("RevokedKeysError", RevokedKeys::parse(b"neither a list nor a key\n")),
        ],
    ]
    .concat()
}

fn of_signed_actions() -> Vec<Named> {
    let id = || "TR-20260209-160501Z-python-stats".parse().unwrap();
    let kind = SignedActionKind::Approve;
    every!(SignedActionError:
        TooLarge,
        Line { line: 2, form: "action: ACTION" },
        Key(kind, "by"),
        Key(SignedActionKind::Reject, "at"),
        Count(kind, 101),
        Target(kind, id()),
        Digest(kind, id()),
        Digest(SignedActionKind::Hold, id()),
        Duplicate(id()),
        Armour,
        Signature(SignatureError::NotASignature),
        Namespace { found: "file".to_owned(), wanted: crate::APPROVE_NAMESPACE },
        Fill(id(), validator::FillError::FrontMatter),
        Approved(id()),
        Batch(crate::BatchError::Count(0)),
    )
}

fn of_permissions() -> Vec<Named> {
    let entry = PermissionError::Inconsistent { entry: 7, why: "the number is not the next" };
    [
        every!(ToolFinding:
            Denied(PermissionDenial::Named),
            Denied(PermissionDenial::LeftOut),
            Granted(grant()),
            Missing,
            Expired,
            NotCovered,
        ),
        every!(PermissionError:
            NotOpen(permission_request_id()),
            Expired(permission_request_id()),
            DigestMismatch(permission_request_id()),
            SourceMismatch(permission_request_id()),
            NotRequested(permission_request_id(), tool()),
            ExpiredGrant(tool(), time()),
            NoInputs(tool()),
            Blocked(tool(), ToolFinding::Missing),
            NoToolRequested,
            AllApproved,
            NothingToRevoke(tool()),
            NoGrant(grant()),
            Full("more than 100 requests wait"),
            UnknownSource(source());
            without Inconsistent
        ),
        vec![("Refused::Inconsistent", entry.to_string())],
        every!(CallsError:
            Json(JsonError::TooLarge { bytes_max: 1024 }),
            Form("missing field `tools`".to_owned()),
            TooMany,
            NameMismatch(tool()),
        ),
        vec![
            refused("GrantIdError", "x".parse::<GrantId>()),
            refused("PermissionRequestIdError", "x".parse::<PermissionRequestId>()),
            refused("TraceparentError", "x".parse::<Traceparent>()),
            refused("NotAName, empty", "".parse::<AgentName>()),
            refused("NotAName, of signs", "a\u{202e}".parse::<ToolName>()),
            refused("PermissionAnswerError", PermissionAnswer::read(b"{}")),
        ],
    ]
    .concat()
}

fn of_ais() -> Vec<Named> {
    let codes = AisCode::ALL.iter().map(|code| (code.as_str(), code.meaning().to_owned()));
    [
        every!(SigningKeyError: Form, OpenSsh, Kind(Algorithm::ES256), Encrypted, Empty),
        every!(PublicKeyError:
            Form,
            Member("crv"),
            Unknown("d".to_owned()),
            Kind,
            Unsound,
        ),
        every!(AisBundleError:
            Json(JsonError::TooLarge { bytes_max: 1024 }),
            NotAnObject,
            Missing("ibe"),
            Unknown("more".to_owned());
            without Artifact
        ),
        every!(AisTrustError:
            TooLarge,
            Form("missing field `keys`".to_owned()),
            Key("user-1".to_owned(), PublicKeyError::Unsound),
            Unsound("key `user-1` has two roles".to_owned()),
        ),
        vec![
            refused(
                "AisBundleError::Artifact",
                AisBundle::read(br#"{"uia":{},"apa":{},"apr":{},"tca":{},"ibe":{}}"#),
            ),
            refused("RulesError", AisRules::read(b"hs256: maybe\n")),
        ],
        codes.collect(),
    ]
    .concat()
}

fn of_fleets() -> Vec<Named> {
    let key = || FleetSignatureError::Key {
        fingerprint: fingerprint(),
        why: EntitlementError::Namespace,
    };
    let problem = PolicyProblem::new(Some(3), "serial", "is 0".to_owned(), "write 1");
    [
        every!(FleetSignatureError:
            Signature(SignatureError::NotASignature),
            Namespace { found: "file".to_owned() },
            Key { fingerprint: fingerprint(), why: EntitlementError::Revoked },
            Key { fingerprint: fingerprint(), why: EntitlementError::Unknown },
            Key { fingerprint: fingerprint(), why: EntitlementError::Time },
        ),
        every!(FleetListError:
            Form(PolicyError::one("fleet.yaml", problem)),
            Signature { origin: "fleet.yaml".to_owned(), problem: key() },
        ),
        every!(FleetListSerialError: Unreadable, Older { found: 6, seen: 7 }),
        every!(FleetLostOrderError:
            Line { line: 2, form: "host NAME" },
            Host { found: "host-b".to_owned() },
            Fleet { found: "0b1c2d3e".to_owned() },
            Time(time()),
            Signature(key()),
        ),
    ]
    .concat()
}

#[test]
fn error_texts_match_the_snapshot() {
    let key = PolicyProblem::new(Some(7), "limits.pids_max", "is 0".to_owned(), "write 1 or more");
    let whole = PolicyProblem::new(None, "", "is empty".to_owned(), "write a policy");
    let of_policies = vec![
        ("PolicyProblem", key.to_string()),
        ("PolicyError", PolicyError::one("policy.yaml", key).to_string()),
        ("PolicyError, of the whole file", PolicyError::one("policy.yaml", whole).to_string()),
    ];
    assert_texts(
        "policies",
        vec![
            of_policies,
            of_approvals(),
            of_signed_actions(),
            of_permissions(),
            of_ais(),
            of_fleets(),
        ],
    );
}
