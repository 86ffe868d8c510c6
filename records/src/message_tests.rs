//! The texts of all constructible errors, against `tests/snapshots/messages/records.txt`.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use model::{Sha256, UtcTime};
use policies::EntitlementError;
use shared::{Named, assert_texts, denied, every, path, refused};
use validator::{Code, Violation};

use crate::log::{
    CheckpointError, ExportError, KeyChangeError, KeyRole, LogError, LogFsckProblem, LogLoss,
    LogOrigin, ProofError, UncheckedLogFile as NotLookedAt, WitnessRefusal, WitnessReplyError,
};
use crate::{
    ApprovalProblem, Conflict, FleetTrustError, HistoryError, HostKeyError, KeyFingerprint,
    RecordBundleError, RotationError, SignError, SignatureProblem, SigningError, SkippedCheck,
    Trust, VerifyError,
};

const ID: &str = "TS-20260209-161030Z-TR-20260209-160501Z-python-stats";
const FINGERPRINT: &str = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";

fn fingerprint() -> KeyFingerprint {
    FINGERPRINT.parse().unwrap()
}

fn time() -> UtcTime {
    "2026-02-09T16:05:01Z".parse().unwrap()
}

fn digest(byte: &str) -> Sha256 {
    byte.repeat(32).parse().unwrap()
}

fn wrong_key() -> ssh_key::Error {
    ssh_key::Error::Crypto
}

fn file() -> String {
    format!("{ID}.md")
}

fn of_keys() -> Vec<Named> {
    [
        every!(HostKeyError:
            Io { path: path(), act: "open", source: denied() },
            NotAFile { path: path() },
            TooLarge { path: path() },
            Exposed { path: path(), mode: 0o644 },
            Owner { path: path(), uid: 1000 },
            Writable { path: path(), mode: 0o777 },
            Format { path: path(), source: wrong_key() },
            NotP256 { path: path() },
            NotEd25519 { path: path() },
            HalvesDiffer { path: path() },
            PrivateKeyMissing { path: path() },
            OtherKey { path: path() },
            Generate { path: path(), source: wrong_key() },
            Retired { path: path(), line: 7 },
            Unfinished { path: path().join("result.change") },
            AgentKind { key: fingerprint(), wanted: "ECDSA P-256 key" },
            Protection(denied());
            without Agent
        ),
        every!(SigningError: Key(wrong_key()); without Agent),
        every!(RotationError:
            Key(HostKeyError::NotP256 { path: path() }),
            Log(LogError::Stopped),
            Signing(SigningError::Key(wrong_key())),
            Change(path(), KeyChangeError::Form),
            OtherKey(path()),
            RetiredKey(FINGERPRINT.to_owned()),
            OtherUnfinished(KeyRole::Result),
            Clock(time()),
            Source("key rotation: its keys have no fingerprint"),
            TwoNewKeys(path()),
            CredentialsChanged,
        ),
        every!(KeyChangeError: Form, Key, Old, New),
        vec![refused("NotAFingerprint", "x".parse::<KeyFingerprint>())],
    ]
    .concat()
}

fn of_the_log() -> Vec<Named> {
    let lost = |found| LogError::Lost { log: path(), head: path(), entries: 7, found };
    [
        every!(LogError:
            Io { path: path(), act: "open", source: denied() },
            Locked { path: path() },
            Missing { path: path() },
            Damaged { path: path(), what: "not a tile" },
            Checkpoint { path: path(), fault: CheckpointError::Form },
            NoSuchEntry { index: 7, size: 7 },
            TooLarge { bytes: 100_000 },
            TooMany { entries: 1000 },
            Sign(SigningError::Key(wrong_key())),
            Stopped;
            without Lost
        ),
        vec![
            ("LogError::Lost, gone", lost(LogLoss::Missing).to_string()),
            ("LogError::Lost, shorter", lost(LogLoss::Shorter { entries: 3 }).to_string()),
            ("LogError::Lost, another", lost(LogLoss::Replaced).to_string()),
        ],
        every!(CheckpointError: Form, Origin, Unsigned, Signature),
        every!(ProofError: Form, Checkpoint(CheckpointError::Origin), NotIncluded),
        every!(WitnessReplyError: Form, Unsigned),
        every!(WitnessRefusal:
            Form,
            Checkpoint(CheckpointError::Unsigned),
            OldBeyondSize { old: 9, size: 7 },
            OtherOld { old: 3, cosigned: 5 },
            Shrunk { size: 7, cosigned: 9 },
            OtherRoot { size: 7, root: digest("ab"), cosigned: digest("cd") },
            NotExtended { size: 9, cosigned: 7 },
        ),
        every!(LogFsckProblem:
            File(LogError::Missing { path: path() }),
            Tile { path: "tile/0/000".to_owned() },
            Root { computed: digest("ab"), signed: digest("cd") },
            Duplicate { first: 3, second: 7 },
        ),
        every!(ExportError:
            Log(LogError::Locked { path: path() }),
            Fork { size: 7, there: digest("ab"), here: digest("cd") },
            Ahead { there: 7, here: 3 },
        ),
        vec![
            refused("NotAnOrigin", "https://x".parse::<LogOrigin>()),
            (
                "NotChecked, of the log",
                NotLookedAt { path: "tile/0/000".to_owned(), why: "not covered by the checkpoint" }
                    .to_string(),
            ),
        ],
    ]
    .concat()
}

