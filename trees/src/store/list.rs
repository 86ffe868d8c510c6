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

impl EnvironmentStore {
    /// Returns all environments in the order of their names, then of their times.
    ///
    /// # Errors
    /// The store or the files of an environment cannot be read.
    pub fn list(&self) -> Result<Vec<Environment>, StoreError> {
        let mut found = Vec::new();
        for sha256 in self.digests()? {
            match StoredDirectory::open(self, sha256).and_then(|stored| stored.load()) {
                Ok(environment) => found.push(environment),
                // Removed since the directory was listed.
                Err(error) if error.is_missing() && !self.has(sha256) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by(|a, b| {
            (&a.name, a.build.built, a.sha256).cmp(&(&b.name, b.build.built, b.sha256))
        });
        Ok(found)
    }

    /// Finds an environment by its name, its reference (`name@sha256:…`), its digest
    /// (`sha256:…`), or 12 or more of the first digits of the digest. A name means its newest
    /// build.
    ///
    /// # Errors
    /// There is none, or several have such a digest, or the store cannot be read.
    pub fn find(&self, word: &str) -> Result<Environment, StoreError> {
        let missing = || StoreError::Missing { word: word.to_owned() };
        if let Ok(reference) = word.parse::<EnvironmentReference>() {
            let found = StoredDirectory::open(self, reference.sha256)?.load()?;
            let is_named = found.is_named(&reference.name);
            return is_named.then_some(named(found, reference.name)).ok_or_else(missing);
        }
        if let Ok(name) = word.parse::<EnvironmentName>()
            && let Some(sha256) = self.newest(&name)?
        {
            return Ok(named(StoredDirectory::open(self, sha256)?.load()?, name));
        }
        let hex = word.strip_prefix(DIGEST_PREFIX).unwrap_or(word);
        let sha256 = self.digest_of_prefix(hex, word)?.ok_or_else(missing)?;
        StoredDirectory::open(self, sha256)?.load()
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

    fn digests(&self) -> Result<Vec<Sha256>, StoreError> {
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

fn named(environment: Environment, name: EnvironmentName) -> Environment {
    Environment { name, ..environment }
}

fn name_of(name: &CStr) -> Option<EnvironmentName> {
    name.to_str().ok()?.parse().ok()
}
