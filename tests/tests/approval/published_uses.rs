//! `toolexec standing uses --spool`: the published uses, for a user without access to the state.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput};

const MEANS: &str = "SA-20260209-160501Z-means";
const OTHER: &str = "SA-20260209-160502Z-other";
const TIMES: [&str; 2] = ["2026-02-09T17:00:00Z", "2026-02-09T18:00:00Z"];

/// A spool with the file that a daemon publishes for each of these standing approvals.
fn spool_with(bench: &Bench, published: &[(&str, u64, &[&str])]) -> PathBuf {
    let standing = bench.scratch().dir("spool/public/standing");
    for (id, uses, times) in published {
        let file = json!({ "sha256": "ab".repeat(32), "uses": uses, "latest_utc": times });
        fs::write(standing.join(format!("{id}.uses.json")), file.to_string()).unwrap();
    }
    bench.scratch().path().join("spool")
}

fn uses(bench: &Bench, typed: &str, more: &[&str]) -> CliOutput {
    let spool = bench.scratch().path().join("spool");
    let words = ["standing", "uses", typed, "--spool", spool.to_str().unwrap()];
    bench.toolexec([&words[..], more].concat())
}

#[test]
fn the_latest_uses_have_their_numbers_and_times() {
    let bench = Bench::new();
    spool_with(&bench, &[(MEANS, 7, &TIMES), (OTHER, 2, &TIMES)]);
    let shown = uses(&bench, MEANS, &[]);
    shown.assert_code(0);
    let rows: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!(rows[0].split_whitespace().collect::<Vec<_>>(), ["6", TIMES[0], "-", "-"]);
    assert_eq!(rows[1].split_whitespace().collect::<Vec<_>>(), ["7", TIMES[1], "-", "-"]);
    assert_eq!(rows.len(), 2, "{shown:#?}");
    shown.assert_stderr(&["7 uses, the latest 2 are shown", "help: ", "--state"]);

    // A reference, or the unique beginning of one, is an id too.
    let reference = format!("{OTHER}@sha256:{}", "ab".repeat(32));
    for typed in [reference.as_str(), "SA-20260209-160502Z"] {
        let listed = uses(&bench, typed, &["--format", "json"]);
        listed.assert_code(0);
        assert_eq!(listed.stderr, "");
        let last: Value = listed.json();
        let expected = json!({
            "use": 2, "begun_utc": TIMES[1], "request_id": null, "result_id": null,
        });
        assert_eq!(last, expected);
    }
}

#[test]
fn a_published_standing_approval_may_have_no_uses() {
    let bench = Bench::new();
    spool_with(&bench, &[(MEANS, 0, &[])]);
    let shown = uses(&bench, "SA-", &[]);
    shown.assert_code(0);
    assert_eq!(shown.stdout, format!("{MEANS}: no uses\n"));
    assert_eq!(uses(&bench, "SA-", &["--format", "json"]).stdout, "");
}

#[test]
fn an_ambiguous_or_unknown_id_is_refused() {
    let bench = Bench::new();
    spool_with(&bench, &[(MEANS, 0, &[]), (OTHER, 0, &[])]);
    let several = uses(&bench, "SA-", &[]);
    several.assert_code(3);
    several.assert_stderr(&["several match", MEANS, OTHER]);
    let other = format!("{MEANS}@sha256:{}", "cd".repeat(32));
    for typed in ["SA-20260209-160503Z-none", other.as_str(), "../../x"] {
        let none = uses(&bench, typed, &[]);
        none.assert_code(2);
        none.assert_stderr(&["no such standing approval in ", "public/standing", "help: "]);
    }
    uses(&bench, MEANS, &["--state", "x"]).assert_code(3);
}

#[test]
fn files_that_a_daemon_does_not_write_are_left_out() {
    let bench = Bench::new();
    let spool = spool_with(&bench, &[(MEANS, 1, &TIMES[..1])]);
    let standing = spool.join("public/standing");
    let good = fs::read(standing.join(format!("{MEANS}.uses.json"))).unwrap();
    let elsewhere = bench.scratch().file("elsewhere", good);
    symlink(elsewhere, standing.join(format!("{OTHER}.uses.json"))).unwrap();
    let odd_time = r#"{"sha256":"ab","uses":1,"latest_utc":["\u001b[2J"]}"#;
    for (slug, content) in [("text", "x"), ("time", odd_time)] {
        fs::write(standing.join(format!("SA-20260209-160503Z-{slug}.uses.json")), content).unwrap();
    }
    let shown = uses(&bench, "SA-", &[]);
    shown.assert_code(0);
    assert_eq!(shown.stdout.lines().count(), 1, "{shown:#?}");

    fs::remove_dir_all(&standing).unwrap();
    uses(&bench, MEANS, &[]).assert_code(2);
    fs::remove_dir_all(spool.join("public")).unwrap();
    uses(&bench, MEANS, &[]).assert_code(3);
    fs::remove_dir_all(&spool).unwrap();
    let missing = uses(&bench, MEANS, &[]);
    missing.assert_code(3);
    missing.assert_stderr(&["--spool", "help: "]);
}
