//! Compares the texts of this crate's errors with `tests/snapshots/messages/daemon.txt`. Every
//! error that a test can construct must be in the list.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use model::UtcTime;
use policies::{Policy, Revoked, Signers};
use records::log::{LogError, ProofFault};
use records::{BundleFault, Fault, KeyError, RotationError, SignError};
use shared::{Named, assert_texts, denied, every, path};
use spool::{LastKnown, SpoolError, StoreError, Want};

use crate::metrics::SocketError;
use crate::model::ConfigError;
use crate::model::Halt;

const ID: &str = "TS-20260209-161030Z-TR-20260209-160501Z-python-stats";

fn time() -> UtcTime {
    "2026-02-09T16:05:01Z".parse().unwrap()
}

fn of_a_configuration() -> Vec<Named> {
    let text = || "missing field `spool`".to_owned();
    every!(ConfigError:
        Read(path(), denied()),
        TooLarge(path(), 1024),
        Syntax(path(), text()),
        Value(path(), text()),
        Policy(Policy::parse(b"policy_version: 2\n", "policy.yaml").unwrap_err()),
        Signers(path(), Signers::parse("alice\n").unwrap_err()),
        Revoked(path(), Revoked::parse(b"neither a list nor a key\n").unwrap_err()),
    )
}

#[test]
fn the_errors_say_what_they_said() {
    let key = || KeyError::NotP256 { path: path() };
    let unsigned = SignError::Contradiction { record: ID.to_owned(), what: "it cannot be" };
    let faults = vec![Fault::Missing { path: "stdout".to_owned() }];
    let halts = every!(Halt:
        Spool(SpoolError::Busy { path: path() }),
        Key(key()),
        KeyChange(RotationError::Key(key())),
        Sign(unsigned),
        Log(LogError::Stopped),
        Permissions(StoreError::Doubtful { path: path() }),
        Supply(ConfigError::TooLarge(path(), 1024)),
        OtherRequest(path()),
        ClockBehind { now: time(), last: LastKnown { at: time(), path: path() } },
        NobodyHolds,
        Metrics(SocketError::Taken(path())),
        WorkerDied,
        Together,
        Wanting(Want::Room, "no space left".to_owned()),
        Proof(ProofFault::NotIncluded),
        Unverified { record: ID.parse().unwrap(), faults: faults },
        Unproved(BundleFault::Signature),
        Kernel("random numbers", denied()),
    );
    let sockets = every!(SocketError: Taken(path()), Io(path(), denied()));
    assert_texts("daemon", vec![halts, of_a_configuration(), sockets]);
}
