//! OpenSSH's `allowed_signers`: the keys and their owners. The reader is stricter than OpenSSH's.
//! It must never accept a line that `ssh-keygen -Y verify` would refuse, nor skip a line that it
//! does not understand: a key that is silently ignored, or silently unrestricted, is worse. An
//! accepted line means the same as in OpenSSH.

use model::UtcTime;

use super::batch::BATCH_NAMESPACE;
use super::key::SignerKey;
use super::line;
use super::model::{APPROVE_NAMESPACE, AllowedSigner, AllowedSignersError, RevokedKeys};
use super::sshsig::VerifiedSshSignature;
use super::validity::StandardTime;

/// The maximum size of an `allowed_signers` file in bytes.
pub const SIGNERS_BYTES_MAX: usize = 1024 * 1024;
const SIGNERS_MAX: usize = 1024;

/// The keys whose signatures can approve or reject.
#[derive(Clone, Debug)]
pub struct AllowedSigners {
    entries: Vec<AllowedSigner>,
    revoked: RevokedKeys,
}

/// The reason why a verified signature does not count for a principal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntitlementError {
    /// The key is on the revocation list.
    Revoked,
    /// No line has this key for this principal.
    Unknown,
    /// A line has the key for the principal, but not for this namespace.
    Namespace,
    /// A line has the key for the principal, but not at that time.
    Time,
}

impl AllowedSigners {
    /// Reads the text of an `allowed_signers` file; times in it without `Z` are UTC.
    ///
    /// # Errors
    /// [`AllowedSignersError`] names the first line that cannot be used.
    pub fn parse(text: &str) -> Result<Self, AllowedSignersError> {
        Self::parse_in(text, StandardTime::UTC)
    }

    /// Reads an `allowed_signers` file in which times without `Z` are in the given zone, as
    /// `ssh-keygen` reads them on a host of that zone.
    ///
    /// # Errors
    /// [`AllowedSignersError`] names the first line that cannot be used.
    pub fn parse_in(text: &str, zone: StandardTime) -> Result<Self, AllowedSignersError> {
        if text.len() > SIGNERS_BYTES_MAX {
            let what = format!("{} bytes, larger than 1 MiB", text.len());
            return Err(AllowedSignersError::new(0, what, "shorten the file"));
        }
        if text.starts_with('\u{feff}') {
            let advice = "save the file as UTF-8 without a BOM";
            return Err(AllowedSignersError::new(1, "begins with a byte order mark", advice));
        }
        let mut signers = Self { entries: Vec::new(), revoked: RevokedKeys::default() };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_matches([' ', '\t', '\r']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if signers.entries.len() == SIGNERS_MAX {
                let what = "more than 1024 lines with keys";
                return Err(AllowedSignersError::new(
                    index + 1,
                    what,
                    "remove keys that are not in use",
                ));
            }
            signers.add(line::read(line, index + 1, zone)?);
        }
        Ok(signers)
    }

    /// Returns the same keys with a revocation list. A revoked key counts for nothing.
    #[must_use]
    pub fn with_revoked(self, revoked: RevokedKeys) -> Self {
        Self { revoked, ..self }
    }

    /// Returns whether the file names no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether this key is on the revocation list.
    #[must_use]
    pub fn is_revoked(&self, key: &SignerKey) -> bool {
        self.revoked.contains(key)
    }

    /// Returns the names, as written, of the first line that has this key and is valid then.
    /// `ssh-keygen -Y find-principals` prints the same.
    #[must_use]
    pub fn principals_of(&self, key: &SignerKey, at: UtcTime) -> Option<&str> {
        let line = self.of_key(key).find(|line| line.validity.holds(at))?;
        Some(&line.principals_text)
    }

    /// Checks that a verified signature counts for this principal at that time. `ssh-keygen -Y
    /// verify` gives the same answer.
    ///
    /// # Errors
    /// [`EntitlementError`] states the reason.
    pub fn entitles(
        &self,
        verified: &VerifiedSshSignature,
        principal: &str,
        at: UtcTime,
    ) -> Result<(), EntitlementError> {
        if self.is_revoked(verified.key()) {
            return Err(EntitlementError::Revoked);
        }
        let mut why = EntitlementError::Unknown;
        for line in self.of_key(verified.key()).filter(|it| it.principals.matches(principal)) {
            if !line.is_for(verified.namespace()) {
                why = EntitlementError::Namespace;
            } else if !line.validity.holds(at) {
                why = EntitlementError::Time;
            } else {
                return Ok(());
            }
        }
        Err(why)
    }

    /// Returns the names, as written, of the first line that lets the key sign for the signature's
    /// namespace at that time.
    ///
    /// # Errors
    /// [`EntitlementError`] states why no line does.
    pub(crate) fn names_for(
        &self,
        verified: &VerifiedSshSignature,
        at: UtcTime,
    ) -> Result<&str, EntitlementError> {
        if self.is_revoked(verified.key()) {
            return Err(EntitlementError::Revoked);
        }
        let mut why = EntitlementError::Unknown;
        for line in self.of_key(verified.key()) {
            match (line.is_for(verified.namespace()), line.validity.holds(at)) {
                (true, true) => return Ok(&line.principals_text),
                (true, false) => why = EntitlementError::Time,
                (false, _) if why == EntitlementError::Unknown => why = EntitlementError::Namespace,
                (false, _) => {}
            }
        }
        Err(why)
    }

    /// Returns whether any line lets this key sign for the namespace, at any time.
    #[must_use]
    pub fn may_sign(&self, key: &SignerKey, namespace: &str) -> bool {
        self.of_key(key).any(|line| line.is_for(namespace))
    }

    /// Returns the key of each line.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &SignerKey> {
        self.entries.iter().map(|entry| &entry.key)
    }

    pub(crate) fn of_key<'s>(&'s self, key: &SignerKey) -> impl Iterator<Item = &'s AllowedSigner> {
        self.entries.iter().filter(move |entry| entry.key == *key)
    }

    /// Returns the keys that may approve at that time: valid then, for that use, and not revoked.
    pub(crate) fn approvers_at(&self, approved: UtcTime) -> impl Iterator<Item = &AllowedSigner> {
        self.entries.iter().filter(move |entry| {
            [APPROVE_NAMESPACE, BATCH_NAMESPACE].iter().any(|it| entry.is_for(it))
                && entry.validity.holds(approved)
                && !self.is_revoked(&entry.key)
        })
    }

    /// Returns whether any line could give this person the name, or one that looks alike.
    pub(crate) fn person_may_be(&self, person: usize, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.person == person && entry.principals.resembles(name))
    }

    /// Returns whether both names may belong to one person.
    pub(crate) fn may_be_same_person(&self, name: &str, other: &str) -> bool {
        let called = self.entries.iter().filter(|entry| entry.principals.resembles(name));
        called.into_iter().any(|entry| self.person_may_be(entry.person, other))
    }

    fn add(&mut self, mut signer: AllowedSigner) {
        let same = |entry: &AllowedSigner| {
            entry.key == signer.key || entry.principals.overlaps(&signer.principals)
        };
        let people: Vec<usize> =
            self.entries.iter().filter(|entry| same(entry)).map(|entry| entry.person).collect();
        signer.person = people.first().copied().unwrap_or(self.entries.len());
        for entry in &mut self.entries {
            if people.contains(&entry.person) {
                entry.person = signer.person;
            }
        }
        self.entries.push(signer);
    }
}
