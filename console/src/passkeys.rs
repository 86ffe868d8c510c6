//! The passkeys that approvers have, from the daemon's `allowed_signers`. A browser must know the
//! id of a credential to ask for its signature; enrolment writes it into the comment of the line.
//! The list only says which passkeys to offer: the daemon decides whether a signature counts.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::UtcTime;
use policies::{APPROVE_NAMESPACE, AllowedSigners, SignerKey, StandardTime};
use spool::clock;

use crate::trust_files;

const KEY_TYPE: &str = "sk-ecdsa-sha2-nistp256@openssh.com";
/// The beginning of the last word of a line that enrolment made.
const MARK: &str = "webauthn:";
/// The longest id of a credential is 1,023 bytes (WebAuthn); this is its text.
const ID_CHARS_MAX: usize = 1364;

/// The passkey of one line.
pub(crate) struct Passkey {
    key: SignerKey,
    id: String,
}

impl Passkey {
    /// Returns the id of the credential, in base64url.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the public key in the SSH wire format.
    pub(crate) fn public_key(&self) -> &[u8] {
        self.key.blob()
    }
}

/// The lines of the file.
pub(crate) struct PasskeyList {
    signers: AllowedSigners,
    passkeys: Vec<Passkey>,
}

impl PasskeyList {
    /// Reads the text of an `allowed_signers` file.
    pub(crate) fn parse(text: &str, zone: StandardTime) -> Result<Self, String> {
        let signers = AllowedSigners::parse_in(text, zone).map_err(|error| error.to_string())?;
        let passkeys = text.lines().filter_map(passkey_of).collect();
        Ok(Self { signers, passkeys })
    }

    /// Returns the names under which a passkey can approve now.
    pub(crate) fn approvers(&self, now: UtcTime) -> BTreeSet<&str> {
        let may_approve = |it: &&Passkey| self.signers.may_sign(&it.key, APPROVE_NAMESPACE);
        let passkeys = self.passkeys.iter().filter(may_approve);
        let names = passkeys.filter_map(|it| self.signers.principals_of(&it.key, now));
        names.flat_map(|names| names.split(',')).filter(|name| !is_pattern(name)).collect()
    }

    /// Returns the passkeys of this domain that may sign for the namespace, for an approval those
    /// of this approver.
    pub(crate) fn offered<'l>(
        &'l self,
        namespace: &'l str,
        by: Option<&'l str>,
        (rp_id, now): (&'l str, UtcTime),
    ) -> impl Iterator<Item = &'l Passkey> {
        self.passkeys.iter().filter(move |passkey| {
            let names = self.signers.principals_of(&passkey.key, now);
            let is_of = |by: &str| {
                names.is_some_and(|it| it.split(',').any(|name| name == by || is_pattern(name)))
            };
            passkey.key.rp_id() == Some(rp_id)
                && self.signers.may_sign(&passkey.key, namespace)
                && names.is_some()
                && by.is_none_or(is_of)
        })
    }
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '!', '"'])
}

/// Returns the passkey of a line. A line without a credential's id is of another key.
fn passkey_of(line: &str) -> Option<Passkey> {
    let line = line.trim();
    let id = line.rsplit([' ', '\t']).next()?.strip_prefix(MARK)?;
    let is_id_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let fits = !id.is_empty() && id.len() <= ID_CHARS_MAX && id.bytes().all(is_id_byte);
    let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    words.find(|word| *word == KEY_TYPE)?;
    let key = SignerKey::read(&format!("{KEY_TYPE} {}", words.next()?)).ok()?;
    (fits && !line.starts_with('#')).then(|| Passkey { key, id: id.to_owned() })
}

/// The file as it was read last. It is read again after a change.
pub(crate) struct PasskeyFile {
    path: Option<PathBuf>,
    /// The zone of the times in the file. The confined console cannot read it again.
    zone: StandardTime,
    read: Mutex<Option<(SignersFileVersion, Arc<PasskeyList>)>>,
}

/// The inode, its size, and the second and nanosecond of its change.
type SignersFileVersion = (u64, u64, i64, i64);