fn of_a_record() -> Vec<Named> {
    let violation = Violation::error(Code::FrontmatterMissing, "there is no front matter");
    let text = || "missing field `outcome`".to_owned();
    [
        every!(SignError:
            Inconsistency { record: ID.to_owned(), what: "it ended before it began" },
            Invalid { record: ID.to_owned(), violations: vec![violation] },
            Key { record: ID.to_owned(), source: SigningError::Key(wrong_key()) },
        ),
        every!(SignatureProblem:
            NotASignature,
            Namespace { found: "approve.tool-exec@threegate".to_owned() },
            NotTrusted { fingerprint: FINGERPRINT.to_owned() },
            OtherBytes,
            OutsideValidity { fingerprint: FINGERPRINT.to_owned(), made: time() },
        ),
        every!(RecordBundleError:
            TooLarge,
            Form(text()),
            Field("mediaType"),
            OtherKey,
            OtherSigner,
            OtherRecord,
            OtherLog,
            Signature,
            Statement(text()),
            Log(ProofError::NotIncluded),
        ),
        vec![refused("RecordTrustError", Trust::from_allowed_signers("alice\n"))],
    ]
    .concat()
}

fn of_faults() -> Vec<Named> {
    let text = || "Permission denied".to_owned();
    let (own, other) = ("stdout".to_owned(), "somewhere/else".to_owned());
    every!(VerifyError:
        Directory { path: own.clone(), problem: text() },
        DirectoryName { found: own.clone(), result_id: ID.to_owned() },
        Record { file: file(), problem: text() },
        Signature { file: file(), problem: SignatureProblem::OtherBytes },
        Bundle { file: file(), problem: RecordBundleError::Signature },
        Proof { file: file(), problem: ProofError::NotIncluded },
        Subject { file: file(), path: own.clone() },
        FactsDiffer { file: file(), keys: vec!["outcome".to_owned(), "exit_code".to_owned()] },
        Inconsistency { file: file(), what: "it ended before it began".to_owned() },
        Approval {
            file: file(),
            approval: "alice".to_owned(),
            problem: ApprovalProblem::NoSignature,
        },
        History { file: file(), problem: HistoryError::Origin },
        Conflict { clash: Conflict::ResultId, with: other },
        Digest { path: own.clone(), found: digest("ab"), stated: digest("cd") },
        Missing { path: own.clone() },
        NotNamed { path: own.clone() },
        FileType { path: own.clone(), kind: "symbolic link" },
        Unreadable { path: own.clone(), problem: text() },
        TooLarge { path: own.clone(), bytes_max: 1024 },
        TooMany { path: own },
    )
}

fn of_verification() -> Vec<Named> {
    let text = || "Permission denied".to_owned();
    [
        of_faults(),
        every!(ApprovalProblem:
            Request(text()),
            NoSignature,
            Signature("not an SSH signature".to_owned()),
            Passkey,
            NotEntitled(EntitlementError::Revoked, time()),
            NotEntitled(EntitlementError::Unknown, time()),
            NotEntitled(EntitlementError::Namespace, time()),
            NotEntitled(EntitlementError::Time, time()),
            Rejected,
        ),
        every!(HistoryError:
            Origin,
            Smaller { was: 7, is: 3 },
            Rewritten { was: 3, is: 7 },
            Unreadable(text()),
        ),
        every!(Conflict: ResultId, Request, LogIndex(7), LogLeaf, LogFork(7), Replay, Use(7)),
        every!(SkippedCheck:
            Record,
            Files,
            Statement,
            Log,
            History,
            Approvals,
            Request,
            NoApproval,
            ApprovalsOfBundle,
            Standing,
            ReplayedRecord,
            FleetList,
        ),
        every!(FleetTrustError:
            RecordKey { host: "host-a".to_owned(), problem: text() },
            NotForResults { host: "host-a".to_owned() },
            LogKey { host: "host-a".to_owned() },
        ),
    ]
    .concat()
}

#[test]
fn error_texts_match_the_snapshot() {
    let texts = vec![of_keys(), of_the_log(), of_a_record(), of_verification()];
    assert_texts("records", texts);
}
