//! OpenSSH's `allowed_signers`: which keys are whose. The reader is stricter than OpenSSH's and
//! must never accept a line that `ssh-keygen -Y verify` would refuse, nor pass over one it does not
//! understand: a key that is silently ignored, or silently unrestricted, is the worse surprise.
//! The lines that it accepts mean here what they mean there.

use model::UtcTime;

use super::key::SignerKey;
use super::line;
use super::model::{APPROVE_NAMESPACE, Revoked, Signer, SignersError};
use super::sshsig::Verified;
use super::validity::StandardTime;

/// The most bytes an `allowed_signers` file may have.
pub const SIGNERS_BYTES_MAX: usize = 1024 * 1024;
const SIGNERS_MAX: usize = 1024;

/// The keys whose signatures can approve or reject.
#[derive(Clone, Debug)]
pub struct Signers {
    entries: Vec<Signer>,
    revoked: Revoked,
}

/// Why a verified signature does not count as this principal's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotEntitled {
    /// The key is on the revocation list.
    Revoked,
    /// No line has this key for this principal.
    Unknown,
    /// A line has, but not for what was signed.
    Namespace,
    /// A line has, but not at that time.
    Time,
}

impl Signers {
    /// Reads the text of an `allowed_signers` file; times in it without `Z` are UTC.
    ///
    /// # Errors
    ///
    /// [`SignersError`] names the first line that cannot be used.
    pub fn parse(text: &str) -> Result<Self, SignersError> {
        Self::parse_in(text, StandardTime::UTC)
    }

    /// The same where times without `Z` are of the given zone, as `ssh-keygen` reads them on a
    /// host of that zone.
    ///
    /// # Errors
    ///
    /// [`SignersError`] names the first line that cannot be used.
    pub fn parse_in(text: &str, zone: StandardTime) -> Result<Self, SignersError> {
        if text.len() > SIGNERS_BYTES_MAX {
            let what = format!("{} bytes are too many", text.len());
            return Err(SignersError::new(0, what, "at most 1 MiB is read"));
        }
        if text.starts_with('\u{feff}') {
            let advice = "save the file as UTF-8 without a BOM";
            return Err(SignersError::new(1, "begins with a byte order mark", advice));
        }
        let mut signers = Self { entries: Vec::new(), revoked: Revoked::default() };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_matches([' ', '\t', '\r']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if signers.entries.len() == SIGNERS_MAX {
                let what = "more keys than this file may hold";
                return Err(SignersError::new(index + 1, what, "at most 1024 lines are read"));
            }
            signers.add(line::read(line, index + 1, zone)?);
        }
        Ok(signers)
    }

    /// The same keys but for those that are revoked, which count for nothing from now on.
    #[must_use]
    pub fn without(self, revoked: Revoked) -> Self {
        Self { revoked, ..self }
    }

    /// Whether nobody can sign.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether this key is on the revocation list.
    #[must_use]
    pub fn is_revoked(&self, key: &SignerKey) -> bool {
        self.revoked.has(key)
    }

    /// The names that the first line with this key that is valid then gives it, as they stand
    /// there: what `ssh-keygen -Y find-principals` prints.
    #[must_use]
    pub fn principals_of(&self, key: &SignerKey, at: UtcTime) -> Option<&str> {
        let line = self.of_key(key).find(|line| line.validity.holds(at))?;
        Some(&line.written)
    }

    /// Whether a verified signature counts as this principal's at that time: what
    /// `ssh-keygen -Y verify` says.
    ///
    /// # Errors
    ///
    /// [`NotEntitled`] says why not.
    pub fn entitles(
        &self,
        verified: &Verified,
        principal: &str,
        at: UtcTime,
    ) -> Result<(), NotEntitled> {
        if self.is_revoked(verified.key()) {
            return Err(NotEntitled::Revoked);
        }
        let mut why = NotEntitled::Unknown;
        for line in self.of_key(verified.key()).filter(|it| it.principals.matches(principal)) {
            if !line.is_for(verified.namespace()) {
                why = NotEntitled::Namespace;
            } else if !line.validity.holds(at) {
                why = NotEntitled::Time;
            } else {
                return Ok(());
            }
        }
        Err(why)
    }

    /// The names of the first line that lets the key of a verified signature sign for its namespace at
    /// that time, as they stand there.
    ///
    /// # Errors
    ///
    /// [`NotEntitled`] says why none does.
    pub(crate) fn names_for(&self, verified: &Verified, at: UtcTime) -> Result<&str, NotEntitled> {
        if self.is_revoked(verified.key()) {
            return Err(NotEntitled::Revoked);
        }
        let mut why = NotEntitled::Unknown;
        for line in self.of_key(verified.key()) {
            match (line.is_for(verified.namespace()), line.validity.holds(at)) {
                (true, true) => return Ok(&line.written),
                (true, false) => why = NotEntitled::Time,
                (false, _) if why == NotEntitled::Unknown => why = NotEntitled::Namespace,
                (false, _) => {}
            }
        }
        Err(why)
    }

    pub(crate) fn of_key<'s>(&'s self, key: &SignerKey) -> impl Iterator<Item = &'s Signer> {
        self.entries.iter().filter(move |entry| entry.key == *key)
    }

    /// The keys that may approve what was approved then: not revoked, for that use, valid at that time.
    pub(crate) fn approvers_at(&self, approved: UtcTime) -> impl Iterator<Item = &Signer> {
        self.entries.iter().filter(move |entry| {
            entry.is_for(APPROVE_NAMESPACE)
                && entry.validity.holds(approved)
                && !self.is_revoked(&entry.key)
        })
    }

    /// Whether this person may also be called so, by any of their lines; a name that only looks like
    /// theirs is taken for it.
    pub(crate) fn may_be(&self, person: usize, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.person == person && entry.principals.mean(name))
    }

    /// Whether both names may be one person's.
    pub(crate) fn may_be_one(&self, name: &str, other: &str) -> bool {
        let called = self.entries.iter().filter(|entry| entry.principals.mean(name));
        called.into_iter().any(|entry| self.may_be(entry.person, other))
    }

    fn add(&mut self, mut signer: Signer) {
        let same = |entry: &Signer| {
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
