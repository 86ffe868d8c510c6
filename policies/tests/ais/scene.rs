//! One good call: keys of every role, the artifacts, the request and the host's rules. A test
//! changes one part and signs the bundle again.

use std::collections::BTreeMap;

use ed25519_dalek::pkcs8::{EncodePrivateKey as _, EncodePublicKey as _};
use model::{Sha256, UtcTime};
use p256::pkcs8::LineEnding;
use policies::ais::{
    AisArtifact, AisBundle, AisRefusal, AisRules, AisTrustStore, EnvironmentDigests, GuardInput,
    ProfileRules, RequestFacts, SigningKey, embed, guard,
};
use serde_json::{Map, Value, json};
use validator::HostPort;

pub(crate) const NOW: &str = "2026-06-01T12:00:00Z";
pub(crate) const TOOL: &str = "toolexec.run.python";

pub(crate) fn now() -> UtcTime {
    time(NOW)
}

pub(crate) fn time(text: &str) -> UtcTime {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

/// Returns a test key. The agent's is on P-256, all others are Ed25519.
pub(crate) fn key(role: &str) -> SigningKey {
    SigningKey::from_private(&private_pem(role)).unwrap_or_else(|error| panic!("{role}: {error}"))
}

fn seed(role: &str) -> [u8; 32] {
    *Sha256::of(role.as_bytes()).as_bytes()
}

pub(crate) fn private_pem(role: &str) -> String {
    if role.starts_with("agent") {
        let key = p256::SecretKey::from_slice(&seed(role)).expect("a scalar");
        return key.to_pkcs8_pem(LineEnding::LF).expect("PEM").to_string();
    }
    let key = ed25519_dalek::SigningKey::from_bytes(&seed(role));
    key.to_pkcs8_pem(LineEnding::LF).expect("PEM").to_string()
}

pub(crate) fn public_pem(role: &str) -> String {
    if role.starts_with("agent") {
        let key = p256::SecretKey::from_slice(&seed(role)).expect("a scalar").public_key();
        return key.to_public_key_pem(LineEnding::LF).expect("PEM");
    }
    let key = ed25519_dalek::SigningKey::from_bytes(&seed(role)).verifying_key();
    key.to_public_key_pem(LineEnding::LF).expect("PEM")
}

const ROLES: [(&str, &str); 7] = [
    ("user", "user"),
    ("agent", "agent-runtime"),
    ("verifier", "verifier"),
    ("operator", "operator"),
    ("envelope", "envelope"),
    ("host", "host"),
    ("revocation", "revocation"),
];

pub(crate) fn trust_value() -> Value {
    let keys: Vec<Value> = ROLES
        .iter()
        .map(|(name, role)| {
            json!({
                "kid": name,
                "principal": name,
                "algorithm": if *name == "agent" { "ES256" } else { "EdDSA" },
                "roles": [role],
                "valid_from": "2026-01-01T00:00:00Z",
                "valid_until": "2027-01-01T00:00:00Z",
                "key": public_pem(name),
            })
        })
        .collect();
    let principals: Map<String, Value> = ROLES
        .iter()
        .map(|(name, _)| ((*name).to_owned(), json!([format!("did:example:{name}")])))
        .collect();
    json!({ "version": 1, "principals": principals, "keys": keys })
}

pub(crate) fn trust(value: &Value) -> AisTrustStore {
    AisTrustStore::read(value.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) struct AisScene {
    /// The unsigned artifacts, by their names in a bundle.
    pub(crate) parts: BTreeMap<&'static str, Value>,
    pub(crate) signers: BTreeMap<&'static str, &'static str>,
    pub(crate) trust: Value,
    pub(crate) rules: AisRules,
    pub(crate) request: RequestFacts,
    pub(crate) environment: EnvironmentDigests,
    pub(crate) now: UtcTime,
    pub(crate) seen: Vec<String>,
}

pub(crate) const PARTS: [(&str, AisArtifact, &str); 7] = [
    ("uia", AisArtifact::Uia, "user"),
    ("apa", AisArtifact::Apa, "agent"),
    ("apr", AisArtifact::Apr, "verifier"),
    ("tca", AisArtifact::Tca, "operator"),
    ("ibe", AisArtifact::Ibe, "envelope"),
    ("crl", AisArtifact::Crl, "revocation"),
    ("sca", AisArtifact::Sca, "host"),
];

impl AisScene {
    pub(crate) fn good() -> Self {
        let args = args();
        let profile = ProfileRules::default();
        let rules = AisRules {
            profiles: BTreeMap::from([("research-readonly".to_owned(), profile)]),
            jurisdiction: Some("EU".to_owned()),
            obligations: vec!["log".to_owned()],
            ..AisRules::default()
        };
        let request = RequestFacts {
            tool: TOOL.to_owned(),
            args: args.clone(),
            hosts: HostPort::parse("data.example").into_iter().collect(),
            writes: 1,
            data_classes: vec!["internal".to_owned()],
        };
        let digest = |name: &str| (name.to_owned(), Sha256::of(name.as_bytes()));
        let environment = EnvironmentDigests {
            policies: BTreeMap::from([digest("policy")]),
            guards: BTreeMap::from([digest("toolexecd")]),
            runtimes: BTreeMap::from([digest("python")]),
        };
        Self {
            parts: parts(&args),
            signers: PARTS.iter().map(|(name, _, signer)| (*name, *signer)).collect(),
            trust: trust_value(),
            rules,
            request,
            environment,
            now: now(),
            seen: Vec::new(),
        }
    }

    pub(crate) fn set(&mut self, part: &str, pointer: &str, value: Value) {
        let part = self.parts.get_mut(part).expect("a part");
        let (above, name) = pointer.rsplit_once('/').expect("a pointer");
        match part.pointer_mut(above) {
            Some(Value::Array(items)) => {
                items[name.parse::<usize>().expect("an index")] = value;
            }
            Some(Value::Object(members)) => {
                members.insert(name.to_owned(), value);
            }
            other => panic!("{pointer}: {other:?}"),
        }
    }

    pub(crate) fn take(&mut self, part: &str, pointer: &str) {
        let part = self.parts.get_mut(part).expect("a part");
        let (above, name) = pointer.rsplit_once('/').expect("a pointer");
        let object = part.pointer_mut(above).and_then(Value::as_object_mut).expect("an object");
        object.remove(name).expect("a member");
    }

    pub(crate) fn signed(&self) -> Value {
        let mut bundle = Map::new();
        for (name, artifact, _) in PARTS {
            let Some(Value::Object(part)) = self.parts.get(name) else { continue };
            let signer = self.signers[name];
            let signed = embed(artifact, part.clone(), &key(signer), Some(signer));
            bundle.insert(name.to_owned(), signed);
        }
        Value::Object(bundle)
    }

    pub(crate) fn outcome(&self) -> Result<Value, AisRefusal> {
        self.outcome_of(self.signed().to_string().as_bytes())
    }

    pub(crate) fn outcome_of(&self, bytes: &[u8]) -> Result<Value, AisRefusal> {
        let bundle = AisBundle::read(bytes).map_err(|error| error.refusal())?;
        let trust = trust(&self.trust);
        let accepted = guard(&GuardInput {
            bundle: &bundle,
            trust: &trust,
            rules: &self.rules,
            request: Some(&self.request),
            supply: &self.environment,
            now: self.now,
            nonce_used: &|nonce| self.seen.iter().any(|seen| seen == nonce),
        })?;
        Ok(accepted.to_json())
    }
}

fn args() -> Map<String, Value> {
    let args = json!({
        "prompt": "Summarize the weather table",
        "intent_sha256": "11".repeat(32),
        "argv": ["python", "stats.py", "--in", "/in/table.csv"],
        "inputs": { "stats.py": "22".repeat(32), "table.csv": "33".repeat(32) },
    });
    args.as_object().expect("an object").clone()
}

fn hash(name: &str) -> String {
    format!("sha256:{}", Sha256::of(name.as_bytes()))
}

fn parts(args: &Map<String, Value>) -> BTreeMap<&'static str, Value> {
    let component = |kind: &str, name: &str, hash: String| json!({ "type": kind, "name": name, "version": "1", "hash": hash, "source": "tests" });
    BTreeMap::from([
        (
            "uia",
            json!({
                "@type": "UIA",
                "id": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001",
                "subject": { "id": "did:example:user" },
                "purpose": "Summarize measurements of the weather",
                "constraints": {
                    "dataClasses": ["internal", "derived"],
                    "jurisdictions": ["EU", "CH"],
                    "timeWindow": { "notAfter": "2026-06-30T00:00:00Z" },
                    "destinations": ["data.example"],
                },
                "riskBudget": { "level": 3, "maxWrites": 2, "maxRecords": 100, "maxExternalCalls": 1 },
                "policyProfile": "research-readonly",
            }),
        ),
        (
            "apa",
            json!({
                "@type": "APA",
                "id": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000002",
                "uia": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001",
                "model": { "vendor": "tests", "version": "1", "hash": "model-1" },
                "steps": [{
                    "id": "s1",
                    "tool": TOOL,
                    "args": args,
                    "expected": { "dataClasses": ["derived"], "writes": 1, "externalCalls": 1 },
                    "alignment": { "score": 1, "why": "it summarizes" },
                }],
                "totals": { "predictedWrites": 1, "predictedRecords": 10, "predictedExternalCalls": 1 },
            }),
        ),
        (
            "apr",
            json!({
                "@type": "APr",
                "id": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000003",
                "uia": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001",
                "apa": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000002",
                "method": "semantic-entailment-v1",
                "evidence": { "coverage": 1, "risk": 0.5, "obligations": ["log"] },
            }),
        ),
        (
            "tca",
            json!({
                "id": "urn:tca:toolexec.run@1",
                "operations": [{
                    "name": TOOL,
                    "argsSchema": {
                        "type": "object",
                        "required": ["prompt", "intent_sha256", "argv", "inputs"],
                        "properties": { "argv": { "type": "array", "items": { "type": "string" } } },
                    },
                    "effects": {
                        "writes": [0, 3], "dataClasses": ["derived"], "destinations": ["data.example:443"],
                    },
                }],
                "operator": "did:example:operator",
            }),
        ),
        (
            "ibe",
            json!({
                "@type": "IBE",
                "id": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000005",
                "uiaRef": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001",
                "apaStepRef": "s1",
                "aprRef": "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000003",
                "tcaRef": "urn:tca:toolexec.run@1",
                "nonce": "3f9c1d2e",
                "exp": "2026-06-01T12:10:00Z",
            }),
        ),
        (
            "crl",
            json!({
                "@type": "CRL",
                "issued": "2026-06-01T11:55:00Z",
                "expires": "2026-06-01T12:55:00Z",
                "revoked": [
                    { "type": "UIA", "id": "urn:uuid:of-somebody-else", "reason": "user-revoked" },
                ],
            }),
        ),
        (
            "sca",
            json!({
                "components": [
                    component("model", "planner", "model-1".to_owned()),
                    component("policy", "policy", hash("policy")),
                    component("guard", "toolexecd", hash("toolexecd")),
                ],
                "x-runtimes": [
                    { "name": "python", "version": "3", "hash": hash("python"), "source": "tests" },
                ],
            }),
        ),
    ])
}
