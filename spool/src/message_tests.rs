//! The texts of this crate's errors, compared with `tests/snapshots/messages/spool.txt`. Every
//! error that a test can construct must be included.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use policies::permissions::PermissionError;
use shared::{Named, assert_texts, denied, every, path};

use crate::fsck::{DaemonPresence, SpoolProblem};
use crate::state::{IllegalState, RemovalMarksError};
use crate::{
    LedgerFault, PermissionStoreError, PriorRun, PublishedFileError, Shortage, SpoolError,
};

const RESULT: &str = "TS-20260209-161030Z-TR-20260209-160501Z-python-stats";

fn of_the_spool() -> Vec<Named> {
    every!(SpoolError:
        Io { path: path(), act: "open", error: denied() },
        FileKind { path: path(), kind: "a symbolic link" },
        TooLarge { path: path(), bytes_max: 1024 },
        Busy { path: path() },
        Changed { path: path() },
        LedgerLine { path: path(), line: 7 },
        Ledger { path: path(), fault: LedgerFault::NoHead },
        Unsynced { path: path(), error: denied() },
        Replaced { path: path() },
        EarlierSyncFailed { path: path() },
        CannotRemove { path: path() },
    )
}

fn of_the_ledger() -> Vec<Named> {
    [
        every!(LedgerFault:
            Missing { shown_by: path() },
            NoHead,
            HeadUnreadable,
            Truncated { bytes: 100, head_bytes: 200 },
            Different { head_bytes: 200 },
            Checksum { line: 7 },
            Outdated { run: path(), runs: 1 },
            Outdated { run: path(), runs: 2 },
        ),
        every!(PriorRun:
            SameBytes { result_id: RESULT.to_owned(), record: path() },
            SameId { result_id: RESULT.to_owned(), record: path() },
            SameNonce { nonce: "n-1".to_owned() },
        ),
    ]
    .concat()
}

fn of_a_report() -> Vec<Named> {
    [
        every!(SpoolProblem:
            Illegal(IllegalState::TwoResults),
            Interrupted,
            Leftover { age_sec: 60 },
            Unverified,
            Owner { is: 1000, should: 0 },
            Mode { is: 0o777, should: 0o755 },
            NoLedger,
            Ledger(LedgerFault::NoHead),
            LedgerLine { line: 7 },
            InvalidRemovalLine { line: 7 },
            NotInTheLedger,
            StaleRequest { age_sec: 600, daemon: DaemonPresence::Absent },
            NoSpace { bytes: 100, bytes_min: 200 },
            Unreadable("Permission denied".to_owned()),
        ),
        every!(IllegalState:
            TwoResults,
            TwoDestinations,
            TwoPromises,
            StillInWork,
            RemovedInWork,
            Unpromised,
            RemovedTooEarly,
            TornAndBegun,
            TornAndRecorded,
            ObjectBegun,
            RefusalInLedger,
            NotInTheLedger,
            Lost,
        ),
        every!(RemovalMarksError: Read(path(), denied()), Line(path(), 7)),
    ]
    .concat()
}

#[test]
fn error_texts_match_the_snapshot() {
    let others = [
        every!(PermissionStoreError:
            Refused(PermissionError::NoToolRequested),
            Disk(SpoolError::Busy { path: path() }),
            Damaged { path: path(), offset: 100, why: "not JSON".to_owned() },
            Uncertain { path: path() },
        ),
        every!(PublishedFileError:
            Missing,
            Unreadable(path(), denied()),
            Invalid(path(), "missing field `state`".to_owned()),
        ),
        every!(Shortage: DiskSpace, Descriptors),
    ];
    let texts = vec![of_the_spool(), of_the_ledger(), of_a_report(), others.concat()];
    assert_texts("spool", texts);
}
