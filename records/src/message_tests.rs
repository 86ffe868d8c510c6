//! Compares the texts of this crate's errors with `tests/snapshots/messages/records.txt`. It must
//! never omit an error that a test can construct.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use model::{Sha256, UtcTime};
use policies::NotEntitled;
use shared::{Named, assert_texts, denied, every, path, refused};
use validator::{Code, Violation};

use crate::log::{
    AnswerFault, CheckpointFault, ExportError, FsckFault, KeyChangeFault, KeyRole, LogError,
    LogOrigin, Lost, NotChecked as NotLookedAt, ProofFault,
};
use crate::{
    ApprovalProblem, BundleFault, Clash, Fault, HistoryError, KeyError, KeyFingerprint, NotChecked,
    RotationError, SignError, SignatureProblem, SigningError, Trust,
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
        every!(KeyError:
            Io { path: path(), act: "open", source: denied() },
            NotAFile { path: path() },
            TooLarge { path: path() },
            Exposed { path: path(), mode: 0o644 },
            Owner { path: path(), uid: 1000 },
            Writable { path: path(), mode: 0o777 },
            Format { path: path(), source: wrong_key() },
            NotP256 { path: path() },
            NotEd25519 { path: path() },
            Halves { path: path() },
            Orphan { path: path() },
            OtherKey { path: path() },
            Generate { path: path(), source: wrong_key() },
            Retired { path: path(), line: 7 },
            Unfinished { path: path().join("result.change") },
            AgentKind { key: fingerprint(), wanted: "ECDSA P-256 key" },
            Custody(denied());
            without Agent
        ),
        every!(SigningError: Key(wrong_key()); without Agent),
        every!(RotationError:
            Key(KeyError::NotP256 { path: path() }),
            Log(LogError::Stopped),
            Signing(SigningError::Key(wrong_key())),
            Change(path(), KeyChangeFault::Form),
            Strange(path()),
            Returns(FINGERPRINT.to_owned()),
            Another(KeyRole::Result),
            Clock(time()),
            Source("key rotation: its keys have no fingerprint"),
            Two(path()),
            Lent,
        ),
        every!(KeyChangeFault: Form, Key, Old, New),
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
            Checkpoint { path: path(), fault: CheckpointFault::Form },
            NoSuchEntry { index: 7, size: 7 },
            TooLarge { bytes: 100_000 },
            TooMany { entries: 1000 },
            Sign(SigningError::Key(wrong_key())),
            Stopped;
            without Lost
        ),
        vec![
            ("LogError::Lost, gone", lost(Lost::Nothing).to_string()),
            ("LogError::Lost, shorter", lost(Lost::Shorter { entries: 3 }).to_string()),
            ("LogError::Lost, another", lost(Lost::Another).to_string()),
        ],
        every!(CheckpointFault: Form, Origin, Unsigned, Signature),
        every!(ProofFault: Form, Checkpoint(CheckpointFault::Origin), NotIncluded),
        every!(AnswerFault: Form, Unsigned),
        every!(FsckFault:
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
            Contradiction { record: ID.to_owned(), what: "it ended before it began" },
            Invalid { record: ID.to_owned(), violations: vec![violation] },
            Key { record: ID.to_owned(), source: SigningError::Key(wrong_key()) },
        ),
        every!(SignatureProblem:
            NotASignature,
            Namespace { found: "approve.tool-exec@threegate".to_owned() },
            NotTrusted { fingerprint: FINGERPRINT.to_owned() },
            OtherBytes,
            OutOfTime { fingerprint: FINGERPRINT.to_owned(), made: time() },
        ),
        every!(BundleFault:
            TooLarge,
            Form(text()),
            Field("mediaType"),
            OtherKey,
            OtherSigner,
            OtherRecord,
            OtherLog,
            Signature,
            Statement(text()),
            Log(ProofFault::NotIncluded),
        ),
        vec![refused("TrustError", Trust::from_allowed_signers("alice\n"))],
    ]
    .concat()
}

fn of_faults() -> Vec<Named> {
    let text = || "Permission denied".to_owned();
    let (own, other) = ("stdout".to_owned(), "somewhere/else".to_owned());
    every!(Fault:
        Directory { path: own.clone(), problem: text() },
        DirectoryName { found: own.clone(), result_id: ID.to_owned() },
        Record { file: file(), problem: text() },
        Signature { file: file(), problem: SignatureProblem::OtherBytes },
        Bundle { file: file(), problem: BundleFault::Signature },
        Proof { file: file(), problem: ProofFault::NotIncluded },
        Subject { file: file(), path: own.clone() },
        Drift { file: file(), keys: vec!["outcome".to_owned(), "exit_code".to_owned()] },
        Contradiction { file: file(), what: "it ended before it began".to_owned() },
        Approval {
            file: file(),
            approval: "alice".to_owned(),
            problem: ApprovalProblem::NoSignature,
        },
        History { file: file(), problem: HistoryError::Origin },
        Clash { clash: Clash::ResultId, with: other },
        Digest { path: own.clone(), found: digest("ab"), stated: digest("cd") },
        Missing { path: own.clone() },
        NotNamed { path: own.clone() },
        Kind { path: own.clone(), kind: "symbolic link" },
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
            NotEntitled(NotEntitled::Revoked, time()),
            NotEntitled(NotEntitled::Unknown, time()),
            NotEntitled(NotEntitled::Namespace, time()),
            NotEntitled(NotEntitled::Time, time()),
            Rejected,
        ),
        every!(HistoryError:
            Origin,
            Smaller { was: 7, is: 3 },
            Rewritten { was: 3, is: 7 },
            Unreadable(text()),
        ),
        every!(Clash: ResultId, Request, LogIndex(7), LogLeaf, LogFork(7), Replay),
        every!(NotChecked:
            Record,
            Files,
            Statement,
            Log,
            History,
            Approvals,
            Request,
            NoApproval,
            ApprovalsOfBundle,
            ReplayedRecord,
        ),
    ]
    .concat()
}

#[test]
fn the_errors_say_what_they_said() {
    let texts = vec![of_keys(), of_the_log(), of_a_record(), of_verification()];
    assert_texts("records", texts);
}
