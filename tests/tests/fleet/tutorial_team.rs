//! Types docs/tutorial-team.md from the first line to the last, for two hosts of a test. An SSH key
//! signs in the console, in place of the passkey: it sends what the page's script sends.

use std::fs::{self, OpenOptions};
use std::io::Write;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{
    ABSENT_PASSKEY, ANSWERED_PROMPTS, Bench, CliOutput, DocPage, ServiceConfig, TestFleet, list,
    unused_port,
};

/// The port of the console on the page.
const PORT: &str = "8440";
const DATABASE: &str = "postgres://alice@db.example/toolexec";

/// The commands of a host that this test replaces.
const REPLACED: &str = r#"
cd ~/empty
console=
trap '[ -z "$console" ] || kill "$console" || true; wait' EXIT
sudo() { "$@"; }
systemctl() {
    case $* in
        'reload toolexecd') ;;
        'enable --now toolexec-console.socket')
            toolexec-console --spool /var/spool/toolexec --listen 127.0.0.1:8440 \
                --allowed-signers /etc/toolexec/allowed_signers > ~/console.log 2>&1 &
            console=$!
            curl --silent --retry 60 --retry-connrefused --retry-delay 1 --output ~/queue.html http://localhost:8440/
            ;;
        *) return 1 ;;
    esac
}
"#;

/// Approves the draft of the page, at the place of the passkey.
const CONFIRMED: &str = concat!(
    "\npython3 - http://localhost:8440 \"$count\" ~/.ssh/id_ed25519 <<'END'\n",
    include_str!("../../sign_in_console.py"),
    "END\n"
);

/// Makes the key of `alice`, whom both hosts trust, and the directories of drafts and of signed
/// actions on the first host. The directory of the page has the signed list.
fn prepare_users(fleet: &TestFleet<'_>, bench: &Bench) {
    let lines = "mkdir -p ~/.ssh ~/empty ~/spool/drafts ~/spool/signed\n\
                 ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/id_ed25519\n\
                 cp ~/fleet.yaml ~/fleet.yaml.sig ~/empty\n\
                 (umask 077; echo unused > ~/empty/alice.password)";
    CliOutput::of(&mut bench.shell(lines)).assert_code(0);
    let key = fs::read_to_string(bench.home().join(".ssh/id_ed25519.pub")).unwrap();
    let mut signers = OpenOptions::new().append(true).open(&fleet.signers).unwrap();
    let line = format!("alice namespaces=\"approve.tool-exec@threegate\" {key}");
    writeln!(signers, "{line}alice {ABSENT_PASSKEY}").unwrap();
}

/// Replaces the addresses and paths of the page with those of the test.
fn localized(fleet: &TestFleet<'_>, script: &str, port: u16) -> String {
    // The port first: a path of the test may contain the same digits.
    let script = script
        .replace(PORT, &port.to_string())
        .replace(DATABASE, &format!("'{}'", fleet.database.url("alice")))
        .replace("/var/spool/toolexec", fleet.hosts[0].service.spool().to_str().unwrap())
        .replace("/etc/toolexec/allowed_signers", fleet.signers.to_str().unwrap());
    assert!(!script.contains("db.example"), "{script}");
    script
}

#[test]
fn a_team_with_two_hosts_approves_in_a_browser_as_the_tutorial_says() {
    let test = "a_team_with_two_hosts_approves_in_a_browser_as_the_tutorial_says";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let port = unused_port();
    let configured = |bench: &Bench| {
        ServiceConfig::for_owner(bench).with_one_signature().with_passkeys(port, &[])
    };
    let fleet = TestFleet::prepare_with(test, &benches, tool.count(), configured);
    let Some(mut fleet) = fleet else { return };
    prepare_users(&fleet, &benches[0]);
    fleet.spawn();
    fleet.wait_for("a beat of both hosts", |fleet| {
        fleet.status().json()["hosts"].as_array().is_some_and(|hosts| hosts.len() == 2)
    });
    let blocks = DocPage::open("docs/tutorial-team.md").blocks("sh");
    let [look, start, draft, id, wait, other, both, fetch, show] = &blocks[..] else {
        panic!("{} blocks", blocks.len());
    };
    let script =
        format!("{REPLACED}{look}{start}{draft}{id}{CONFIRMED}{wait}{other}{both}{fetch}{show}");
    let script = localized(&fleet, &format!("{ANSWERED_PROMPTS}{script}"), port);
    let output = CliOutput::of(&mut benches[0].shell(&script));
    assert_eq!(output.code, Some(0), "{output:#?}\n{}", fleet.logs());
    for words in ["Count the words", "submitted to the fleet", " of host host-a", " of host host-b"]
    {
        assert!(output.stdout.contains(words), "no {words:?}: {output:#?}");
    }
    assert_eq!(output.stdout.matches(": verified: ok").count(), 2, "{output:#?}");
    for host in &fleet.hosts {
        let records = list(&host.service.path("results"));
        assert_eq!(records.len(), 1, "{}: {records:?}", host.name);
    }
    fleet.stop();
}
