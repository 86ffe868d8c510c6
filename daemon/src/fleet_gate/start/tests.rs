//! The wait for a start against gates that decide, hesitate, lie and disappear.

use std::io;
use std::path::PathBuf;

use fleet::gate::{FleetGauges, StartQuery};

use super::*;

fn query() -> GateQuery {
    GateQuery::Start(StartQuery {
        request: "TR-20260209-160501Z-one".to_owned(),
        document_sha256: "0".repeat(64),
        standing: None,
    })
}

fn undecided() -> Result<GateAnswer, GateError> {
    let reason = "database: connection refused; help: start it".to_owned();
    Ok(GateAnswer::Undecided { reason })
}

fn unreachable() -> Result<GateAnswer, GateError> {
    let error = io::Error::from_raw_os_error(111);
    Err(GateError::Unreachable(PathBuf::from("/run/gate"), error))
}

/// Asks a gate that gives these answers in turn, and then no other. Returns the number of queries.
fn decide(
    wait_ms: u64,
    mut answers: Vec<Result<GateAnswer, GateError>>,
) -> (Result<(), String>, usize) {
    let mut asked = 0;
    let decided = ask_start(
        &query(),
        Duration::from_millis(wait_ms),
        &mut || true,
        &mut |asked_for, limit| {
            assert_eq!(*asked_for, query());
            assert!(limit.time_max <= Duration::from_millis(wait_ms).min(ANSWER_TIME_MAX));
            asked += 1;
            match answers.is_empty() {
                true => undecided(),
                false => answers.remove(0),
            }
        },
    );
    (decided, asked)
}

#[test]
fn only_the_permission_permits_a_start() {
    assert_eq!(decide(60_000, vec![Ok(GateAnswer::Start)]), (Ok(()), 1));
    let reason = "TR-1: started by host-b; help: see its record".to_owned();
    let refused = Ok(GateAnswer::Refused { reason: reason.clone() });
    assert_eq!(decide(60_000, vec![refused, Ok(GateAnswer::Start)]), (Err(reason), 1));
}

#[test]
fn an_undecided_start_is_asked_again_until_it_is_decided() {
    let ready = || Ok(GateAnswer::Ready(FleetGauges::default()));
    let answers = vec![undecided(), unreachable(), ready(), Ok(GateAnswer::Start)];
    assert_eq!(decide(60_000, answers), (Ok(()), 4));
}

#[test]
fn the_wait_for_a_start_ends_with_the_last_error() {
    let begun = Instant::now();
    let (decided, asked) = decide(1200, vec![]);
    let reason = decided.unwrap_err();
    let expected = "the fleet did not decide about the start within 1 s: database: connection \
                    refused; help: start it";
    assert_eq!(reason, expected);
    assert!((2..=3).contains(&asked), "{asked}");
    assert!(begun.elapsed() >= Duration::from_millis(1100), "{:?}", begun.elapsed());
    let (decided, _) = decide(300, vec![unreachable()]);
    assert!(decided.unwrap_err().contains("/run/gate: cannot reach the gate"));
}

#[test]
fn a_cancelled_wait_asks_nothing_more() {
    let mut asked = 0;
    let mut wanted = true;
    let begun = Instant::now();
    let decided = ask_start(
        &query(),
        Duration::from_secs(240),
        &mut || std::mem::take(&mut wanted),
        &mut |_, limit| {
            asked += 1;
            match (limit.is_wanted)() {
                true => undecided(),
                false => Err(GateError::Cancelled),
            }
        },
    );
    assert!(decided.unwrap_err().contains("was cancelled"));
    assert_eq!(asked, 2);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_record_can_state_every_reason() {
    let instruction = "not found; help: run `make install`";
    assert!(validator::withholding_code(instruction).is_some(), "{instruction}");
    let long = format!("{}; help: {}", "r".repeat(60_000), "h".repeat(60_000));
    for reason in [instruction, "two\nlines", "without help", "", long.as_str()] {
        let stated = stated(reason);
        assert_eq!(validator::withholding_code(&stated), None, "{stated}");
        assert!(stated.contains("; help: "), "{stated}");
        assert!(!stated.contains('\n') && stated.chars().count() < 2100, "{stated}");
    }
}

/// The texts of the client are reasons too.
#[test]
fn errors_of_the_client_are_stated_as_they_are() {
    let path = || PathBuf::from("/run/gate");
    let lost = || io::Error::from_raw_os_error(104);
    for error in [
        GateError::Unreachable(path(), lost()),
        GateError::Lost(path(), "waiting for an answer", lost()),
        GateError::Silent(path(), Duration::from_secs(15)),
        GateError::TooLong(path()),
        GateError::Invalid(path(), "EOF while parsing a value".to_owned()),
        GateError::Cancelled,
    ] {
        let text = error.to_string();
        assert_eq!(stated(&text), text);
    }
}
