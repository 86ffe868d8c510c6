//! Configurations that are accepted, and the message of each that is not.

use super::*;

const SMALL: &str = "host: host-a\ndatabase: postgres://host-a@db.example/toolexec\n";

fn parsed(more: &str) -> Result<AgentConfig, String> {
    AgentConfig::parse(&format!("{SMALL}{more}"), None)
}

#[test]
fn a_configuration_needs_a_host_and_a_database_only() {
    let config = parsed("").unwrap();
    assert_eq!(config.host.as_str(), "host-a");
    assert_eq!(config.approved(), Path::new("/var/spool/toolexec/approved"));
    assert_eq!(config.log, Path::new("/var/spool/toolexec/log"));
    assert_eq!(config.witness_key, Path::new("/var/lib/toolexec-fleet/witness.key"));
    assert_eq!((config.claims_max, config.beat.as_secs()), (8, 5));
    assert_eq!((config.takeover.as_secs(), config.poll.as_secs()), (30, 30));
    assert!(!config.without_audience);
    assert_eq!(config.synchronous_commit, SynchronousCommit::On);
    assert!(config.password_file.is_none() && config.ca_file.is_none() && config.store.is_none());
}

#[test]
fn one_submitter_leaves_places_for_others() {
    for claims_max in [1, 8, 1024] {
        let config = parsed(&format!("claims_max: {claims_max}\n")).unwrap();
        // One look-up may add `claims_max` more.
        let most = config.submitter_max() + claims_max;
        assert!(config.claims_max < config.submitter_max(), "{claims_max}");
        assert!(2 * most < config.unstarted_max(), "{claims_max}");
    }
}

#[test]
fn every_key_is_read() {
    let text = "config_version: 1\npassword_file: /p\ntls: {ca_file: /c}\nstore: file:///s\n\
                spool: /x\nlog: /l\nstate: /t\nsocket: /g\nfleet_list: /f\n\
                allowed_signers: /a\nrevoked: /r\nwitness_key: /w\nclaims_max: 2\n\
                beat_sec: 1\ntakeover_sec: 3\npoll_sec: 2\nwithout_audience: true\n\
                synchronous_commit: remote_apply\n";
    let config = parsed(text).unwrap();
    assert_eq!(config.ca_file.as_deref(), Some(Path::new("/c")));
    assert_eq!(config.password_file.as_deref(), Some(Path::new("/p")));
    assert_eq!(config.results(), Path::new("/x/results"));
    assert_eq!(config.log, Path::new("/l"));
    assert_eq!(config.takeover, Duration::from_secs(3));
    assert_eq!(config.synchronous_commit, SynchronousCommit::RemoteApply);
    assert!(config.without_audience);
}

#[test]
fn a_wrong_value_is_named_with_its_key_and_help() {
    for (text, key) in [
        ("config_version: 2\n", "config_version"),
        ("claims_max: 0\n", "claims_max"),
        ("beat_sec: 0\n", "beat_sec"),
        ("beat_sec: 61\n", "beat_sec"),
        ("takeover_sec: 14\n", "takeover_sec"),
        ("poll_sec: 0\n", "poll_sec"),
        ("state: here\n", "state"),
        ("socket: gate\n", "socket"),
        ("tls: {ca_file: ca.pem}\n", "tls.ca_file"),
        ("synchronous_commit: off\n", "synchronous_commit"),
        ("surplus: 1\n", "surplus"),
    ] {
        let why = parsed(text).unwrap_err();
        assert!(why.contains(key) && why.contains("; help: "), "{text}: {why}");
    }
    let why = parsed("spool: [a]\n").unwrap_err();
    assert_eq!(why, "line 3: expected one value: `spool: [a]`; help: correct the file");
    let why = AgentConfig::parse("host: Host A\ndatabase: x\n", None).unwrap_err();
    assert!(why.starts_with("host: ") && why.contains("; help: "), "{why}");
}
