//! The record of reached hosts stays correct if the proxy, the disk or the run itself fails.

use super::*;

pub(crate) fn a_lost_proxy_is_unknown_not_nothing(bench: &Bench) {
    let pages = PageServer::new();
    let script = format!(
        "import time, urllib.request\ntime.sleep(7)\n\
         try: urllib.request.urlopen('http://127.0.0.1:{}/')\n\
         except OSError as error: print(type(error).__name__)",
        pages.port
    );
    let policy = policy(bench, pages.port);
    // An argument of this test only, which identifies the running tool.
    let name = format!("lost-{}.py", pages.port);
    let request = request_with_port(&script, pages.port).command(&format!("python {name}"));
    let mut run = command(bench, &request.input(&name, &script), &policy);
    run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = run.spawn().unwrap();
    let program = bench.scratch().path().join("bin/toolexec-egress");
    assert!(!wait_for_process(&name).is_empty());
    for process in wait_for_process(program.to_str().unwrap()) {
        kill_if_running(process);
    }
    let output = running.wait_with_output().unwrap();
    let record = Record::of(&CliOutput::from_output(&output, Duration::ZERO));
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "URLError\n", "{}", record.stderr());
    assert_eq!(pages.request_count(), 0);
    assert_eq!(record.front_matter_value("network"), "unknown");
    assert_eq!(record.front_matter_value("network_used"), "allowlist");
    // The host may have been reached before.
    assert_eq!(record.front_matter_value("network_destinations"), "[\"127.0.0.1\"]");
    for part in [
        "Network confirmation: unknown, the report of the proxy was lost; allowed hosts: ",
        "the report of the proxy was lost; refused requests are unknown",
    ] {
        assert!(record.text.contains(part), "{part} is not in {}", record.text);
    }
}

