//! Tests of fleet lists and of orders about lost hosts, with signatures of real keys.

use ::model::UtcTime;
use ssh_key::private::Ed25519Keypair;
use ssh_key::{HashAlg, LineEnding, PrivateKey};

use super::*;
use crate::approval::{APPROVE_NAMESPACE, AllowedSigners, FLEET_NAMESPACE};

const ID: &str = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";

fn key(seed: u8) -> PrivateKey {
    PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]))
}

fn public(seed: u8) -> String {
    key(seed).public_key().to_openssh().unwrap().trim().to_owned()
}

fn fingerprint(seed: u8) -> String {
    key(seed).public_key().fingerprint(HashAlg::Sha256).to_string()
}

fn sign(seed: u8, namespace: &str, text: &str) -> Vec<u8> {
    let signature = key(seed).sign(namespace, HashAlg::Sha512, text.as_bytes()).unwrap();
    signature.to_pem(LineEnding::LF).unwrap().into_bytes()
}

/// The operator has key 1, an approver key 2.
fn signers() -> AllowedSigners {
    let text = format!(
        "olga namespaces=\"{FLEET_NAMESPACE}\" {}\nalice namespaces=\"{APPROVE_NAMESPACE}\" {}\n",
        public(1),
        public(2)
    );
    AllowedSigners::parse(&text).unwrap()
}

fn now() -> UtcTime {
    "2026-02-09T16:05:01Z".parse().unwrap()
}

fn host(name: &str, labels: &str, seed: u8) -> String {
    let record_key = public(seed);
    format!(
        "  - name: {name}\n    labels: [{labels}]\n    record_keys: ['tool-exec {record_key}']\n    \
         log_key: '{name}+0123abcd+AR{seed}'\n    witness_key: '{name}-witness+0123abcd+BB{seed}'\n"
    )
}

fn list() -> String {
    let hosts = [host("host-a", "gpu, eu-west", 3), host("host-b", "", 4)].concat();
    format!("fleet: farm\nfleet_id: {ID}\nserial: 3\nhosts:\n{hosts}")
}

#[track_caller]
fn assert_refused(text: &str, expected: &str) {
    let error = FleetList::parse(text.as_bytes(), "fleet.yaml").unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert!(error.starts_with("fleet.yaml") && error.contains("; help: "), "{error}");
}

#[test]
fn a_list_is_read_with_hosts_labels_and_keys() {
    let list = FleetList::parse(list().as_bytes(), "fleet.yaml").unwrap();
    assert_eq!((list.fleet(), list.fleet_id(), list.serial()), ("farm", ID, 3));
    let names: Vec<&str> = list.hosts().iter().map(FleetListHost::name).collect();
    assert_eq!(names, ["host-a", "host-b"]);
    let host = list.host("host-a").unwrap();
    assert_eq!(host.labels(), ["gpu", "eu-west"]);
    assert_eq!(host.record_keys(), [format!("tool-exec {}", public(3))]);
    assert_eq!(host.log_key(), "host-a+0123abcd+AR3");
    assert_eq!(host.retired_log_keys(), &[] as &[String]);
}

#[test]
fn the_signature_is_beside_the_list() {
    let path = SignedFleetList::signature_path("/etc/fleet.yaml".as_ref());
    assert_eq!(path.to_str(), Some("/etc/fleet.yaml.sig"));
}

#[test]
fn each_problem_of_a_list_is_named() {
    let good = list();
    for (from, to, expected) in [
        ("fleet: farm", "fleet: Farm", "fleet: `Farm` is not a name"),
        ("fleet: farm", "fleet: &it farm", "anchors"),
        ("fleet: farm\n", "", "missing"),
        ("serial: 3", "serial: 0", "serial: is 0"),
        ("serial: 3", "serial: -1", "not a whole number"),
        ("serial: 3", "serial: 3\nserial: 4", "appears twice"),
        (ID, "mine", "fleet_id: `mine` is not an id"),
        ("hosts:", "host:", "unknown key"),
        ("name: host-b", "name: host-a", "`host-a`: appears twice"),
        ("name: host-b", "name: host b", "`host b`: not a host name"),
        ("[gpu, eu-west]", "[gpu, gpu]", "label `gpu` appears twice"),
        ("[gpu, eu-west]", "['']", "label `` is not a name"),
        ("[gpu, eu-west]", "[host-b]", "`host-b` is the name of a host and a label"),
        ("log_key: 'host-b+", "log_key: 'host-a+", "its log key is that of `host-a`"),
        ("log_key: 'host-b+0123abcd+AR4'", "log_key: ssh", "its log key is not a verifier line"),
        ("+AR4", "+AR3", "log key `AR3` appears twice"),
        ("host-b-witness+0123abcd+BB4", "x", "its witness_key is not a verifier line"),
        ("+BB4", "+BB3", "witness key `BB3` appears twice"),
        ("['tool-exec ", "['", "has no principal"),
        ("['tool-exec ", "['# ", "not one line with a key"),
    ] {
        assert!(good.contains(from), "{from}");
        assert_refused(&good.replacen(from, to, 1), expected);
    }
    let same_key = good.replace(&public(4), &public(3));
    assert_refused(&same_key, &format!("record key `{}` appears twice", fingerprint(3)));
    let head = good.split("hosts:").next().unwrap();
    assert_refused(head, "missing");
    assert_refused(&format!("{head}hosts: []\n"), "0 hosts");
    assert_refused(&"#".repeat(FLEET_LIST_BYTES_MAX + 1), "larger than 1 MiB");
}

