//! The table of changes: a record with one change, and the verifiers that reject it. Our verifier
//! must reject every row, and so must each independent verifier that reads the changed part. Rows
//! also state who accepts them, so that a reader knows the checks that a verifier does not make.
//! `cargo test -p records --test records negative -- --nocapture` prints it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::prelude::*;
use records::log::{Log, LogView};
use records::{History, Trust, attest, verify};
use serde_json::{Value, json};

use crate::attestation::LoggedRecord;
use crate::fixture::skip::skip;
use crate::fixture::{REQUEST_ID, RecordCase, RecordScratch, flip, put, replace, stock};
use crate::log::log_key;
use crate::oracles::{installed, judge, oracle};

const TEST: &str = "every_change_is_refused_by_who_looks_at_it";

/// Verifiers, ours first.
const OURS: &str = "toolexec";
const SSH: &str = "ssh-keygen";
const OPENSSL: &str = "openssl";
const SHA: &str = "sha256sum";
const NODE: &str = "@sigstore/verify";
const RUST: &str = "sigstore-verify";

/// A published record with all its files, and the inputs of its verifiers.
struct NegativeFixture {
    logged: LoggedRecord,
    dir: PathBuf,
    id: String,
    trust: Trust,
    key: PathBuf,
    signers: PathBuf,
    root: PathBuf,
    node: Option<PathBuf>,
    rust: Option<PathBuf>,
}

impl NegativeFixture {
    fn new() -> Self {
        let logged = LoggedRecord::new(RecordCase::plain());
        let at = |name: &str| logged.scratch.path().join("given").join(name);
        let (key, signers, root) = (at("key.pem"), at("signers"), at("trusted_root.json"));
        put(&key, logged.key.pem().as_bytes());
        put(&signers, format!("{}\n", logged.key.allowed_signers_line()).as_bytes());
        let valid_from = "2026-11-21T00:00:00Z".parse().unwrap();
        put(&root, logged.log.key().trusted_root(valid_from).as_bytes());
        let id = logged.attested.record().result_id().to_string();
        let dir = logged.publish(&logged.scratch.path().join("good"));
        // The present head of the log, saved before.
        let view = LogView::open(&logged.scratch.path().join("log"), logged.log.key()).unwrap();
        let (saved, origin) = (view.head().clone(), logged.log.key().origin().clone());
        let history = History::of(view, origin.clone(), Some((&saved, &origin))).unwrap();
        let trust = Trust::from_key(&logged.key)
            .with_logs(vec![logged.log.key().clone()])
            .with_history(history);
        let node = installed(TEST, "TOOLEXEC_NODE_MODULES");
        let rust = installed(TEST, "TOOLEXEC_SIGSTORE_VERIFY");
        Self { logged, dir, id, trust, key, signers, root, node, rust }
    }

    fn file(&self, dir: &Path, ending: &str) -> PathBuf {
        dir.join(format!("{}.{ending}", self.id))
    }

    fn copy(&self, name: &str) -> PathBuf {
        let to = self.logged.scratch.path().join("rows").join(name).join(&self.id);
        copy(&self.dir, &to);
        to
    }

    /// Returns the verifiers that reject this directory, and the first reason of ours.
    fn refused_by(&self, dir: &Path) -> (BTreeSet<&'static str>, String) {
        let mut refused = BTreeSet::new();
        let reason = match verify(dir, &self.trust) {
            Ok(_) => String::new(),
            Err(faults) => {
                refused.insert(OURS);
                faults[0].to_string().replace(&self.id, "X")
            }
        };
        let (md, sig) = (self.file(dir, "md"), self.file(dir, "md.sig"));
        let args = ["-Y", "verify", "-I", "tool-exec", "-n", records::RESULT_NAMESPACE];
        let files = ["-f", text(&self.signers), "-s", text(&sig)];
        let mut note = |name, accepted: Option<(bool, String)>| {
            if accepted.is_some_and(|(accepted, _)| !accepted) {
                refused.insert(name);
            }
        };
        note(SSH, stock(TEST, SSH, &[&args[..], &files].concat(), &fs::read(&md).unwrap()));
        let bundle = self.file(dir, "bundle.json");
        note(OPENSSL, self.openssl(&bundle));
        note(SHA, subjects_by_sha256sum(&bundle, dir));
        if self.node.is_some() {
            let given: [&Path; 4] = [&oracle("sigstore.js"), &bundle, &self.key, &self.root];
            note(NODE, Some(judge(Path::new("node"), &given)));
        }
        if let Some(program) = &self.rust {
            note(RUST, Some(judge(program, &[&bundle, &self.key, &self.root, &md])));
        }
        (refused, reason)
    }

