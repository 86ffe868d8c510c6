//! Types docs/tutorial-chart.md from the first line to the last. `sudo` and the commands that only a
//! host with the package has are short functions of this test.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, CliOutput, DocPage, HOST_FILES, list, ssh_keygen_works};

/// The host before the page begins. Every prompt is answered with yes, and each change of a standing
/// approval is complete before the next command.
const HOST: &str = r#"
mkdir -p ~/.ssh ~/etc ~/spool/{approved,drafts}
ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/id_ed25519
toolexec policy show standard > ~/etc/policy.yaml
fit_policy ~
touch ~/etc/allowed_signers
write_config ~
toolexecd --config ~/etc/toolexecd.yaml 2> ~/log &
trap "kill $! || true; wait" EXIT
logged() { timeout 60 sh -c "until grep -q '$1' ~/log; do sleep 0.05; done"; }
logged ready
sudo() { "$@"; }
usermod() { :; }
systemctl() {
    kill -HUP %1
    logged reloaded
}
toolexec() {
    case "$1 ${2:-}" in
        approve*) command toolexec "$@" --yes --policy ~/etc/policy.yaml --approvers ~/etc/allowed_signers ;;
        review*) command toolexec "$@" --policy ~/etc/policy.yaml --approvers ~/etc/allowed_signers ;;
        'submit SA-'*) command toolexec "$@" && logged standing-admitted ;;
        'standing revoke') command toolexec "$@" && logged standing-revoked ;;
        *) command toolexec "$@" ;;
    esac
}
mkdir ~/empty
cd ~/empty
"#;

#[test]
fn an_agent_charts_tables_under_one_signature_as_the_tutorial_says() {
    if !ssh_keygen_works("an_agent_charts_tables_under_one_signature_as_the_tutorial_says") {
        return;
    }
    let bench = Bench::new();
    let home = bench.home();
    let mut page = DocPage::open("docs/tutorial-chart.md").script();
    for (theirs, ours) in
        [("/etc/toolexec/", "\"$HOME\"/etc/"), ("/var/spool/toolexec", "\"$HOME\"/spool")]
    {
        assert!(page.contains(theirs), "{theirs} is not typed there");
        page = page.replace(theirs, ours);
    }
    let output = CliOutput::of(&mut bench.shell(&format!("{HOST_FILES}{HOST}{page}")));
    let log = fs::read_to_string(home.join("log")).unwrap_or_default();
    assert_eq!(output.code, Some(0), "{output:#?}\n{log}");
    for (text, times) in [
        ("A person must review and approve it; you cannot.", 2),
        ("The daemon runs it if the standing approval can be used now.", 1),
        ("\nok\n", 1),
        ("Nothing was written.", 1),
        // In `review`, and again in `approve`.
        ("any bytes as sales-*.csv; fixed program; no network", 2),
        (": verified: ok", 2),
        ("-charts, use 1 of 100", 1),
    ] {
        assert_eq!(output.stdout.matches(text).count(), times, "{text:?}: {output:#?}");
    }
    assert_eq!(list(&home.join("spool/results")).len(), 2, "{output:#?}");
    let chart = fs::read_to_string(home.join("empty/chart.svg")).unwrap();
    assert!(chart.starts_with("<svg "), "{chart}");
    assert_eq!(chart.matches("<rect ").count(), 4, "{chart}");
}
