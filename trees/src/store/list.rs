//! Lists the environments of a store and finds one by a word. Nothing here looks at a tree.

use std::ffi::CStr;
use std::io::ErrorKind;

use model::Sha256;

use super::directory::{EnvironmentStore, NAMES, digest_of_name};
use super::environment::{Environment, StoredDirectory};
use super::error::StoreError;
use super::handle::{names_of, read_small};
use crate::name::{DIGEST_PREFIX, EnvironmentName, EnvironmentReference, parse_digest};

const NAME_FILE_BYTES_MAX: usize = 128;
const HEX_DIGITS_MIN: usize = 12;
const HEX_DIGITS: usize = 64;

/// The environments of a store.
#[derive(Debug)]
pub struct ListedEnvironments {
    /// Those whose facts can be read, by name and time.
    pub environments: Vec<Environment>,
    /// The others.
    pub damaged: Vec<DamagedEnvironment>,
}

/// A stored environment whose facts cannot be read.
#[derive(Debug)]
pub struct DamagedEnvironment {
    /// The digest that its directory names.
    pub sha256: Sha256,
    /// The error of its directory or of one of its files.
    pub error: StoreError,
}

impl EnvironmentStore {
    /// Returns the environments in the order of their names, then of their times. Leaves out those
    /// whose facts cannot be read.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list(&self) -> Result<Vec<Environment>, StoreError> {
        Ok(self.list_all()?.environments)
    }

    /// Returns the environments as [`Self::list`] does, and those whose facts cannot be read.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list_all(&self) -> Result<ListedEnvironments, StoreError> {
        let (mut found, mut damaged) = (Vec::new(), Vec::new());
        for sha256 in self.digests()? {
            match StoredDirectory::open(self, sha256).and_then(|stored| stored.load()) {
                Ok(environment) => found.push(environment),
                // Removed since the directory was listed.
                Err(error) if error.is_missing() && !self.has(sha256) => {}
                Err(error) => damaged.push(DamagedEnvironment { sha256, error }),
            }
        }
        found.sort_by(|a, b| {
            (&a.name, a.build.built, a.sha256).cmp(&(&b.name, b.build.built, b.sha256))
        });
        damaged.sort_by_key(|it| it.sha256);
        Ok(ListedEnvironments { environments: found, damaged })
    }

    /// Finds an environment by its name, its reference (`name@sha256:…`), its digest
    /// (`sha256:…`), or 12 or more of the first digits of the digest. A name means its newest
    /// build.
    ///
    /// # Errors
    /// There is none, or several have such a digest, or the store cannot be read.
    pub fn find(&self, word: &str) -> Result<Environment, StoreError> {
        let (sha256, name) = self.select(word)?;
        let found = StoredDirectory::open(self, sha256)?.load()?;
        Ok(match name {
            Some(name) => Environment { name, ..found },
            None => found,
        })
    }

    /// Returns the digest of the environment that [`Self::find`] would find, also if its facts
    /// cannot be read.
    ///
    /// # Errors
    /// There is none, or several have such a digest, or the store cannot be read.
    pub fn digest_of(&self, word: &str) -> Result<Sha256, StoreError> {
        Ok(self.select(word)?.0)
    }

    /// Returns the digest that a word selects, and the name if the word has one.
    fn select(&self, word: &str) -> Result<(Sha256, Option<EnvironmentName>), StoreError> {
        let missing = || StoreError::Missing { word: word.to_owned() };
        if let Ok(EnvironmentReference { name, sha256 }) = word.parse::<EnvironmentReference>() {
            let stored = StoredDirectory::open(self, sha256)?;
            // The digest selects a damaged environment, whose names cannot be read.
            return match stored.load().is_ok_and(|found| !found.is_named(&name)) {
                true => Err(missing()),
                false => Ok((sha256, Some(name))),
            };
        }
        if let Ok(name) = word.parse::<EnvironmentName>()
            && let Some(sha256) = self.newest(&name)?
        {
            return Ok((sha256, Some(name)));
        }
        let hex = word.strip_prefix(DIGEST_PREFIX).unwrap_or(word);
        let sha256 = self.digest_of_prefix(hex, word)?.ok_or_else(missing)?;
        Ok((sha256, None))
    }

    /// Returns the digest of the newest build of a name.
    pub(super) fn newest(&self, name: &EnvironmentName) -> Result<Option<Sha256>, StoreError> {
        let path = self.path().join(NAMES).join(name.as_str());
        let text = match read_small(self.part(NAMES)?, name.as_str(), NAME_FILE_BYTES_MAX) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.map_err(StoreError::io(&path, "read"))?,
        };
        let text = String::from_utf8(text).unwrap_or_default();
        let hex = text.strip_prefix(DIGEST_PREFIX).and_then(|rest| rest.strip_suffix('\n'));
        Ok(hex.and_then(parse_digest))
    }

    /// Returns all names that have a newest build.
    pub(super) fn names(&self) -> Result<Vec<EnvironmentName>, StoreError> {
        let listed = names_of(self.part(NAMES)?);
        let listed = listed.map_err(StoreError::io(&self.path().join(NAMES), "list"))?;
        Ok(listed.iter().filter_map(|name| name_of(name)).collect())
    }

    /// Returns the digests of all environments, in any order.
    pub(super) fn digests(&self) -> Result<Vec<Sha256>, StoreError> {
        let names = names_of(self.handle()).map_err(StoreError::io(self.path(), "list"))?;
        Ok(names.iter().filter_map(|name| digest_of_name(name)).collect())
    }

    fn has(&self, sha256: Sha256) -> bool {
        StoredDirectory::open(self, sha256).is_ok()
    }

    /// Returns the only digest that begins with these digits.
    fn digest_of_prefix(&self, hex: &str, word: &str) -> Result<Option<Sha256>, StoreError> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if !(HEX_DIGITS_MIN..=HEX_DIGITS).contains(&hex.len()) || !hex.bytes().all(is_hex) {
            return Ok(None);
        }
        let mut found = self.digests()?;
        found.retain(|sha256| sha256.to_string().starts_with(hex));
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            _ => Err(StoreError::Ambiguous { word: word.to_owned() }),
        }
    }
}

fn name_of(name: &CStr) -> Option<EnvironmentName> {
    name.to_str().ok()?.parse().ok()
}
