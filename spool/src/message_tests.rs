//! The texts of this crate's errors, compared with `tests/snapshots/messages/spool.txt`. Every
//! error that a test can construct must be included.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use policies::permissions::Refused;
use shared::{Named, assert_texts, denied, every, path};

use crate::state::{Illegal, RemovedError};
use crate::survey::{Daemon, Trouble};
use crate::{LedgerFault, Seen, SpoolError, StoreError, ToldError, Want};

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
        Stopped { path: path() },
        NotOurs { path: path() },
    )
}

fn of_the_ledger() -> Vec<Named> {
    [
        every!(LedgerFault:
            Missing { shown_by: path() },
            NoHead,
            HeadUnreadable,
            Shorter { bytes: 100, head_bytes: 200 },
            Another { head_bytes: 200 },
            Sum { line: 7 },
            Older { run: path(), runs: 1 },
            Older { run: path(), runs: 2 },
        ),
        every!(Seen:
            SameBytes { result_id: RESULT.to_owned(), record: path() },
            SameId { result_id: RESULT.to_owned(), record: path() },
            SameNonce { nonce: "n-1".to_owned() },
        ),
    ]
    .concat()
}

fn of_a_survey() -> Vec<Named> {
    [
        every!(Trouble:
            Illegal(Illegal::TwoResults),
            Interrupted,
            Rubbish { age_sec: 60 },
            Unverified,
            Owner { is: 1000, should: 0 },
            Mode { is: 0o777, should: 0o755 },
            NoLedger,
            Ledger(LedgerFault::NoHead),
            LedgerLine { line: 7 },
            RemovedLine { line: 7 },
            NotInTheLedger,
            Waits { age_sec: 600, daemon: Daemon::Absent },
            NoRoom { bytes: 100, bytes_min: 200 },
            Unreadable("Permission denied".to_owned()),
        ),
        every!(Illegal:
            TwoResults,
            TwoDestinations,
            TwoPromises,
            StillInWork,
            RemovedInWork,
            Unpromised,
            TakenTooEarly,
            TornAndBegun,
            TornAndTold,
            ObjectBegun,
            LineOfARefusal,
            NotInTheLedger,
            Lost,
        ),
        every!(RemovedError: Read(path(), denied()), Line(path(), 7)),
    ]
    .concat()
}

#[test]
fn the_errors_say_what_they_said() {
    let others = [
        every!(StoreError:
            Refused(Refused::NothingAsked),
            Disk(SpoolError::Busy { path: path() }),
            Damaged { path: path(), offset: 100, why: "not JSON".to_owned() },
            Doubtful { path: path() },
        ),
        every!(ToldError:
            Nothing,
            Unreadable(path(), denied()),
            Unsound(path(), "missing field `state`".to_owned()),
        ),
        every!(Want: Room, Descriptors),
    ];
    let texts = vec![of_the_spool(), of_the_ledger(), of_a_survey(), others.concat()];
    assert_texts("spool", texts);
}
