//! Runs the pages that need only a state directory or a spool, line by line: log, keys, spool.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{
    Bench, CliOutput, DocPage, RequestText, Service, ServiceConfig, ssh_keygen_works,
};

/// Runs every line of a page, with names of the page replaced by those of the test.
#[track_caller]
fn run_page(bench: &Bench, page: &DocPage, changes: &[(&str, &str)]) -> usize {
    let (mut script, page) = (page.script(), page.name());
    for (theirs, ours) in changes {
        assert!(script.contains(theirs), "{page}: {theirs} is not typed there");
        script = script.replace(theirs, ours);
    }
    let lines: Vec<_> = script.lines().filter(|line| !line.is_empty()).collect();
    for line in &lines {
        let output = CliOutput::of(&mut bench.shell(line));
        assert_eq!(output.code, Some(0), "{page}: {line}: {output:#?}");
    }
    lines.len()
}

/// Runs two requests, which leave two records.
fn with_records(bench: &Bench) -> String {
    bench.run_recorded(&RequestText::python("print('one')")).1.assert_outcome("ok");
    let (_, record) = bench.run_recorded(&RequestText::python("print('two')"));
    record.path.to_str().unwrap().to_owned()
}

#[test]
fn the_commands_of_the_log_page_work() {
    let bench = Bench::new();
    let record = with_records(&bench);
    let state = bench.state();
    let state = state.to_str().unwrap();
    let stick = bench.scratch().dir("stick");
    let stick = stick.to_str().unwrap();
    for line in [
        "toolexec keys show --key log --format verifier > host1.vkey".to_owned(),
        format!("toolexec log export {stick}/host1-log"),
    ] {
        CliOutput::of(&mut bench.shell(&line)).assert_code(0);
    }
    let typed = run_page(
        &bench,
        &DocPage::open("docs/log.md"),
        &[
            ("--spool /var/spool/toolexec", &format!("--log {state}/log")),
            ("/media/stick", stick),
            ("1200 1500", "1 2"),
            ("prove 1207", "prove 1"),
            ("~/.local/state/toolexec/results", &format!("{state}/results")),
            ("results/TS-20261122-101500Z-TR-20261122-100000Z-stats", &record),
        ],
    );
    assert!(typed >= 12, "only {typed} commands");
}

#[test]
fn the_commands_of_the_keys_page_work() {
    let bench = Bench::new();
    let typed = run_page(&bench, &DocPage::open("docs/keys.md"), &[("/run/new-keys", "new-keys")]);
    assert!(typed >= 10, "only {typed} commands");
    let made =
        ["signers", "key.pem", "log.vkey", "trusted_root.json", "log.pem", "new-keys/keys/log"];
    for file in made {
        assert!(fs::metadata(bench.home().join(file)).unwrap().len() > 0, "{file}");
    }
}

#[test]
fn the_command_of_the_spool_page_works() {
    let bench = Bench::new();
    with_records(&bench);
    let state = bench.state();
    let state = state.to_str().unwrap();
    let changes = [("/var/spool/toolexec", state), ("/var/lib/toolexec", state)];
    assert_eq!(run_page(&bench, &DocPage::open("docs/spool.md"), &changes), 2);
}

/// The page, with a daemon: a standing approval is made, signed, used and revoked.
#[test]
fn the_commands_of_the_standing_approvals_page_work() {
    if !ssh_keygen_works("the_commands_of_the_standing_approvals_page_work") {
        return;
    }
    let bench = Bench::new();
    let home = bench.home();
    let page = DocPage::open("docs/standing-approvals.md");
    let [example] = &page.blocks("markdown")[..] else { panic!("not one example") };
    fs::write(home.join("SA-20260209-160501Z-means.md"), example).unwrap();
    let linted = bench.toolexec(["lint", "SA-20260209-160501Z-means.md"]);
    linted.assert_code(0);
    assert!(linted.stdout.contains("valid standing approval"), "{linted:#?}");
    fs::remove_file(home.join("SA-20260209-160501Z-means.md")).unwrap();

    CliOutput::of(&mut bench.shell(
        "mkdir -p ~/.ssh && ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/id_ed25519\n\
         echo \"alice $(cat ~/.ssh/id_ed25519.pub)\" > allowed_signers",
    ))
    .assert_code(0);
    for (name, text) in [("means.py", "print(1)\n"), ("sales-1.csv", "1\n"), ("sales-2.csv", "2\n")]
    {
        fs::write(home.join(name), text).unwrap();
    }
    let config = ServiceConfig {
        allowed_signers: Some(home.join("allowed_signers")),
        ..ServiceConfig::for_owner(&bench)
    };
    let mut service = Service::prepare(&bench, &config);
    service.configure("log: {origin: desk-1}");
    service.spawn();
    let drafted = bench.shell(
        "toolexec draft --purpose 'A mean.' --slug means --language python --input means.py --input sales-1.csv \
         --risk low --sensitivity public --justification 'reads one table' -- python means.py \
         /in/sales-1.csv 7 > name && mv TR-*-means.inputs TR-20260209-160501Z-means.inputs && \
         sed 's/TR-[0-9]*-[0-9]*Z-means/TR-20260209-160501Z-means/; s/^created_utc: .*/created_utc: \
         \"2026-02-09T16:05:01Z\"/' TR-*-means.md > request && rm TR-*-means.md && mv request \
         TR-20260209-160501Z-means.md",
    );
    CliOutput::of(&mut { drafted }).assert_code(0);

    let blocks = page.blocks("sh");
    let commands: Vec<&String> =
        blocks.iter().filter(|block| !block.starts_with("toolexec lint")).collect();
    assert_eq!(commands.len(), 5, "{commands:#?}");
    let (spool, state) = (service.spool(), service.state());
    let run = |block: &str| {
        let block = block.replace("/var/spool/toolexec", spool.to_str().unwrap());
        let block = block.replace("/var/lib/toolexec", state.to_str().unwrap());
        // Only `approve` asks a question.
        let block = block.replace("id_ed25519 --approvers", "id_ed25519 --yes --approvers");
        let block = block.replace("sudo -u toolexec ", "");
        let output = CliOutput::of(&mut bench.shell(&format!("set -e\n{block}")));
        output.assert_code(0);
        output.stdout
    };
    run(commands[0]);
    run(commands[1]);
    service.wait_for("the standing approval", |it| it.log().contains("standing-admitted"));
    run(commands[2]);
    service.wait_for("the record", |it| !it.records().is_empty());
    service.records()[0].assert_outcome("ok");
    let state = service.state();
    let keys = format!("toolexec keys show --state {} > result_keys", state.display());
    CliOutput::of(&mut bench.shell(&keys)).assert_code(0);
    let verified = run(commands[3]);
    assert!(verified.contains("use 1 of 200"), "{verified}");
    let ended = run(commands[4]);
    assert!(ended.contains("active") && ended.contains("1 of 200"), "{ended}");
    service.wait_for("the revocation", |it| it.log().contains("standing-revoked"));
}
