//! Records of a fleet: each verifies by the key and in the log of its host, and no request runs on
//! two hosts.

use std::path::{Path, PathBuf};

use policies::FleetList;
use records::log::{Log, LogKey};
use records::{
    Conflict, CrossRecordCheck, FleetTrustError, RecordBundleError, ResultKey, SkippedCheck, Trust,
    VerifyError, attest, verify, verify_bundle_alone,
};

use crate::fixture::{RecordCase, RecordScratch, put};

/// A host with its own key and log.
struct FleetHost {
    name: &'static str,
    seed: u8,
    scratch: RecordScratch,
    key: ResultKey,
    log: Log,
}

impl FleetHost {
    fn new(name: &'static str, seed: u8) -> Self {
        let scratch = RecordScratch::in_memory();
        let key = scratch.key("keys");
        let log_key = LogKey::from_seed(name.parse().unwrap(), &[seed; 32]);
        let log = Log::open_or_create(&scratch.path().join("log"), log_key).unwrap();
        Self { name, seed, scratch, key, log }
    }

    /// Publishes a record that `signer` signed and that is in the log of this host.
    fn publish_signed(&mut self, case: &RecordCase, signer: &ResultKey) -> PathBuf {
        let attested = attest(&case.statement(), signer).unwrap();
        let inclusion = self.log.append(&attested.envelope().log_entry()).unwrap();
        let dir = case.publish_run(&self.scratch.path().join("results"), attested.record());
        for (name, bytes) in attested.proofs(&inclusion).unwrap() {
            put(&dir.join(name), &bytes);
        }
        dir
    }

    fn publish(&mut self, case: &RecordCase) -> PathBuf {
        let key = self.scratch.key("keys");
        self.publish_signed(case, &key)
    }

    fn rows(&self) -> String {
        let (name, log_key) = (self.name, self.log.key().verifier_line());
        let record_key = self.key.public().allowed_signers_line();
        format!(
            "  - name: {name}\n    labels: [gpu]\n    record_keys: ['{record_key}']\n    \
             log_key: '{log_key}'\n    witness_key: '{name}-witness+01234567+BA{seed}'\n",
            seed = self.seed
        )
    }
}

fn list(hosts: &[&FleetHost]) -> String {
    let rows: String = hosts.iter().map(|host| host.rows()).collect();
    format!("fleet: farm\nfleet_id: 0b1c2d3e\nserial: 1\nhosts:\n{rows}")
}

fn trust(text: &str) -> Result<Trust, FleetTrustError> {
    Trust::of_fleet(&FleetList::parse(text.as_bytes(), "fleet.yaml").unwrap())
}

fn two_hosts() -> (FleetHost, FleetHost) {
    (FleetHost::new("host-a", 1), FleetHost::new("host-b", 2))
}

fn faults(dir: &Path, trust: &Trust) -> Vec<VerifyError> {
    verify(dir, trust).map(|_| ()).unwrap_err()
}

#[test]
fn a_record_of_each_host_verifies_and_names_its_host() {
    let (mut a, mut b) = two_hosts();
    let dirs = [a.publish(&RecordCase::numbered(1)), b.publish(&RecordCase::numbered(2))];
    let fleet = trust(&list(&[&a, &b])).unwrap();
    for (dir, name) in dirs.iter().zip(["host-a", "host-b"]) {
        let verified = verify(dir, &fleet).unwrap();
        assert_eq!(verified.host(), Some(name));
        assert_eq!(verified.log().unwrap().origin, name);
        let skipped = [SkippedCheck::History, SkippedCheck::Approvals];
        assert_eq!(verified.skipped_checks(), skipped);
    }
    // A host that is not listed is a stranger.
    let only_b = trust(&list(&[&b])).unwrap();
    assert!(!faults(&dirs[0], &only_b).is_empty());
    assert_eq!(verify(&dirs[1], &only_b).unwrap().host(), Some("host-b"));
    let alone = Trust::from_key(&a.key.public()).with_logs(vec![a.log.key().clone()]);
    assert_eq!(verify(&dirs[0], &alone).unwrap().host(), None);
}

