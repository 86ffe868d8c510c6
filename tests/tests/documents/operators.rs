//! Runs docs/operators.md and docs/approving.md from the first line to the last, on a host whose
//! `systemctl` and `sudo` are short scripts of this test.

use std::fs;

use toolexec_tests::{
    ANSWERED_PROMPTS, Bench, CliOutput, DocPage, HOST_FILES, list, ssh_keygen_works,
};

const SHORT: &str = "TR-20260209-160501Z-python-stats";
const LONG: &str = "TR-20260209-170000Z-long";

/// The host and the users before the page begins.
const HOST: &str = r#"
mkdir -p ~/.ssh ~/etc ~/spool/approved
ssh-keygen -q -t ed25519 -N '' -C alice -f ~/.ssh/id_ed25519
echo "alice namespaces=\"approve.tool-exec@threegate,reject.tool-exec@threegate\" $(cat ~/.ssh/id_ed25519.pub)" > ~/etc/allowed_signers
write_config ~
daemon=
trap '[ -z "$daemon" ] || kill $daemon' EXIT
systemctl() {
    case $1 in
        start)
            fit_policy ~
            toolexecd --config ~/etc/toolexecd.yaml 2> ~/log &
            daemon=$!
            timeout 20 sh -c 'until toolexec status --spool ~/spool > ~/said; do sleep 0.05; done'
            ;;
        stop) kill $daemon && wait $daemon && daemon= ;;
        reload) kill -HUP $daemon && timeout 20 sh -c 'until grep -q reloaded ~/log; do sleep 0.05; done' ;;
    esac
}
sudo() { shift 2 && "$@"; }
drafted() {
    command toolexec draft --slug "$1" --purpose 'A test' --language python --input "$1.py" --risk low \
        --sensitivity public --justification 'it is a test' --dir ~ -- python "$1.py" > ~/said
    basename ~/TR-*-"$1".md .md
}
echo "print('ran')" > ~/short.py
echo "import time; time.sleep(60)" > ~/long.py
short=$(drafted short)
long=$(drafted long)
drop_long() {
    toolexec approve ~/"$long.md" --approver alice --key ~/.ssh/id_ed25519 > ~/said
    toolexec submit ~/"$long.md" --spool ~/spool
    timeout 20 sh -c "until grep -q 'started.*$long' ~/log; do sleep 0.05; done"
}
"#;

/// Replaces the paths of the page with those of the test, and its two requests.
fn localized_script(script: &str) -> String {
    let mut script = script.to_owned();
    for (from, to) in [
        ("/etc/toolexec/", "\"$HOME\"/etc/"),
        ("/var/spool/toolexec", "\"$HOME\"/spool"),
        ("/var/lib/toolexec", "\"$HOME\"/state"),
        (SHORT, "$short"),
        (LONG, "$long"),
    ] {
        script = script.replace(from, to);
    }
    format!("{HOST_FILES}{ANSWERED_PROMPTS}{HOST}\ncd ~\n{script}")
}

#[test]
fn the_days_of_an_operator_go_as_the_guide_says() {
    if !ssh_keygen_works("the_days_of_an_operator_go_as_the_guide_says") {
        return;
    }
    let bench = Bench::new();
    let script = DocPage::open("docs/operators.md").script();
    let hold = format!("toolexec hold {LONG}");
    assert_eq!(script.matches(&hold).count(), 1, "{script}");
    let script = script.replacen(&hold, &format!("drop_long\n{hold}"), 1);
    let output = CliOutput::of(&mut bench.shell(&localized_script(&script)));
    assert_eq!(
        output.code,
        Some(0),
        "{output:#?}\n{:?}",
        fs::read_to_string(bench.home().join("log"))
    );
    let records = list(&bench.home().join("spool/results")).len();
    assert_eq!(records, 2, "{output:#?}");
    for word in ["verified: ok", "verified: cancelled", "findings: 0"] {
        assert!(output.stdout.contains(word), "no {word}: {output:#?}");
    }
}

#[test]
fn an_approver_reads_and_signs_as_the_page_says() {
    if !ssh_keygen_works("an_approver_reads_and_signs_as_the_page_says") {
        return;
    }
    let bench = Bench::new();
    let page = DocPage::open("docs/approving.md");
    let mut script = "rm ~/etc/allowed_signers\n".to_owned();
    for heading in ["Set up: a line in `allowed_signers`", "Review", "Approve", "Submit", "Reject"]
    {
        script += &page.section(heading).script();
    }
    let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).count();
    assert_eq!(lines(&script), lines(&page.script()) + 1, "a section is left out");
    let output = CliOutput::of(&mut bench.shell(&localized_script(&script)));
    output.assert_code(0);
    assert!(output.stdout.contains("signature counts: 1 of 1 approvers signed"), "{output:#?}");
    assert!(list(&bench.home()).iter().any(|name| name.ends_with(".alice.reject.sig")));
}
