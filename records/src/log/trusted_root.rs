//! Sigstore's `trusted_root.json` for a log. It must never name an authority that is not needed.

use model::UtcTime;

use crate::base64;
use crate::key_model::DatedKey;
use crate::log::key::PublicLogKey;

impl PublicLogKey {
    /// Returns Sigstore's `trusted_root.json` with this log, from this time on, and no other.
    #[must_use]
    pub fn trusted_root(&self, valid_from: UtcTime) -> String {
        let valid_after = Some(valid_from);
        trusted_root(&[DatedKey { key: self.clone(), valid_after, valid_before: None }])
    }
}

/// Returns the file with these keys, each with its validity.
pub(crate) fn trusted_root(logs: &[DatedKey<PublicLogKey>]) -> String {
    let logs: Vec<String> = logs.iter().map(log).collect();
    let logs = logs.join(",\n");
    // Written by hand: the inserted values have no character that JSON escapes.
    format!(
        r#"{{
  "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
  "tlogs": [
{logs}
  ],
  "certificateAuthorities": [],
  "ctlogs": [],
  "timestampAuthorities": []
}}
"#
    )
}

fn log(dated: &DatedKey<PublicLogKey>) -> String {
    let log = &dated.key;
    let (key, id) = (base64::encode(&log.spki()), base64::encode(log.id().as_bytes()));
    // The format requires a start.
    let start = dated.valid_after.unwrap_or(UtcTime::from_unix(0));
    let end = dated.valid_before.map_or_else(String::new, |end| format!(r#", "end": "{end}""#));
    format!(
        r#"    {{
      "baseUrl": "https://{}",
      "hashAlgorithm": "SHA2_256",
      "publicKey": {{
        "rawBytes": "{key}",
        "keyDetails": "PKIX_ED25519",
        "validFor": {{ "start": "{start}"{end} }}
      }},
      "logId": {{ "keyId": "{id}" }}
    }}"#,
        log.origin()
    )
}