impl PasskeyFile {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self { path, zone: clock::standard_time(), read: Mutex::new(None) }
    }

    /// Returns the directory of the file.
    pub(crate) fn directory(&self) -> Option<&Path> {
        let parent = self.path.as_deref()?.parent()?;
        Some(if parent == Path::new("") { Path::new(".") } else { parent })
    }

    /// Returns the list; an empty one if no file was named.
    ///
    /// # Errors
    /// The file cannot be read, or a line is invalid.
    pub(crate) fn list(&self) -> Result<Arc<PasskeyList>, String> {
        let Some(path) = &self.path else { return PasskeyList::parse("", self.zone).map(Arc::new) };
        let shown = path.display();
        let found = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
        let version = (found.ino(), found.size(), found.ctime(), found.ctime_nsec());
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, list)) = &*read
            && *known == version
        {
            return Ok(Arc::clone(list));
        }
        let list = PasskeyList::parse(&trust_files::text(path)?, self.zone);
        let list = Arc::new(list.map_err(|error| format!("{shown}: {error}"))?);
        *read = Some((version, Arc::clone(&list)));
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine as _};

    use super::*;

    /// The generator of P-256 as a key of this domain.
    fn key_of(rp_id: &str) -> String {
        let point = "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
                     4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
        let byte = |at: usize| u8::from_str_radix(&point[at..at + 2], 16).unwrap();
        let point: Vec<u8> = (0..point.len()).step_by(2).map(byte).collect();
        let mut blob = Vec::new();
        for part in [KEY_TYPE.as_bytes(), b"nistp256", &point, rp_id.as_bytes()] {
            blob.extend(u32::try_from(part.len()).unwrap().to_be_bytes());
            blob.extend(part);
        }
        format!("{KEY_TYPE} {}", BASE64_STANDARD.encode(blob))
    }

    fn now() -> UtcTime {
        "2026-02-09T16:05:01Z".parse().unwrap()
    }

    fn ids(list: &PasskeyList, namespace: &str, by: Option<&str>, rp_id: &str) -> Vec<String> {
        list.offered(namespace, by, (rp_id, now())).map(|it| it.id().to_owned()).collect()
    }

    #[test]
    fn an_enrolled_line_is_offered_to_its_approver() {
        let key = key_of("localhost");
        let text = format!(
            "# alice {key} webauthn:comment\n\
             alice,al namespaces=\"{APPROVE_NAMESPACE}\" {key} webauthn:AQ-_\n"
        );
        let list = PasskeyList::parse(&text, StandardTime::UTC).unwrap();
        assert_eq!(list.approvers(now()).into_iter().collect::<Vec<_>>(), ["al", "alice"]);
        assert_eq!(ids(&list, APPROVE_NAMESPACE, Some("alice"), "localhost"), ["AQ-_"]);
        assert_eq!(ids(&list, APPROVE_NAMESPACE, None, "localhost"), ["AQ-_"]);
        let none = Vec::<String>::new();
        assert_eq!(ids(&list, APPROVE_NAMESPACE, Some("bob"), "localhost"), none);
        assert_eq!(ids(&list, APPROVE_NAMESPACE, None, "approve.example"), none);
        assert_eq!(ids(&list, policies::REJECT_NAMESPACE, None, "localhost"), none);
    }

    #[test]
    fn a_time_without_a_zone_is_in_the_standard_time_of_the_host() {
        let key = key_of("localhost");
        let text = format!("alice valid-before=\"202602091630\" {key} webauthn:AQ-_\n");
        for (ahead_sec, names) in [(0, vec!["alice"]), (3600, vec![]), (-3600, vec!["alice"])] {
            let zone = StandardTime::ahead_sec(ahead_sec).unwrap();
            let list = PasskeyList::parse(&text, zone).unwrap();
            assert_eq!(list.approvers(now()).into_iter().collect::<Vec<_>>(), names, "{ahead_sec}");
        }
    }

    #[test]
    fn a_line_without_the_id_of_a_credential_is_not_offered() {
        let key = key_of("localhost");
        for end in ["", "webauthn:", "webauthn:a b", "webauthn:a+b", "alice@host"] {
            let list =
                PasskeyList::parse(&format!("alice {key} {end}\n"), StandardTime::UTC).unwrap();
            assert!(list.passkeys.is_empty(), "{end}");
        }
        assert!(PasskeyList::parse("alice nonsense\n", StandardTime::UTC).is_err());
    }
}
