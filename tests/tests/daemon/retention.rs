//! Retention removes expired results and nothing else: by age, number and bytes, by command or by
//! the daemon, even if it is killed between two steps. No removed request runs again.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use toolexec_tests::crash_support::FailpointDaemon;
use toolexec_tests::{Bench, CliOutput, DocPage, RequestText, Service, ServiceConfig, list};

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

fn days_ago(days: u64) -> String {
    let output = Command::new("date")
        .args(["-u", "-d", &format!("{days} days ago"), "+%Y%m%d-%H%M%SZ"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Gives a new result the name and time of an old one. Retention uses nothing else.
fn age(service: &Service<'_>, id: &str, days: u64) -> String {
    let request = id.split_at("TS-YYYYMMDD-HHMMSSZ-".len()).1;
    let old = format!("TS-{}-{request}", days_ago(days));
    for place in ["results", "archive", "quarantine"] {
        let (from, to) = (service.path(place).join(id), service.path(place).join(&old));
        if !from.exists() {
            continue;
        }
        fs::rename(from, &to).unwrap();
        for name in list(&to) {
            if let Some(ending) = name.strip_prefix(id) {
                fs::rename(to.join(&name), to.join(format!("{old}{ending}"))).unwrap();
            }
        }
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        fs::File::open(&to).unwrap().set_modified(then).unwrap();
    }
    old
}

/// Creates results that are 30, 20 and 10 days old and a new one, and stops the daemon.
fn with_old_results(service: &mut Service<'_>) -> [String; 4] {
    let ids = [(); 4].map(|()| {
        let request = service.submit(&good());
        let record = service.record_of(&request.id);
        record.assert_outcome("ok");
        record.id().to_owned()
    });
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    let [a, b, c, fresh] = ids;
    [age(service, &a, 30), age(service, &b, 20), age(service, &c, 10), fresh]
}

fn gc<S: AsRef<OsStr>>(bench: &Bench, service: &Service<'_>, words: &[S]) -> CliOutput {
    let mut command = bench.command("toolexec");
    command.arg("gc").arg("--spool").arg(service.spool()).arg("--state").arg(service.state());
    CliOutput::of(command.args(words))
}

fn gc_with_config(bench: &Bench, service: &Service<'_>, words: &[&str]) -> CliOutput {
    let mut command = bench.command("toolexec");
    CliOutput::of(command.args(["gc", "--config"]).arg(service.config()).args(words))
}

fn fsck(bench: &Bench, service: &Service<'_>, words: &[&OsStr]) -> CliOutput {
    let mut command = bench.command("toolexec");
    command.args(["log", "fsck", "--spool"]).arg(service.spool()).arg("--results");
    command.arg(service.path("results")).arg("--log-key").arg(service.state().join("keys/log.pub"));
    CliOutput::of(command.args(words))
}

/// Returns kind, id and reason of each result to remove.
fn removal_list(output: &CliOutput) -> Vec<(String, String, String)> {
    output.assert_code(0);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |one: &Value| (text(&one["kind"]), text(&one["result_id"]), text(&one["limit"]));
    output.json()["expired"].as_array().unwrap().iter().map(of).collect()
}

fn marks(service: &Service<'_>) -> BTreeSet<String> {
    let text = fs::read_to_string(service.state().join("removed")).unwrap_or_default();
    let of = |line: &str| {
        let mark: Value = serde_json::from_str(line).unwrap();
        mark["result_id"].as_str().unwrap().to_owned()
    };
    text.lines().map(of).collect()
}

fn entry(kind: &str, id: &str, why: &str) -> (String, String, String) {
    (kind.to_owned(), id.to_owned(), why.to_owned())
}

#[test]
fn the_oldest_results_expire_by_age_number_and_bytes() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let [a, b, c, fresh] = with_old_results(&mut service);
    let unsigned = service.path("results").join(format!("TS-{}-{}", days_ago(90), &a[20..]));
    fs::create_dir(&unsigned).unwrap();
    fs::write(unsigned.join("stdout"), "who knows").unwrap();
    let everything = (list(&service.path("results")), list(&service.path("archive")));

    let words = ["--keep-results", "days=25", "--format", "json"];
    let seen = removal_list(&gc(&bench, &service, &[words.as_slice(), &["--dry-run"]].concat()));
    assert_eq!(seen, [entry("results", &a, "days")]);
    assert_eq!((list(&service.path("results")), list(&service.path("archive"))), everything);
    assert!(marks(&service).is_empty());
    assert_eq!(removal_list(&gc(&bench, &service, &words)), seen);
    assert!(
        !service.path("results").join(&a).exists() && service.path("archive").join(&a).exists()
    );
    assert_eq!(marks(&service), BTreeSet::from([a.clone()]));

    // There are four: two of ours, the new one, and one that is never removed.
    let words =
        ["--keep-results", "count=3", "--keep-archive", "count=2,days=25", "--format", "json"];
    let seen = removal_list(&gc(&bench, &service, &[words.as_slice(), &["--dry-run"]].concat()));
    let expected = [
        entry("results", &b, "count"),
        entry("archive", &a, "days"),
        entry("archive", &b, "count"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(removal_list(&gc(&bench, &service, &words)), seen);

    let words = ["--keep-results", "bytes=1", "--keep-archive", "bytes=1"];
    let output = gc(&bench, &service, &words);
    output.assert_code(0);
    assert!(output.stdout.contains(&format!("results/{c}\n")), "{output:#?}");
    assert!(output.stdout.contains("removed: 1 of results/ ("), "{output:#?}");
    let mut left = vec![fresh.clone(), unsigned.file_name().unwrap().to_str().unwrap().to_owned()];
    left.sort();
    assert_eq!(list(&service.path("results")), left);
    assert_eq!(list(&service.path("archive")), [fresh]);
    assert_eq!(marks(&service), BTreeSet::from([a, b, c]));
    fs::remove_dir_all(unsigned).unwrap();
    service.verify().assert_code(0);
}

#[test]
fn a_removed_request_does_not_run_again() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&good());
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    fs::write(service.path("approved/TR-20260209-160501Z-bad.md"), "no front matter").unwrap();
    service.wait_for("a refusal", |it| !list(&it.path("quarantine")).is_empty());
    service.wait_for("its end", |it| {
        list(&it.path("approved")).is_empty() && list(&it.path("work")).is_empty()
    });
    let id = record.id().to_owned();
    let refusal = list(&service.path("quarantine")).remove(0);
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    age(&service, &id, 3);
    age(&service, &refusal, 3);
    let words = ["--keep-results", "days=1", "--keep-archive=days=1", "--keep-quarantine=days=1"];
    gc(&bench, &service, &words).assert_code(0);
    for place in ["results", "archive", "quarantine"] {
        assert_eq!(list(&service.path(place)), Vec::<String>::new(), "{place}");
    }
    fsck(&bench, &service, &[]).assert_code(1);
    let removed = service.state().join("removed");
    let output = fsck(&bench, &service, &["--removed".as_ref(), removed.as_os_str()]);
    output.assert_code(0);
    assert!(output.stdout.contains("removed    2 by retention"), "{output:#?}");
    service.spawn();
    service.submit_saved(&request).assert_code(0);
    let again = service.record_of(&request.id);
    again.assert_outcome("refused");
    again.assert_violation("spool.replayed");
    service.verify().assert_code(0);
}

#[test]
fn a_daemon_removes_results_and_gc_refuses_beside_it() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let [a, b, c, fresh] = with_old_results(&mut service);
    service.configure("retention: {results: {days: 15}, archive: {count: 2}}");
    let seen = removal_list(&gc_with_config(&bench, &service, &["--dry-run", "--format", "json"]));
    assert_eq!(seen.len(), 4, "{seen:#?}");
    fs::create_dir(service.path("results/.gone-before")).unwrap();
    service.spawn();
    let left = [c.clone(), fresh.clone()];
    service.wait_for("the old ones to go", |it| {
        list(&it.path("results")) == left && list(&it.path("archive")) == left
    });
    assert_eq!(marks(&service), BTreeSet::from([a, b]));
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");

    let output = gc_with_config(&bench, &service, &["--dry-run"]);
    output.assert_code(0);
    assert!(output.stdout.contains("would be removed: 0 of results/"), "{output:#?}");
    let before = list(&service.path("results"));
    let output = gc_with_config(&bench, &service, &[]);
    output.assert_code(3);
    output.assert_stderr(&["another daemon or an embedded run uses this spool"]);
    assert_eq!(list(&service.path("results")), before);
}

#[test]
fn wrong_arguments_remove_nothing() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let ids = with_old_results(&mut service);
    let before = (list(&service.path("results")), list(&service.path("archive")));
    for (words, why) in [
        (&["--keep-results", "30"][..], "days=N"),
        (&["--keep-results", "days=0"], "1 or more"),
        (&["--keep-results", "days=-1"], "1 or more"),
        (&["--keep-results", "days=1.5"], "1 or more"),
        (&["--keep-results", "days=1,days=2"], "given twice"),
        (&["--keep-results", "weeks=3"], "is not one of days, count and bytes"),
        (&["--keep-results", "bytes=99999999999999999999"], "1 or more"),
        (&["--keep-archive", ""], "days=N"),
        (&["--keep-work", "days=1"], "--keep-work"),
        (&[], "no bounds"),
        (&["--config", "/etc/x.yaml"], "cannot be used with"),
    ] {
        let output = gc(&bench, &service, words);
        output.assert_code(3);
        output.assert_stderr(&[why]);
    }
    let nowhere = bench.home().join("nowhere");
    for (spool, state) in [(service.spool(), nowhere.clone()), (nowhere.clone(), service.state())] {
        let mut command = bench.command("toolexec");
        command.args(["gc", "--keep-results", "days=1", "--spool"]).arg(spool);
        CliOutput::of(command.arg("--state").arg(state)).assert_code(3);
    }
    assert!(!nowhere.exists());
    // A state that cannot be read is not reported as missing.
    let mut command = bench.command("toolexec");
    command.args(["gc", "--keep-results", "days=1", "--spool"]).arg(service.spool());
    let output = CliOutput::of(command.arg("--state").arg(service.config()));
    output.assert_code(3);
    output.assert_stderr(&["ledger: Not a directory"]);
    let mut command = bench.command("toolexec");
    command.args(["gc", "--keep-results", "days=1", "--spool"]).arg(service.spool());
    CliOutput::of(&mut command).assert_code(3);
    let config = fs::read_to_string(service.config()).unwrap();
    for (line, why) in [
        ("retention: {results: {days: 0}}", "expected a nonzero u32"),
        ("retention: {results: {days: -1}}", "days: -1"),
        ("retention: {results: {}}", "set days, count or bytes"),
        ("retention: {results: {day: 1}}", "unknown key `day`"),
        ("retention: {work: {days: 1}}", "unknown key `work`"),
        ("retention: {results: {bytes: 1 GiB}}", "bytes: 1 GiB"),
    ] {
        fs::write(service.config(), format!("{config}{line}\n")).unwrap();
        let output = CliOutput::of(service.command().arg("--check"));
        output.assert_code(2);
        output.assert_stderr(&[why]);
        gc_with_config(&bench, &service, &[]).assert_code(3);
    }
    fs::write(service.config(), config).unwrap();
    let output = gc_with_config(&bench, &service, &[]);
    output.assert_code(0);
    output.assert_stderr(&["nothing is deleted"]);
    assert_eq!((list(&service.path("results")), list(&service.path("archive"))), before);
    assert_eq!(before.0.len(), ids.len());
}

