//! Compares the texts of this crate's errors with `tests/snapshots/messages/daemon.txt`. Every
//! error that a test can construct must be in the list.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use model::UtcTime;
use policies::{AllowedSigners, Policy, RevokedKeys};
use records::log::{LogError, ProofError};
use records::{HostKeyError, RecordBundleError, RotationError, SignError, VerifyError};
use shared::{Named, assert_texts, denied, every, path};
use spool::{LatestTime, PermissionStoreError, Shortage, SpoolError};

use crate::metrics::MetricsSocketError;
use crate::model::ConfigError;
use crate::model::DaemonError;

const ID: &str = "TS-20260209-161030Z-TR-20260209-160501Z-python-stats";

fn time() -> UtcTime {
    "2026-02-09T16:05:01Z".parse().unwrap()
}

fn config_errors() -> Vec<Named> {
    let text = || "missing field `spool`".to_owned();
    every!(ConfigError:
        Read(path(), denied()),
        TooLarge(path(), 1024),
        Syntax(path(), text()),
        Value(path(), text()),
        Policy(Policy::parse(b"policy_version: 2\n", "policy.yaml").unwrap_err()),
        Signers(path(), AllowedSigners::parse("alice\n").unwrap_err()),
        Revoked(path(), RevokedKeys::parse(b"neither a list nor a key\n").unwrap_err()),
    )
}

#[test]
fn error_texts_match_snapshot() {
    let key = || HostKeyError::NotP256 { path: path() };
    let unsigned = SignError::Inconsistency { record: ID.to_owned(), what: "it cannot be" };
    let faults = vec![VerifyError::Missing { path: "stdout".to_owned() }];
    let fatal_errors = every!(DaemonError:
        Spool(SpoolError::Busy { path: path() }),
        Key(key()),
        KeyChange(RotationError::Key(key())),
        Sign(unsigned),
        Log(LogError::Stopped),
        Permissions(PermissionStoreError::Uncertain { path: path() }),
        EnvironmentFile(ConfigError::TooLarge(path(), 1024)),
        RequestChanged(path()),
        ClockBehind { now: time(), last: LatestTime { at: time(), path: path() } },
        CannotHold,
        Metrics(MetricsSocketError::InUse(path())),
        WorkerDied,
        BatchFailed,
        BatchShortage(Shortage::DiskSpace, "no space left".to_owned()),
        Proof(ProofError::NotIncluded),
        Unverified { record: ID.parse().unwrap(), faults: faults },
        InvalidBundle(RecordBundleError::Signature),
        System("random numbers", denied()),
    );
    let sockets = every!(MetricsSocketError: InUse(path()), Io(path(), denied()));
    assert_texts("daemon", vec![fatal_errors, config_errors(), sockets]);
}

/// A record states such a text as its reason or as a hint. The lint withholds a text that reads as
/// an instruction to run or install something.
#[test]
fn texts_that_records_state_pass_the_lint() {
    let egress = include_str!("../../tests/snapshots/messages/egress.txt");
    let spool = include_str!("../../tests/snapshots/messages/spool.txt");
    let mut count = 0;
    for text in egress.lines().chain(spool.lines()).filter_map(|line| line.strip_prefix("    ")) {
        assert_eq!(validator::withholding_code(text), None, "{text}");
        count += 1;
    }
    assert!(count > 50, "{count} texts: the search is broken");
    let instruction = "not found; help: run `make install`";
    assert!(validator::withholding_code(instruction).is_some(), "{instruction}");
}