#[test]
fn a_record_in_the_log_of_another_host_is_refused() {
    let (a, mut b) = two_hosts();
    let dir = b.publish_signed(&RecordCase::plain(), &a.key);
    let fleet = trust(&list(&[&a, &b])).unwrap();
    let found = faults(&dir, &fleet);
    assert!(
        matches!(found[..], [VerifyError::Bundle { problem: RecordBundleError::OtherLog, .. }]),
        "{found:?}"
    );
    // Without the list, the keys and the logs of both are trusted for each other.
    let lines = [&a.key, &b.key].map(|key| key.public().allowed_signers_line()).join("\n");
    let both = Trust::from_allowed_signers(&lines).unwrap();
    let both = both.with_logs(vec![a.log.key().clone(), b.log.key().clone()]);
    assert!(verify(&dir, &both).is_ok());
}

#[test]
fn an_earlier_key_of_a_log_counts_if_it_is_listed() {
    let (mut a, b) = two_hosts();
    let dir = a.publish(&RecordCase::plain());
    let old = a.log.key().verifier_line();
    let new = LogKey::from_seed("host-a".parse().unwrap(), &[9; 32]).public().verifier_line();
    let text = list(&[&a, &b]).replace(&old, &new);
    assert!(!faults(&dir, &trust(&text).unwrap()).is_empty());
    let with_old =
        text.replace(&format!("'{new}'"), &format!("'{new}'\n    retired_log_keys: ['{old}']"));
    assert_eq!(verify(&dir, &trust(&with_old).unwrap()).unwrap().host(), Some("host-a"));
}

#[test]
fn a_request_that_ran_on_two_hosts_is_a_conflict_of_a_fleet() {
    let (mut a, mut b) = two_hosts();
    let mut again = RecordCase::plain();
    again.result_id = "TS-20261121-121029Z-TR-20261121-120000Z-stats".parse().unwrap();
    let dirs = [a.publish(&RecordCase::plain()), b.publish(&again)];
    let conflicts = |trust: &Trust| {
        let mut across = CrossRecordCheck::default();
        assert_eq!(across.add(0, &verify(&dirs[0], trust).unwrap()), []);
        across.add(1, &verify(&dirs[1], trust).unwrap())
    };
    assert_eq!(conflicts(&trust(&list(&[&a, &b])).unwrap()), [(Conflict::Request, 0)]);
    // Outside a fleet, one request may be meant for two hosts.
    let lines = [&a.key, &b.key].map(|key| key.public().allowed_signers_line()).join("\n");
    let both = Trust::from_allowed_signers(&lines).unwrap();
    let both = both.with_logs(vec![a.log.key().clone(), b.log.key().clone()]);
    assert_eq!(conflicts(&both), []);
}

#[test]
fn a_list_whose_signature_was_not_checked_is_reported() {
    let (mut a, b) = two_hosts();
    let case = RecordCase::plain();
    let dir = a.publish(&case);
    let fleet = trust(&list(&[&a, &b])).unwrap().without_list_signature();
    let verified = verify(&dir, &fleet).unwrap();
    assert!(verified.skipped_checks().contains(&SkippedCheck::FleetList));
    let bundle = std::fs::read(dir.join(format!("{}.bundle.json", case.result_id))).unwrap();
    let alone = verify_bundle_alone("x", &bundle, &fleet).unwrap();
    assert!(alone.skipped_checks().contains(&SkippedCheck::FleetList));
    assert_eq!(alone.host(), Some("host-a"));
}

#[test]
fn keys_that_cannot_be_used_are_named_with_their_host() {
    let (a, b) = two_hosts();
    let good = list(&[&a, &b]);
    let host = || "host-a".to_owned();
    let other_use = good.replacen("namespaces=\"result", "namespaces=\"other", 1);
    assert_eq!(
        trust(&other_use).map(|_| ()).unwrap_err(),
        FleetTrustError::NotForResults { host: host() }
    );
    let no_log = good.replacen(&a.log.key().verifier_line(), "host-a+01234567+AAAA", 1);
    assert_eq!(trust(&no_log).map(|_| ()).unwrap_err(), FleetTrustError::LogKey { host: host() });
    let with_time = "tool-exec valid-after=\"20260101\",namespaces";
    let local_time = good.replacen("tool-exec namespaces", with_time, 1);
    let error = trust(&local_time).map(|_| ()).unwrap_err();
    assert!(matches!(error, FleetTrustError::RecordKey { .. }), "{error}");
}