/// Kills a daemon at each failpoint of the removal. Another one continues.
#[test]
fn a_kill_between_the_steps_leaves_nothing_half_visible() {
    const TEST: &str = "a_kill_between_the_steps_leaves_nothing_half_visible";
    let Some(failpoints) = FailpointDaemon::get(TEST) else { return };
    let built = failpoints.program();
    for (point, hidden) in [("retention-hidden", 1), ("retention-removed", 0)] {
        let bench = Bench::new();
        let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
        let [a, b, c, fresh] = with_old_results(&mut service);
        service.configure("retention: {results: {days: 15}}");
        // In the directory of the programs that it starts.
        let daemon = bench.scratch().path().join("bin/toolexecd-to-be-killed");
        if fs::hard_link(built, &daemon).is_err() {
            fs::copy(built, &daemon).unwrap();
        }
        let mut command = bench.command(&daemon);
        command.arg("--config").arg(service.config()).env("TOOLEXEC_FAILPOINT", point);
        assert_eq!(CliOutput::of(&mut command).code, None, "{point} was not reached");
        // Both are marked and one is being removed. A result that still has its name is complete.
        assert_eq!(marks(&service), BTreeSet::from([a.clone(), b.clone()]));
        let left = list(&service.path("results"));
        let is_hidden = |name: &&String| name.starts_with(".gone-");
        assert_eq!(left.iter().filter(is_hidden).count(), hidden, "{point}: {left:?}");
        assert!(!left.contains(&a) && left.contains(&b), "{point}: {left:?}");
        assert_eq!(
            list(&service.path("results").join(&b)).len(),
            list(&service.path("results").join(&c)).len()
        );
        service.spawn();
        let kept = [c.clone(), fresh.clone()];
        service.wait_for("the rest to go", |it| list(&it.path("results")) == kept);
        let request = service.submit(&good());
        service.record_of(&request.id).assert_outcome("ok");
    }
}

/// Runs the commands of docs/retention.md. A check replaces the last one, which starts a daemon.
#[test]
fn every_command_of_the_page_does_what_it_says() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let before = with_old_results(&mut service);
    let page = DocPage::open("docs/retention.md");
    service.configure(&page.blocks("yaml")[0]);
    let blocks = page.blocks("sh");
    let (start, others) = blocks.split_last().unwrap();
    for line in others.iter().flat_map(|block| block.lines()) {
        CliOutput::of(&mut bench.shell(line)).assert_code(0);
    }
    assert_eq!(list(&service.path("results")).len(), before.len(), "400 days are not over");
    let checked = start.replace("--clock-was-set-back", "--check");
    CliOutput::of(&mut bench.shell(&checked)).assert_code(0);
}