    /// Follows the recipe of docs/verifying.md.
    fn openssl(&self, bundle: &Path) -> Option<(bool, String)> {
        let bundle = json_of(bundle);
        let sig = self.logged.scratch.path().join("sig");
        fs::remove_file(&sig).ok();
        put(&sig, &decoded(&bundle, "/dsseEnvelope/signatures/0/sig"));
        let args = ["dgst", "-sha256", "-verify", text(&self.key), "-signature", text(&sig)];
        stock(TEST, OPENSSL, &args, &pae(&decoded(&bundle, "/dsseEnvelope/payload")))
    }

    fn edit(&self, dir: &Path, change: impl FnOnce(&mut Value)) {
        let path = self.file(dir, "bundle.json");
        let mut bundle = json_of(&path);
        change(&mut bundle);
        replace(&path, &[serde_json::to_vec(&bundle).unwrap(), b"\n".to_vec()].concat());
    }

    /// Signs, logs and bundles a statement with the record's own key, as any holder of the key can.
    fn bundle_of(&self, log: &mut Log, payload: &[u8]) -> Option<Value> {
        let der = self.sign(&pae(payload))?;
        let mut bundle: Value = serde_json::from_slice(&self.logged.bundle).unwrap();
        let encoded = |bytes: &[u8]| Value::from(BASE64_STANDARD.encode(bytes));
        let mut entry: Value =
            serde_json::from_slice(&self.logged.attested.envelope().log_entry()).unwrap();
        let digest = model::Sha256::of(&pae(payload));
        let record = &mut entry["spec"]["hashedRekordV002"];
        record["data"]["digest"] = encoded(digest.as_bytes());
        record["signature"]["content"] = encoded(&der);
        let entry = serde_json_canonicalizer::to_vec(&entry).unwrap();
        let proof = log.append(&entry).unwrap();
        let text = proof.tlog_proof();
        let hashes: Vec<&str> = text.split("\n\n").next().unwrap().lines().skip(2).collect();
        bundle["dsseEnvelope"]["payload"] = encoded(payload);
        bundle["dsseEnvelope"]["signatures"][0]["sig"] = encoded(&der);
        let place = &mut bundle["verificationMaterial"]["tlogEntries"][0];
        place["logIndex"] = proof.index().to_string().into();
        place["canonicalizedBody"] = encoded(&entry);
        place["inclusionProof"] = json!({
            "logIndex": proof.index().to_string(),
            "rootHash": encoded(proof.checkpoint().root().as_bytes()),
            "treeSize": proof.checkpoint().size().to_string(),
            "hashes": hashes,
            "checkpoint": { "envelope": proof.checkpoint().note() },
        });
        Some(bundle)
    }