#[test]
fn a_list_counts_only_with_the_signature_of_an_operator() {
    let text = list();
    let read = |signature: &[u8]| {
        SignedFleetList::read(text.as_bytes(), signature, "fleet.yaml", &signers(), now())
    };
    let signed = read(&sign(1, FLEET_NAMESPACE, &text)).unwrap();
    assert_eq!(signed.list().serial(), 3);
    assert_eq!(signed.signer(), format!("olga with key {}", fingerprint(1)));
    for (signature, expected) in [
        (Vec::new(), "not an SSH signature"),
        (sign(1, "file", &text), "namespace `file`"),
        (sign(1, FLEET_NAMESPACE, &format!("{text}\n")), "does not verify"),
        (sign(2, FLEET_NAMESPACE, &text), "may not sign for a fleet"),
        (sign(9, FLEET_NAMESPACE, &text), "is not in allowed_signers"),
    ] {
        let error = read(&signature).unwrap_err().to_string();
        assert!(error.starts_with("fleet.yaml: the signature: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_list_must_not_be_older_than_one_that_was_used() {
    let of_serial = |serial: &str, id: &str| {
        let text = list().replace("serial: 3", &format!("serial: {serial}")).replace(ID, id);
        FleetList::parse(text.as_bytes(), "fleet.yaml").unwrap()
    };
    let kept = FleetListSerial::of(&of_serial("7", ID));
    assert_eq!(kept.text(), format!("{ID} 7\n"));
    assert_eq!(FleetListSerial::parse(kept.text().as_bytes()), Ok(kept.clone()));
    for serial in ["7", "8"] {
        assert_eq!(kept.check(&of_serial(serial, ID)), Ok(()), "{serial}");
    }
    let older = FleetListSerialError::Older { found: 6, seen: 7 };
    assert_eq!(kept.check(&of_serial("6", ID)), Err(older));
    assert_eq!(kept.check(&of_serial("1", "0123-4567")), Ok(()), "another fleet");
    for damaged in ["", "0123abce 1", "0123abce x\n", "0123abce +1\n", "0123abce 01\n", " 1\n"] {
        let read = FleetListSerial::parse(damaged.as_bytes());
        assert_eq!(read, Err(FleetListSerialError::Unreadable), "{damaged:?}");
    }
    let longest = format!("{} {}\n", "a".repeat(64), u64::MAX);
    assert!(longest.len() <= FLEET_LIST_SERIAL_BYTES_MAX);
    assert_eq!(FleetListSerial::parse(longest.as_bytes()).unwrap().text(), longest);
}

#[test]
fn an_order_has_one_spelling() {
    let order = FleetLostOrder::new("host-a", ID, now()).unwrap();
    let text =
        format!("toolexec-fleet-lost v1\nhost host-a\nfleet {ID}\nat 2026-02-09T16:05:01Z\n");
    assert_eq!(order.text(), text);
    assert_eq!(FleetLostOrder::parse(&text).unwrap(), order);
    for changed in [
        text.trim_end().to_owned(),
        format!("{text}\n"),
        text.replace("v1", "v2"),
        text.replace("host host-a", "host host-a "),
        text.replace("host host-a", "host Host-a"),
        text.replace(ID, "x"),
        text.replace("16:05", "16:5"),
        text.replace('\n', "\r\n"),
        String::new(),
    ] {
        let error = FleetLostOrder::parse(&changed).unwrap_err();
        assert!(matches!(error, FleetLostOrderError::Line { .. }), "{changed:?}");
    }
    assert!(FleetLostOrder::new("host-a\nfleet x", ID, now()).is_err());
}

#[test]
fn an_order_counts_for_one_host_of_one_fleet_and_not_before_its_time() {
    let text = FleetLostOrder::new("host-a", ID, now()).unwrap().text();
    let signature = sign(1, FLEET_NAMESPACE, &text);
    let check = |signature: &[u8], fleet_id: &str, now: UtcTime| {
        FleetLostOrder::check(&text, signature, "host-a", fleet_id, &signers(), now)
    };
    let counted = check(&signature, ID, now()).unwrap();
    assert_eq!(counted.order().host(), "host-a");
    assert!(counted.signer().starts_with("olga "));
    let later = UtcTime::from_unix(now().unix() + 1_000_000);
    assert_eq!(check(&signature, ID, later).unwrap().order().at(), now());
    let error = check(&signature, "0000-0000", now()).unwrap_err();
    assert_eq!(error, FleetLostOrderError::Fleet { found: ID.to_owned() });
    let other = FleetLostOrder::check(&text, &signature, "host-b", ID, &signers(), now());
    assert_eq!(other.unwrap_err(), FleetLostOrderError::Host { found: "host-a".to_owned() });
    let before = UtcTime::from_unix(now().unix() - 1000);
    assert_eq!(check(&signature, ID, before).unwrap_err(), FleetLostOrderError::Time(now()));
    for signature in [sign(2, FLEET_NAMESPACE, &text), sign(1, APPROVE_NAMESPACE, &text)] {
        let error = check(&signature, ID, now()).unwrap_err();
        assert!(matches!(error, FleetLostOrderError::Signature(_)), "{error}");
        let text = error.to_string();
        assert_eq!(text.matches("; help: ").count(), 1, "{text}");
        assert!(text.contains("`toolexec fleet lost`"), "{text}");
    }
}
