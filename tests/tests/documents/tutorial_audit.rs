//! Types docs/tutorial-audit.md from the first line to the last. The record is of a daemon whose
//! clock was a year behind. The auditor's search path has none of our programs.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::process::Command;
use std::thread;
use std::time::Duration;

use toolexec_tests::{
    Bench, CliOutput, DocPage, RequestText, Service, ServiceConfig, ShiftedClock, ssh_keygen_works,
};

const YEAR_SEC: i64 = 365 * 86_400;

/// The approver has left half a year after the record.
const APPROVER: &str = r#"
ssh-keygen -q -t ed25519 -N '' -C '' -f alice
end=$(date -u -d '-180 days' +%Y%m%d%H%M%SZ)
echo "alice namespaces=\"approve.tool-exec@threegate\",valid-before=\"$end\" $(cat alice.pub)" > allowed_signers
"#;

/// Returns a request that `alice` approved a year ago.
fn old_request(slug: &str) -> RequestText {
    let mut date = Command::new("date");
    date.args(["-u", "-d", "-365 days", "+%Y%m%d-%H%M%SZ %FT%TZ"]);
    let stamps = CliOutput::of(&mut date).stdout;
    let (stamp, time) = stamps.trim().split_once(' ').unwrap();
    let time = format!("\"{time}\"");
    let mut request = RequestText::python("print('the report')\n");
    request.id = format!("TR-{stamp}-{slug}");
    let request = request.line("created_utc", &time).line("approved_utc", &time);
    request.line("approved_by", "\"alice\"")
}

/// Submits a request with the signature of `alice`, and waits for its record.
fn run_signed(bench: &Bench, service: &Service<'_>, request: &RequestText) {
    let saved = bench.save(request);
    let mut sign = bench.command("ssh-keygen");
    sign.args(["-Y", "sign", "-n", "approve.tool-exec@threegate", "-f"]);
    sign.arg(bench.home().join("alice")).arg(&saved.path);
    CliOutput::of(&mut sign).assert_code(0);
    service.submit_saved(&saved).assert_code(0);
    service.record_of(&saved.id).assert_outcome("ok");
}

/// A host that made two records a year ago, and whose keys were replaced today. Logs a skip and
/// returns `None` without a C compiler.
fn host_with_old_records<'a>(test: &str, bench: &'a Bench) -> Option<Service<'a>> {
    let clock = ShiftedClock::build(test, bench)?;
    CliOutput::of(&mut bench.shell(APPROVER)).assert_code(0);
    let mut config = ServiceConfig::for_owner(bench).with_one_signature();
    config.allowed_signers = Some(bench.home().join("allowed_signers"));
    let mut service = Service::prepare(bench, &config);
    let mut daemon = service.command();
    clock.shift(&mut daemon, -YEAR_SEC);
    service.spawn_as(daemon);
    service.wait_for("the daemon to be ready", |it| it.log().contains("ready"));
    // The second record has a neighbour in the tree of the log.
    for slug in ["earlier", "report"] {
        run_signed(bench, &service, &old_request(slug));
    }
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0), "{}", service.log());
    for key in ["result", "log"] {
        let mut rotate = bench.command("toolexec");
        rotate.args(["keys", "rotate", "--key", key, "--config"]).arg(service.config());
        CliOutput::of(&mut rotate).assert_code(0);
    }
    // The old key still counts in the second in which its period ends.
    thread::sleep(Duration::from_secs(2));
    Some(service)
}

/// Returns a block of the operator with the paths of this host.
fn localized(service: &Service<'_>, bench: &Bench, block: &str) -> String {
    let mut block = block.to_owned();
    for (theirs, ours) in [
        ("/var/spool/toolexec", service.spool()),
        ("/etc/toolexec/toolexecd.yaml", service.config()),
        ("/etc/toolexec/allowed_signers", bench.home().join("allowed_signers")),
    ] {
        assert!(block.contains(theirs), "{theirs} is not typed there");
        block = block.replace(theirs, ours.to_str().unwrap());
    }
    format!("sudo() {{ \"$@\"; }}\n{block}")
}

#[test]
fn an_auditor_verifies_a_year_old_record_with_stock_tools_as_the_tutorial_says() {
    let test = "an_auditor_verifies_a_year_old_record_with_stock_tools_as_the_tutorial_says";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let Some(service) = host_with_old_records(test, &bench) else { return };
    let blocks = DocPage::open("docs/tutorial-audit.md").blocks("sh");
    let (operator, auditor) = blocks.split_first().unwrap();
    CliOutput::of(&mut bench.shell(&localized(&service, &bench, operator))).assert_code(0);
    let auditor = auditor.concat();
    assert!(!auditor.contains("toolexec"), "{auditor}");
    let mut shell = bench.command("bash");
    let output = CliOutput::of(shell.args(["-euo", "pipefail", "-c", &auditor]));
    output.assert_code(0);
    for text in [
        "valid-after=",
        "valid-before=",
        "Good \"result.tool-exec@threegate\" signature for tool-exec",
        "\nnot valid today\n",
        "\nentry ",
        "\nVerified OK\n",
        "\nSignature Verified Successfully\n",
        "\nstdout: OK\n",
        "Good \"approve.tool-exec@threegate\" signature for alice",
        "\nrefused: the record\n",
        "\nstdout: FAILED\n",
        "\nrefused: its files\n",
        "\nrefused: the statement\n",
    ] {
        assert_eq!(output.stdout.matches(text).count(), 1, "{text:?}: {output:#?}");
    }
    output.assert_stderr(&["key has expired"]);
    assert!(!output.stdout.contains("\nentry 0 of 1 "), "the proof has no other hash: {output:#?}");
}
