//! The commands in remedies: each parses as written, and a service's command acts on the service.

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::{bad_log, good_host, good_service, keys, not_ok};
use crate::commands::Options;
use crate::commands::host::doctor::host::model::{
    DiskSpace, ExpectedDirectory, ExpectedOwner, FileKind, FileReading, FileState, HostReadings,
    KeyLocation,
};

/// The options of `toolexecd --help`. A black-box test compares them with the program.
const DAEMON_OPTIONS: [&str; 3] = ["--config", "--check", "--clock-was-set-back"];
/// Commands that act on the caller's state unless one of these options is given.
const STATE_COMMANDS: [(&str, &[&str]); 4] = [
    ("toolexec keys", &["--config"]),
    ("toolexec gc", &["--config", "--spool"]),
    ("toolexec log", &["--spool", "--log"]),
    ("toolexecd", &["--config"]),
];

/// Returns the words of each `toolexec` or `toolexecd` command in a remedy.
fn commands(remedy: &str) -> Vec<Vec<&str>> {
    let words: Vec<&str> = remedy.split_whitespace().collect();
    let before = |at: usize| at.checked_sub(1).map_or(":", |at| words[at]);
    let begins = |at: usize| {
        let ours = ["toolexec", "toolexecd"].contains(&words[at].trim_start_matches('`'));
        let first = words[at].starts_with('`') || before(at).ends_with(':') || before(at) == "&&";
        ours && (first || (at >= 2 && words[at - 2] == "-u"))
    };
    let from = |at: usize| {
        let mut command = Vec::new();
        for word in words.iter().skip(at).take_while(|word| **word != "&&") {
            let bare = word.trim_start_matches('`').trim_end_matches(['`', ',', ';', ')']);
            command.push(bare);
            if word.trim_start_matches('`') != bare {
                break;
            }
        }
        command
    };
    (0..words.len()).filter(|at| begins(*at)).map(from).collect()
}

#[track_caller]
pub(super) fn assert_commands_parse(host: &HostReadings, remedy: &str) {
    for command in commands(remedy) {
        if command[0] == "toolexecd" {
            let mut options = command.iter().filter(|word| word.starts_with('-'));
            assert!(options.all(|option| DAEMON_OPTIONS.contains(option)), "{remedy}");
        } else if let Err(error) = Options::command().try_get_matches_from(&command) {
            // An argument that the sentence names may be missing, as in `toolexec policy check`.
            assert_eq!(error.kind(), ErrorKind::MissingRequiredArgument, "{remedy}\n{error}");
        }
        let line = command.join(" ");
        for (name, options) in STATE_COMMANDS.iter().filter(|(name, _)| line.starts_with(name)) {
            let named = command.iter().any(|word| options.contains(word));
            assert!(named || !host.subject.is_service(), "{name} of whom? {remedy}");
        }
    }
}

fn with_all_faults(mut host: HostReadings) -> HostReadings {
    let keys = keys(&mut host);
    keys.source = KeyLocation::Files("/var/lib/toolexec/keys".into());
    keys.unfinished = vec!["log"];
    let mode = FileState::Present { kind: FileKind::File, mode: 0o644, uid: keys.owner, gid: 0 };
    keys.files = vec![FileReading { path: "/var/lib/toolexec/keys/result".into(), state: mode }];
    host.log = Some(bad_log("/var/spool/toolexec/log"));
    host.clock.newest = Some((model::UtcTime::from_unix(4_000_000_000), "/r/TS-x".into()));
    host.disks[0].space = Ok(DiskSpace { bytes_free: 1 << 20, ..super::SPACE });
    host.spool_findings = Some(Ok(3));
    for name in ["ts", "go"] {
        let mut runtime = host.runtimes[0].clone();
        name.clone_into(&mut runtime.name);
        runtime.found = Err(None);
        host.runtimes.push(runtime);
    }
    host
}

fn remedies(host: &HostReadings) -> Vec<String> {
    let remedies = not_ok(host).into_iter().filter_map(|finding| finding.remedy);
    let remedies: Vec<String> = remedies.collect();
    remedies.iter().for_each(|remedy| assert_commands_parse(host, remedy));
    remedies
}