    /// Signs with openssl, with the private key in a format that it reads.
    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let pem = self.logged.scratch.path().join("private.pem");
        if !pem.exists() {
            fs::copy(self.logged.scratch.path().join("keys/result"), &pem).unwrap();
            let args = ["-q", "-p", "-m", "PEM", "-N", "", "-P", "", "-f", text(&pem)];
            let (made, output) = stock(TEST, SSH, &args, b"")?;
            assert!(made, "{output}");
        }
        let out = self.logged.scratch.path().join("made.sig");
        fs::remove_file(&out).ok();
        let args = ["dgst", "-sha256", "-sign", text(&pem), "-out", text(&out)];
        let (made, output) = stock(TEST, OPENSSL, &args, message)?;
        assert!(made, "{output}");
        Some(fs::read(&out).unwrap())
    }

    fn sign_md(&self, dir: &Path, key: &Path, namespace: &str) {
        let md = self.file(dir, "md");
        fs::remove_file(self.file(dir, "md.sig")).unwrap();
        let args = ["-q", "-Y", "sign", "-f", text(key), "-n", namespace, text(&md)];
        let (signed, output) = stock(TEST, SSH, &args, b"").unwrap();
        assert!(signed, "{output}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            put(&to, &fs::read(entry.path()).unwrap());
        }
    }
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn decoded(bundle: &Value, place: &str) -> Vec<u8> {
    let text = bundle.pointer(place).unwrap().as_str().unwrap();
    BASE64_STANDARD.decode(text).unwrap_or_else(|error| panic!("{place}: {error}: {text}"))
}

fn pae(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 28 application/vnd.in-toto+json {} ", payload.len());
    [head.as_bytes(), payload].concat()
}

/// Checks the files against the digests of the statement, without its signature.
fn subjects_by_sha256sum(bundle: &Path, dir: &Path) -> Option<(bool, String)> {
    let payload = decoded(&json_of(bundle), "/dsseEnvelope/payload");
    let Ok(statement) = serde_json::from_slice::<Value>(&payload) else {
        return Some((false, "no JSON".into()));
    };
    let mut list = String::new();
    for subject in statement["subject"].as_array().unwrap() {
        let (digest, name) = (&subject["digest"]["sha256"], subject["name"].as_str().unwrap());
        list.push_str(&format!("{}  {}\n", digest.as_str().unwrap(), text(&dir.join(name))));
    }
    stock(TEST, SHA, &["-c", "--quiet"], list.as_bytes())
}

fn flip_text(bundle: &mut Value, place: &str) {
    let place = bundle.pointer_mut(place).unwrap();
    let mut text = place.as_str().unwrap().to_owned().into_bytes();
    let at = text.len() / 6;
    text[at] = flipped_character(text[at]);
    *place = String::from_utf8(text).unwrap().into();
}

/// Flips the lowest of a base64 character's six bits; the result is base64 again. Keys are random,
/// and so is the middle of a signature. Flips the lowest bit of any other character.
fn flipped_character(character: u8) -> u8 {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    match ALPHABET.iter().position(|it| *it == character) {
        Some(value) => ALPHABET[value ^ 1],
        None => character ^ 1,
    }
}

fn flip_digest(bundle: &mut Value) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut payload = decoded(bundle, PAYLOAD);
    let after = |payload: &[u8], from: usize, mark: &[u8]| {
        let rest = &payload[from..];
        from + rest.windows(mark.len()).position(|it| it == mark).unwrap() + mark.len()
    };
    let subject = after(&payload, 0, b"\"subject\":");
    let at = after(&payload, subject, b"\"sha256\":\"");
    let value = HEX.iter().position(|it| *it == payload[at]).unwrap();
    payload[at] = HEX[value ^ 1];
    *bundle.pointer_mut(PAYLOAD).unwrap() = BASE64_STANDARD.encode(payload).into();
}

#[test]
fn a_flipped_character_of_base64_is_another_one_of_base64() {
    let is_base64 = |c: u8| BASE64_STANDARD.decode([c, c, c, c]).is_ok();
    for character in (0..128_u8).filter(|it| is_base64(*it)) {
        let flipped = flipped_character(character);
        assert!(is_base64(flipped) && flipped != character, "{character}: {flipped}");
    }
}

const PROOF: &str = "/verificationMaterial/tlogEntries/0/inclusionProof";
const PAYLOAD: &str = "/dsseEnvelope/payload";

