//! A user's intent, and everything that binds a request to it, made by the commands that users
//! have. It must never sign by itself: a wrong artifact is one that a signer has signed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, SavedRequest};

use super::host::new_key;

const UIA: &str = "urn:uuid:11111111-1111-4111-8111-111111111111";
const APA: &str = "urn:uuid:22222222-2222-4222-8222-222222222222";
const APR: &str = "urn:uuid:33333333-3333-4333-8333-333333333333";
const ROLES: [(&str, &str); 6] = [
    ("user", "user"),
    ("planner", "agent-runtime"),
    ("verifier", "verifier"),
    ("operator", "operator, host"),
    ("binder", "envelope"),
    ("revoker", "revocation"),
];

/// The parts of a bundle, and the signer of each.
const SIGNERS: [(&str, &str); 5] = [
    ("uia", "user"),
    ("apa", "planner"),
    ("apr", "verifier"),
    ("ibe", "binder"),
    ("crl", "revoker"),
];

/// All signers, and a directory for the artifacts.
pub(super) struct IntentFixture<'a> {
    bench: &'a Bench,
    artifacts_dir: PathBuf,
}

impl<'a> IntentFixture<'a> {
    pub(super) fn new(bench: &'a Bench) -> Self {
        let place = bench.home().join("intent");
        CliOutput::of(bench.command("mkdir").arg(&place)).assert_code(0);
        let (mut principals, mut keys) = (String::new(), String::new());
        for (name, roles) in ROLES {
            let key = new_key(bench, &format!("intent/{name}"));
            let public = fs::read_to_string(key.with_extension("pub")).unwrap();
            principals.push_str(&format!("  {name}: [\"did:example:{name}\"]\n"));
            keys.push_str(&format!(
                "  - {{kid: {name}, principal: {name}, algorithm: EdDSA, roles: [{roles}], key: {}}}\n",
                public.trim()
            ));
        }
        let trust = format!("version: 1\nprincipals:\n{principals}keys:\n{keys}");
        fs::write(place.join("trust.yaml"), trust).unwrap();
        Self { bench, artifacts_dir: place }
    }

    pub(super) fn trust(&self) -> PathBuf {
        self.artifacts_dir.join("trust.yaml")
    }

    fn ais(&self, words: &[&str]) -> String {
        let mut command = self.bench.command("toolexec");
        let output = CliOutput::of(command.arg("ais").args(words).current_dir(&self.artifacts_dir));
        output.assert_code(0);
        output.stdout
    }

    /// Writes the output of an `ais` command to a file.
    fn file(&self, name: &str, words: &[&str], by: &str) {
        let printed = self.ais(&[words, &["--key-file", by, "--kid", by]].concat());
        fs::write(self.artifacts_dir.join(name), printed).unwrap();
    }

    fn signed(&self, name: &str, document: &Value, by: &str) {
        let plain = format!("plain-{name}");
        fs::write(self.artifacts_dir.join(&plain), document.to_string()).unwrap();
        self.file(name, &["sign", "--alg", "EdDSA", "--embed", &plain], by);
    }

    /// Binds an approved request to the intent, and returns the bundle beside it.
    pub(super) fn bind(&self, request: &SavedRequest) -> PathBuf {
        let window = json!({ "notAfter": "2099-01-01T00:00:00Z" });
        let constraints = json!({
            "dataClasses": ["public", "derived"], "jurisdictions": ["EU"], "timeWindow": window,
        });
        let budget = json!({ "level": 3, "maxWrites": 1, "maxRecords": 1000 });
        let uia = json!({
            "@type": "UIA", "id": UIA, "subject": { "id": "did:example:user" },
            "purpose": "A small test of the host", "constraints": constraints,
            "riskBudget": budget, "policyProfile": "research-readonly", "proof": {},
        });
        self.signed("uia", &uia, "user");
        let mut step: Value =
            serde_json::from_str(&self.ais(&["step", request.path.to_str().unwrap()])).unwrap();
        step["id"] = "s1".into();
        step["expected"] = json!({ "dataClasses": ["derived"], "writes": 0 });
        step["alignment"] = json!({ "score": 1, "why": "the step is the request" });
        let apa = json!({
            "@type": "APA", "id": APA, "uia": UIA, "model": { "vendor": "tests", "version": "1", "hash": "sha256:00ff" },
            "steps": [step], "totals": { "predictedWrites": 0, "predictedRecords": 100 }, "proof": {},
        });
        self.signed("apa", &apa, "planner");
        let apr = json!({
            "@type": "APr", "id": APR, "uia": UIA, "apa": APA, "method": "semantic-entailment-v1",
            "evidence": { "coverage": 1, "risk": 0 }, "proof": {},
        });
        self.signed("apr", &apr, "verifier");
        let classes = ["--data-class", "derived", "--data-class", "public"];
        let tca = [&["tca", "--operator", "did:example:operator"], &classes[..]].concat();
        self.file("tca", &tca, "operator");
        self.file("crl", &["crl", "--seconds", "600"], "revoker");
        let policy = self.bench.home().join("policy.yaml");
        let model = "planner@1=sha256:00ff";
        let sca = ["sca", "--policy", policy.to_str().unwrap(), "--model", model];
        self.file("sca", &sca, "operator");
        let mut words = vec!["envelope", request.path.to_str().unwrap()];
        words.extend(["--uia", "uia", "--apa", "apa", "--apr", "apr", "--tca", "tca"]);
        words.extend(["--crl", "crl", "--sca", "sca", "--key-file", "binder", "--kid", "binder"]);
        self.ais(&words);
        request.path.with_extension("ais.json")
    }

    /// Like [`Self::bind`], with one part changed before its signer signs it.
    pub(super) fn bind_with(
        &self,
        request: &SavedRequest,
        part: &str,
        change: impl FnOnce(&mut Value),
    ) -> PathBuf {
        let path = self.bind(request);
        let mut bundle = bundle(&path);
        change(&mut bundle[part]);
        let by = SIGNERS.iter().find(|(name, _)| *name == part).unwrap().1;
        let members = bundle[part].as_object_mut().unwrap();
        members.remove("proof");
        members.remove("sig");
        if part != "ibe" {
            members.insert("proof".to_owned(), json!({}));
        }
        self.signed("changed", &bundle[part], by);
        let signed = fs::read(self.artifacts_dir.join("changed")).unwrap();
        bundle[part] = serde_json::from_slice(&signed).unwrap();
        fs::write(&path, bundle.to_string()).unwrap();
        path
    }
}

pub(super) fn bundle(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns the time this many seconds from now.
pub(super) fn in_seconds(bench: &Bench, seconds: i64) -> String {
    let when = format!("{seconds} seconds");
    let output = CliOutput::of(bench.command("date").args(["-u", "-d", &when, "+%FT%TZ"]));
    output.assert_code(0);
    output.stdout.trim().to_owned()
}

/// Adds the intent to a revocation list.
pub(super) fn revoke_the_intent(list: &mut Value) {
    list["revoked"] = json!([{ "type": "UIA", "id": UIA, "reason": "user-revoked" }]);
}