/// Installs a proxy that serves nothing and reports these hosts at its end.
fn install_false_proxy(bench: &Bench, hosts: &str) {
    let program = bench.scratch().path().join("bin/toolexec-egress");
    let output =
        format!("{{\"Report\":{{\"hosts\":{hosts},\"refusals\":[],\"refusals_left_out\":0}}}}");
    let script = format!(
        "#!/usr/bin/python3\nimport socket\nclient = socket.socket(fileno=0)\n\
         order = socket.recv_fds(client, 1 << 16, 1)\nclient.send(b'{{\"Serving\":\"landlock\"}}')\n\
         client.recv(1 << 16)\nclient.send(b'{output}')\n"
    );
    std::fs::remove_file(&program).unwrap();
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn a_report_that_cannot_be_true_is_not_signed(bench: &Bench) {
    let use_of = |name: &str, connections, bytes_in| {
        format!(
            "{{\"name\":\"{name}\",\"addresses\":[],\"connections\":{connections},\
             \"bytes_out\":0,\"bytes_in\":{bytes_in}}}"
        )
    };
    let many: Vec<_> = (0..700).map(|number| use_of(&format!("h{number}.org"), 1, 0)).collect();
    let reports = [
        ("[]".to_owned(), false),
        (format!("[{}]", many.join(",")), false),
        (format!("[{}]", use_of("no host at all", 1, 0)), false),
        (format!("[{}]", use_of("127.0.0.1", 1, u64::MAX)), false),
        (format!("[{}]", use_of("127.0.0.1", 7, 42)), true),
    ];
    let port = unused_port();
    for (hosts, possible) in reports {
        install_false_proxy(bench, &hosts);
        let (output, record) = record_of(bench, &request_with_port("print('ran')", port), port);
        record.assert_outcome("ok");
        assert_eq!(record.stdout(), "ran\n", "{}", record.stderr());
        assert_eq!(record.front_matter_value("network_destinations"), "[\"127.0.0.1\"]");
        if possible {
            assert_eq!(record.front_matter_value("connections"), "7");
            continue;
        }
        output.assert_stderr(&["toolexec-egress: report not accepted"]);
        assert_eq!(record.front_matter_value("network"), "unknown");
        let message =
            "Network confirmation: unknown, the report of the proxy does not fit this run";
        assert!(record.text.contains(message), "{}", record.text);
    }
}

#[test]
fn a_full_disk_does_not_hide_what_was_reached() {
    let test = "a_full_disk_does_not_hide_what_was_reached";
    let Some(bench) = &Bench::as_root(test) else { return };
    let place = bench.scratch().dir("disk");
    // Enough for the reserve and the key, too little for the files of the tool.
    let Some(_disk) = SmallDisk::mount(&place, 8 * 1024) else {
        return skip(test, "this host does not let root mount a tmpfs");
    };
    let pages = PageServer::new();
    let script = format!(
        "import os, urllib.request\nurllib.request.urlopen('http://127.0.0.1:{}/').read()\n\
         open('/out/big', 'wb').write(os.urandom(12 << 20))",
        pages.port
    );
    let request = request_with_port(&script, pages.port).output("big");
    let mut run = command(bench, &request, &policy(bench, pages.port));
    let output = CliOutput::of(run.arg("--state").arg(place.join("state")));
    output.assert_stderr(&["No space left"]);
    let record = Record::of(&output);
    record.assert_outcome("indeterminate");
    assert_eq!(pages.request_count(), 1);
    assert_eq!(record.front_matter_value("network_used"), "allowlist");
    assert_eq!(record.front_matter_value("network_destinations"), "[\"127.0.0.1\"]");
    let line = "Network confirmation: allowlist: 127.0.0.1 (1 connections, ";
    assert!(record.text.contains(line), "{}", record.text);
}

/// Starts a run and kills the daemon. The next daemon must record it without the request, which is
/// unreadable by then, from the ledger lines that `forget` leaves.
fn record_after_crash(
    service: &mut Service<'_>,
    request: RequestText,
    forget: impl FnOnce(String) -> String,
) -> Record {
    let word = format!("crashed-{}.py", unused_port());
    let request =
        request.command(&format!("python {word}")).input(&word, "import time; time.sleep(60)");
    let request = service.submit(&request);
    assert!(!wait_for_process(&word).is_empty());
    service.signal("KILL");
    assert_eq!(service.wait(), None);
    wait_for_no_process(&word);
    let work = service.path("work");
    let claim = list(&work).remove(0);
    let copy = work.join(claim).join("request.md");
    std::fs::remove_file(&copy).unwrap();
    std::fs::write(&copy, "no request\n").unwrap();
    let ledger = service.state().join("ledger");
    let lines = std::fs::read_to_string(&ledger).unwrap();
    service.write_old_ledger(&forget(lines));
    service.spawn();
    let record = service.record_of(&request.id);
    record.assert_outcome("indeterminate");
    record
}

#[test]
fn after_a_crash_what_may_have_been_reached_is_recorded() {
    let bench = &Bench::new();
    let mut service = service_with_names(bench, 80);
    let python = || RequestText::python("pass");
    let hosts = ["data.test:80".to_owned()];
    let record = record_after_crash(&mut service, with_hosts(python(), &hosts), |ledger| ledger);
    assert_eq!(record.front_matter_value("network"), "unknown");
    assert_eq!(record.front_matter_value("network_used"), "allowlist");
    assert_eq!(record.front_matter_value("network_destinations"), "[\"data.test\"]");
    let message = "the proxy was not asked for its report; allowed hosts: data.test";
    assert!(record.text.contains(message), "{}", record.text);

    let record = record_after_crash(&mut service, python(), |ledger| ledger);
    assert_eq!(record.front_matter_value("network_used"), "none");

    // The last line is from a version that wrote no hosts.
    let record = record_after_crash(&mut service, with_hosts(python(), &hosts), |ledger| {
        let (lines, rest) = ledger.rsplit_once(",\"hosts\":[\"data.test\"]").unwrap();
        format!("{lines}{rest}")
    });
    assert_eq!(record.front_matter_value("network"), "unknown");
    assert_eq!(record.front_matter_value("network_used"), "allowlist");
    assert!(record.text.contains("the allowed hosts are unknown too"), "{}", record.text);
}