#[track_caller]
fn assert_each_is_suggested(remedies: &[String], wanted: &[&str]) {
    for command in wanted {
        let is_suggested = remedies.iter().any(|remedy| remedy.contains(command));
        assert!(is_suggested, "{command} is not in {remedies:#?}");
    }
}

#[test]
fn remedies_of_a_service_act_on_the_service() {
    let service = with_all_faults(good_service());
    let config = "--config /etc/toolexec/toolexecd.yaml";
    assert_each_is_suggested(
        &remedies(&service),
        &[
            &format!(
                "finish it with `systemctl stop toolexecd && sudo -u toolexec toolexec keys rotate {config} --key log;"
            ),
            "replace the key as in docs/keys.md, *A stolen key*",
            "sudo -u toolexec toolexec gc --dry-run --state /var/lib/toolexec --spool",
            "toolexec log fsck --spool /var/spool/toolexec --log-key /var/lib/toolexec/keys/log.pub`",
            "toolexec doctor --build-cache ts --cache-dir /var/cache/toolexec && systemctl restart toolexecd",
            "toolexec doctor --build-cache go --cache-dir /var/cache/toolexec && systemctl restart toolexecd",
            &format!("sudo -u toolexec toolexecd {config} --clock-was-set-back"),
            "toolexec doctor --spool /var/spool/toolexec --state /var/lib/toolexec",
        ],
    );

    // A log outside the spool, and a daemon that runs as another user.
    let mut other = with_all_faults(good_service());
    other.log = Some(bad_log("/srv/log"));
    let found = FileState::Present { kind: FileKind::Directory, mode: 0o700, uid: 1000, gid: 1000 };
    other.directories = vec![ExpectedDirectory {
        entry: FileReading { path: "/var/lib/toolexec".into(), state: found },
        mode: 0o700,
        user: ExpectedOwner { name: "toolexec".to_owned(), id: None },
        group: None,
    }];
    assert_each_is_suggested(
        &remedies(&other),
        &[
            "sudo -u '#1000' toolexec log fsck --log /srv/log --log-key",
            "sudo -u '#1000' toolexecd",
        ],
    );
}

#[test]
fn remedies_of_an_embedded_host_act_on_its_state() {
    let remedies = remedies(&with_all_faults(good_host()));
    assert_each_is_suggested(
        &remedies,
        &[
            "toolexec keys rotate --key log --state /root/state",
            "toolexec gc --state /root/state --keep-results",
            "toolexec log fsck --state /root/state",
            "toolexec doctor --build-cache ts --state /root/state",
        ],
    );
    assert!(remedies.iter().all(|remedy| !remedy.contains("sudo")), "{remedies:#?}");
}

#[test]
fn lost_key_of_a_service_names_possible_locations() {
    let mut service = good_service();
    let keys = keys(&mut service);
    keys.source = KeyLocation::Files("/var/lib/toolexec/keys".into());
    keys.files = vec![FileReading {
        path: "/var/lib/toolexec/keys/result".into(),
        state: FileState::Missing,
    }];
    let lost = not_ok(&service).into_iter().find(|it| it.object == "private key result");
    let lost = lost.expect("it is told");
    let daemon = "its public half exists: a lost key; the daemon does not start";
    assert!(lost.found.contains(daemon), "{lost:?}");
    let remedy = lost.remedy.unwrap_or_default();
    for words in ["restore it from a backup", "LoadCredentialEncrypted=", "while the service runs"]
    {
        assert!(remedy.contains(words), "{remedy}");
    }
    // A key that never existed is created on first use.
    super::keys(&mut service).halves.clear();
    let found = not_ok(&service);
    assert!(found.iter().all(|it| it.object != "private key result"), "{found:?}");
}

#[test]
fn commands_are_found_where_they_begin() {
    let found =
        commands("correct it until `toolexec policy check` accepts it, then: toolexecd --check");
    assert_eq!(found, [vec!["toolexec", "policy", "check"], vec!["toolexecd", "--check"]]);
    let found = commands("install x && sudo -u toolexec toolexec gc; systemctl restart toolexecd");
    assert_eq!(found, [vec!["toolexec", "gc"]]);
}