/// One change: its name, its effect on a directory, and the other verifiers that must reject it.
type RecordChange<'a> = Box<dyn Fn(&NegativeFixture, &Path) + 'a>;
type ChangeRow<'a> = (&'static str, RecordChange<'a>, &'static [&'static str]);

/// Every file of a record with one bit flipped.
fn flipped<'a>() -> Vec<ChangeRow<'a>> {
    let bit =
        |path: &'static str| -> RecordChange<'a> { Box::new(move |_, dir| flip(&dir.join(path))) };
    let own = |ending: &'static str| -> RecordChange<'a> {
        Box::new(move |published, dir| flip(&published.file(dir, ending)))
    };
    let string = |place: String| -> RecordChange<'a> {
        Box::new(move |published, dir| published.edit(dir, |it| flip_text(it, &place)))
    };
    let request: RecordChange<'a> =
        Box::new(|_, dir| flip(&dir.join(format!("request/{REQUEST_ID}.md"))));
    let approval: RecordChange<'a> =
        Box::new(|_, dir| flip(&dir.join(format!("request/{REQUEST_ID}.md.sig"))));
    let statement: RecordChange<'a> = Box::new(|published, dir| published.edit(dir, flip_digest));
    let entry = "/verificationMaterial/tlogEntries/0/canonicalizedBody".to_owned();
    vec![
        ("one bit of the record", own("md"), &[SSH, SHA, RUST]),
        ("one bit of its signature", own("md.sig"), &[SSH]),
        ("one bit of stdout", bit("stdout"), &[SHA]),
        ("one bit of stderr", bit("stderr"), &[SHA]),
        ("one bit of an artifact", bit("artifacts/stats.json"), &[SHA]),
        ("one bit of the request", request, &[SHA]),
        ("one bit of its approval", approval, &[SHA]),
        ("one bit of the .tlog-proof", own("tlog-proof"), &[]),
        ("one bit of the statement", statement, &[OPENSSL, SHA, NODE, RUST]),
        (
            "one bit of its signature (DSSE)",
            string("/dsseEnvelope/signatures/0/sig".into()),
            &[OPENSSL, NODE, RUST],
        ),
        ("one bit of the log entry", string(entry), &[NODE, RUST]),
        ("one bit of a hash of the proof", string(format!("{PROOF}/hashes/1")), &[NODE, RUST]),
        (
            "one bit of the checkpoint",
            string(format!("{PROOF}/checkpoint/envelope")),
            &[NODE, RUST],
        ),
    ]
}

/// Wrong namespaces, keys and chains.
fn wrong<'a>() -> Vec<ChangeRow<'a>> {
    let namespace: RecordChange<'a> = Box::new(|published, dir| {
        let key = published.logged.scratch.path().join("keys/result");
        published.sign_md(dir, &key, "approve.tool-exec@threegate");
    });
    let ssh_key: RecordChange<'a> = Box::new(|published, dir| {
        published.logged.scratch.key("other");
        let key = published.logged.scratch.path().join("other/result");
        published.sign_md(dir, &key, records::RESULT_NAMESPACE);
    });
    let bundle_key: RecordChange<'a> = Box::new(|published, dir| {
        let scratch = RecordScratch::in_memory();
        let other = attest(&published.logged.case.statement(), &scratch.key("keys")).unwrap();
        let mut log = Log::open_or_create(&scratch.path().join("log"), log_key()).unwrap();
        let inclusion = log.append(&other.envelope().log_entry()).unwrap();
        for (name, bytes) in other.proofs(&inclusion).unwrap() {
            replace(&dir.join(name), &bytes);
        }
    });
    let chain: RecordChange<'a> = Box::new(|published, dir| {
        published.edit(dir, |it| {
            it.pointer_mut(PROOF).unwrap()["hashes"].as_array_mut().unwrap().pop();
        });
    });
    let proof_chain: RecordChange<'a> = Box::new(|published, dir| {
        let path = published.file(dir, "tlog-proof");
        let text = fs::read_to_string(&path).unwrap();
        let (head, note) = text.split_once("\n\n").unwrap();
        let (head, _) = head.rsplit_once('\n').unwrap();
        replace(&path, format!("{head}\n\n{note}").as_bytes());
    });
    vec![
        ("signed for another namespace", namespace, &[SSH]),
        ("signed by another key", ssh_key, &[SSH]),
        ("stated by another key", bundle_key, &[OPENSSL, NODE, RUST]),
        ("a hash of the proof left out", chain, &[NODE, RUST]),
        ("a hash of the .tlog-proof left out", proof_chain, &[]),
    ]
}

