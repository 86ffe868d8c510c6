//! The signed record of an environment's build, as people see it. A signature that verifies says
//! only which key made it; the policy says whose signature counts.

use daemon::verified_build;
use model::Sha256;
use records::{BuildRecord, BuildStatement};
use serde_json::{Value, json};
use trees::EnvironmentStore;

/// The record of a build in a store.
pub(crate) enum SignedBuild {
    Unsigned,
    /// The record cannot be read or does not verify. Holds the reason.
    Unverified(String),
    Verified(Box<BuildRecord>),
}

impl SignedBuild {
    pub(crate) fn read(store: &EnvironmentStore, sha256: Sha256) -> Self {
        match verified_build(store, sha256) {
            Ok(None) => Self::Unsigned,
            Ok(Some(record)) => Self::Verified(Box::new(record)),
            Err(why) => Self::Unverified(why),
        }
    }

    /// Returns the key that signed it, or the reason why none did, as a text without line ends.
    pub(crate) fn signer(&self) -> String {
        match self {
            Self::Unsigned => "no key: the build is not signed".to_owned(),
            Self::Unverified(why) => {
                format!("unknown: the build record does not verify: {}", model::escape_line(why))
            }
            Self::Verified(record) => {
                let key = record.key();
                format!("{} ({}), the signature verifies", key.fingerprint(), key.kind().as_str())
            }
        }
    }

    /// Returns the source and the installer that the signed record states.
    pub(crate) fn facts(&self) -> Option<[String; 2]> {
        let Self::Verified(record) = self else { return None };
        let BuildStatement { source, installer, platform, tool_version, .. } = record.stated();
        let from = format!("{} {}, sha256:{}", source.kind, source.file, source.sha256);
        let by = installer.as_ref().map(|it| format!("{} {}, ", it.name, it.version));
        let by = by.unwrap_or_default();
        Some([from, format!("{by}toolexec {tool_version}, {platform}")])
    }

    /// Returns the record for other programs; null if the build is not signed.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Unsigned => Value::Null,
            Self::Unverified(why) => {
                json!({ "verified": false, "problem": why, "key": null, "fingerprint": null })
            }
            Self::Verified(record) => json!({
                "verified": true,
                "problem": null,
                "key": format!(
                    "{} {}",
                    record.key().kind().as_str(),
                    records::base64::encode(record.key().blob())
                ),
                "fingerprint": record.key().fingerprint(),
            }),
        }
    }
}
