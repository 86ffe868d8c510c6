//! Types docs/tutorial-pull-request.md from the first line to the last. Its server listens at an
//! unused port of this host.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, CliOutput, DocPage, list, unused_port};

/// The server ends with the page, also if a command fails.
const BEFORE: &str = r#"
server=
trap '[ -z "$server" ] || kill "$server" 2> ~/said || true; wait' EXIT
mkdir ~/empty
cd ~/empty
"#;

const PORT: &str = "8642";

#[test]
fn a_ci_job_runs_a_pull_request_and_survives_an_attack_as_the_tutorial_says() {
    let bench = Bench::new();
    let page = DocPage::open("docs/tutorial-pull-request.md");
    let script = page.script();
    assert_eq!(script.matches(PORT).count(), 2, "{script}");
    let script = script.replace(PORT, &unused_port().to_string());
    let output = CliOutput::of(&mut bench.shell(&format!("{BEFORE}{script}")));
    output.assert_code(0);
    // The texts of the page are on the screen, up to what differs.
    let texts = page.blocks("text").concat();
    for text in texts.lines().map(|line| line.split('…').next().unwrap()) {
        let is_shown = output.stdout.contains(text) || output.stderr.contains(text);
        assert!(is_shown, "{text:?} is not in {output:#?}");
    }
    assert!(output.stdout.contains("\nthe job has failed\n1\n"), "{output:#?}");
    assert_eq!(output.stdout.matches(": verified: ok").count(), 3, "{output:#?}");
    assert_eq!(output.stdout.matches(": verified: exit_nonzero").count(), 1, "{output:#?}");
    // The attack was real: without a sandbox it had the key and the connection.
    assert_eq!(output.stderr.matches("Ran 2 tests").count(), 1, "{output:#?}");
    assert_eq!(output.stderr.matches("Ran 3 tests").count(), 1, "{output:#?}");
    let home = bench.home();
    let expected = fs::read_to_string(home.join("empty/pull/expected.txt")).unwrap();
    assert_eq!(expected, "good morning, Ada\n");
    assert_eq!(list(&bench.results()).len(), 4);
    bench.assert_nothing_left();
}