/// Valid parts in a wrong place.
fn swapped<'a>() -> Vec<ChangeRow<'a>> {
    let artifacts: RecordChange<'a> = Box::new(|_, dir| {
        let [one, two] = ["stats.json", "sub/extra.txt"].map(|it| dir.join("artifacts").join(it));
        let (first, second) = (fs::read(&one).unwrap(), fs::read(&two).unwrap());
        replace(&one, &second);
        replace(&two, &first);
    });
    let other = |published: &NegativeFixture| {
        let key = published.logged.scratch.key("keys");
        let attested = attest(&RecordCase::numbered(7).statement(), &key).unwrap();
        let scratch = RecordScratch::in_memory();
        let mut log = Log::open_or_create(&scratch.path().join("log"), log_key()).unwrap();
        let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
        let proofs = attested.proofs(&inclusion).unwrap();
        (attested, proofs)
    };
    let bundle: RecordChange<'a> = Box::new(move |published, dir| {
        let (_, [(_, bundle), (_, proof)]) = other(published);
        replace(&published.file(dir, "bundle.json"), &bundle);
        replace(&published.file(dir, "tlog-proof"), &proof);
    });
    let record: RecordChange<'a> = Box::new(move |published, dir| {
        let (attested, _) = other(published);
        let [(_, md), (_, sig), ..] = attested.record().files() else { panic!() };
        replace(&published.file(dir, "md"), md);
        replace(&published.file(dir, "md.sig"), sig);
    });
    let missing: RecordChange<'a> =
        Box::new(|published, dir| fs::remove_file(published.file(dir, "tlog-proof")).unwrap());
    let more: RecordChange<'a> = Box::new(|_, dir| put(&dir.join("artifacts/more"), b"more"));
    vec![
        ("two artifacts exchanged", artifacts, &[SHA]),
        ("another record's bundle and proof", bundle, &[SHA, RUST]),
        ("another record and its signature", record, &[SHA, RUST]),
        ("the .tlog-proof left out", missing, &[]),
        ("one file more", more, &[]),
    ]
}

/// Wrong logs and fields.
fn logged<'a>() -> Vec<ChangeRow<'a>> {
    let stale: RecordChange<'a> = Box::new(|published, dir| {
        let scratch = RecordScratch::in_memory();
        let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
        let head = log.append(b"first").unwrap().checkpoint().clone();
        published.edit(dir, |it| {
            let proof = it.pointer_mut(PROOF).unwrap();
            proof["checkpoint"]["envelope"] = head.note().into();
            proof["treeSize"] = head.size().to_string().into();
            proof["rootHash"] = BASE64_STANDARD.encode(head.root().as_bytes()).into();
        });
    });
    // The same record in a rewritten log of that name.
    let rewritten: RecordChange<'a> = Box::new(|published, dir| {
        let scratch = RecordScratch::in_memory();
        let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
        for other in ["x", "y", "z"] {
            log.append(other.as_bytes()).unwrap();
        }
        let attested = &published.logged.attested;
        let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
        for (name, bytes) in attested.proofs(&inclusion).unwrap() {
            replace(&dir.join(name), &bytes);
        }
    });
    // The log has the entry twice, and the proof next to the bundle is of the second.
    let twice: RecordChange<'a> = Box::new(|published, dir| {
        let scratch = RecordScratch::in_memory();
        let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
        let entry = published.logged.attested.envelope().log_entry();
        log.append(&entry).unwrap();
        // More entries than a log remembers.
        for number in 0..1200_u32 {
            log.append(&number.to_be_bytes()).unwrap();
        }
        let second = log.append(&entry).unwrap();
        assert_eq!(second.index(), 1201);
        replace(&published.file(dir, "tlog-proof"), second.tlog_proof().as_bytes());
    });
    let field = |place: &'static str| -> RecordChange<'a> {
        Box::new(move |published, dir| {
            published.edit(dir, |it| it.pointer_mut(place).unwrap()["more"] = "1".into());
        })
    };
    let stated: RecordChange<'a> = Box::new(|published, dir| {
        let payload = published.logged.attested.envelope().payload();
        let mut statement: Value = serde_json::from_slice(payload).unwrap();
        statement["more"] = 1.into();
        let scratch = RecordScratch::in_memory();
        let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
        let payload = serde_json::to_vec(&statement).unwrap();
        let bundle = published.bundle_of(&mut log, &payload).unwrap();
        published.edit(dir, |it| *it = bundle);
    });
    vec![
        ("a checkpoint smaller than the index", stale, &[NODE, RUST]),
        ("a log that was written anew", rewritten, &[]),
        ("a .tlog-proof of a duplicate leaf", twice, &[]),
        ("an unknown field in the bundle", field(""), UNKNOWN_IN_BUNDLE),
        ("an unknown field in the envelope", field("/dsseEnvelope"), UNKNOWN_IN_BUNDLE),
        ("an unknown field in the statement, signed", stated, &[]),
    ]
}

/// Node ignores unknown fields.
const UNKNOWN_IN_BUNDLE: &[&str] = &[];

#[test]
fn every_change_is_refused_by_who_looks_at_it() {
    let published = NegativeFixture::new();
    if stock(TEST, SSH, &["-Y"], b"").is_none() || stock(TEST, OPENSSL, &["version"], b"").is_none()
    {
        return;
    }
    let (refusing, _) = published.refused_by(&published.dir);
    assert!(refusing.is_empty(), "{refusing:?} refuse what was not changed");
    let here: Vec<&str> = [SSH, OPENSSL, SHA]
        .into_iter()
        .chain(published.node.as_ref().map(|_| NODE))
        .chain(published.rust.as_ref().map(|_| RUST))
        .collect();
    let mut table = format!("{:<44} | {:<62} | {}\n", "what was changed", "refused by", "why");
    let mut wrong_rows = Vec::new();
    for (number, (name, change, others)) in
        [flipped(), wrong(), swapped(), logged()].into_iter().flatten().enumerate()
    {
        let dir = published.copy(&number.to_string());
        change(&published, &dir);
        let (refused, why) = published.refused_by(&dir);
        let expected: BTreeSet<&str> =
            others.iter().filter(|name| here.contains(name)).chain([&OURS]).copied().collect();
        let names: Vec<&str> = refused.iter().rev().copied().collect();
        table.push_str(&format!("{name:<44} | {:<62} | {why}\n", names.join(", ")));
        if refused != expected {
            wrong_rows.push(format!("{name}: refused by {refused:?}, expected {expected:?}"));
        }
    }
    println!("{table}");
    assert!(wrong_rows.is_empty(), "{wrong_rows:#?}\n{table}");
    if here.len() < 5 {
        skip(TEST, "without Sigstore's verifiers the table has only the other columns");
    }
}

/// A bundle made with stock tools alone is valid, or the unknown field's row would prove nothing.
#[test]
fn what_is_stated_by_hand_with_the_right_key_is_accepted() {
    let published = NegativeFixture::new();
    let scratch = RecordScratch::in_memory();
    let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
    let payload = published.logged.attested.envelope().payload();
    let Some(bundle) = published.bundle_of(&mut log, payload) else { return };
    let bundle = serde_json::to_vec(&bundle).unwrap();
    let verified = records::verify_bundle(&bundle, &published.logged.key, log.key());
    assert!(verified.is_ok(), "{verified:?}");
}
