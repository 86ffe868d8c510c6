//! OpenSSH's `allowed_signers`: which keys are whose. The reader is stricter than OpenSSH's and
//! must never accept a line that `ssh-keygen -Y verify` would refuse, nor pass over one it does not
//! understand: a key that is silently ignored, or silently unrestricted, is the worse surprise.

use std::fmt;

use ssh_key::public::KeyData;
use ssh_key::{Algorithm, EcdsaCurve, PublicKey};

use crate::validity::{Validity, read_time};

/// The most bytes an `allowed_signers` file may have.
pub const SIGNERS_BYTES_MAX: usize = 1024 * 1024;
const SIGNERS_MAX: usize = 1024;

/// One line: a key, its names, and what it may sign and when.
#[derive(Clone, Debug)]
pub(crate) struct Signer {
    pub(crate) principals: Vec<String>,
    pub(crate) namespaces: Option<Vec<String>>,
    pub(crate) validity: Validity,
    pub(crate) key: PublicKey,
    /// The same for all lines that share a key or a principal, whatever else they are called:
    /// nobody may be two approvers by having two keys or two names.
    pub(crate) person: usize,
}

/// The keys whose signatures can approve or reject.
#[derive(Clone, Debug)]
pub struct Signers {
    entries: Vec<Signer>,
}

/// A line of `allowed_signers` cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignersError {
    line: usize,
    what: String,
    advice: &'static str,
}

impl SignersError {
    fn new(line: usize, what: impl Into<String>, advice: &'static str) -> Self {
        Self { line, what: what.into(), advice }
    }

    /// The line, from 1; 0 is the whole file.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for SignersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}; {}", self.what, self.advice)
    }
}

impl std::error::Error for SignersError {}

impl Signers {
    /// Reads the text of an `allowed_signers` file.
    ///
    /// # Errors
    ///
    /// [`SignersError`] names the first line that cannot be used.
    pub fn parse(text: &str) -> Result<Self, SignersError> {
        if text.len() > SIGNERS_BYTES_MAX {
            let what = format!("{} bytes are too many", text.len());
            return Err(SignersError::new(0, what, "at most 1 MiB is read"));
        }
        let mut signers = Self { entries: Vec::new() };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if signers.entries.len() == SIGNERS_MAX {
                let what = "more keys than this file may hold";
                return Err(SignersError::new(index + 1, what, "at most 1024 lines are read"));
            }
            signers.add(read_line(line, index + 1)?);
        }
        Ok(signers)
    }

    /// Whether nobody can sign.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn of_key<'a>(&'a self, key: &'a KeyData) -> impl Iterator<Item = &'a Signer> {
        self.entries.iter().filter(move |entry| entry.key.key_data() == key)
    }

    fn add(&mut self, mut signer: Signer) {
        let same = |entry: &Signer| {
            entry.key.key_data() == signer.key.key_data()
                || entry.principals.iter().any(|name| signer.principals.contains(name))
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

fn read_line(line: &str, number: usize) -> Result<Signer, SignersError> {
    let wrong = |what: String, advice| SignersError::new(number, what, advice);
    let short = || wrong("has no key".to_owned(), "write: principal [options] key-type key");
    let (names, rest) = word(line).ok_or_else(short)?;
    if is_key_type(names) {
        // A `.pub` file copied as it is.
        return Err(wrong("has no principal before its key".to_owned(), "write the name first"));
    }
    let principals = principals(names).map_err(|what| {
        wrong(what, "write exact names, separated by commas, without quotes or wildcards")
    })?;
    let (namespaces, validity, key) = if is_key_type(rest) {
        (None, Validity::default(), rest)
    } else {
        let (options, key) = past_quotes(rest).ok_or_else(short)?;
        let options = Options::read(options)
            .map_err(|what| wrong(what, "known are namespaces=\"…\", valid-after, valid-before"))?;
        (options.namespaces, options.validity, key)
    };
    let key = read_key(key)
        .map_err(|what| wrong(what, "use an ssh-ed25519 or ecdsa-sha2-nistp256 key"))?;
    Ok(Signer { principals, namespaces, validity, key, person: 0 })
}

/// The first word, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once([' ', '\t'])?;
    Some((first, rest.trim_start_matches([' ', '\t'])))
}

/// The same where quoted blanks do not end the word.
fn past_quotes(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let end = text.find(|c: char| {
        quoted ^= c == '"';
        !quoted && (c == ' ' || c == '\t')
    })?;
    let (first, rest) = text.split_at(end);
    Some((first, rest.trim_start_matches([' ', '\t'])))
}

/// Options never begin like a key type, so a key type that we refuse is still named as one.
fn is_key_type(text: &str) -> bool {
    let first = word(text).map_or(text, |(first, _)| first);
    ["ssh-", "ecdsa-", "sk-"].iter().any(|prefix| first.starts_with(prefix))
}

fn principals(names: &str) -> Result<Vec<String>, String> {
    let mut principals: Vec<String> = Vec::new();
    for name in names.split(',') {
        let bad = |c: char| c.is_control() || c.is_whitespace() || "\"'*?!\\".contains(c);
        if name.is_empty() || name.contains(bad) {
            return Err(format!("`{}` is not an exact name", validator::escape_line(name)));
        }
        principals.push(name.to_owned());
    }
    Ok(principals)
}

#[derive(Default)]
struct Options {
    namespaces: Option<Vec<String>>,
    validity: Validity,
}

impl Options {
    fn read(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = text;
        loop {
            // OpenSSH matches option names without regard to case.
            let name_end = rest.find(['=', ',']).unwrap_or(rest.len());
            let name = rest[..name_end].to_ascii_lowercase();
            let shown = validator::escape_line(&name);
            if !["namespaces", "valid-after", "valid-before"].contains(&name.as_str()) {
                return Err(format!("option `{shown}` is not accepted"));
            }
            let (value, after) = rest[name_end..]
                .strip_prefix("=\"")
                .and_then(|quoted| quoted.split_once('"'))
                .ok_or_else(|| format!("option `{shown}` has no value in double quotes"))?;
            options.set(&name, value)?;
            match after.strip_prefix(',') {
                Some(more) => rest = more,
                None if after.is_empty() => break,
                None => return Err(format!("something follows the value of option `{shown}`")),
            }
        }
        if options.validity.is_empty() {
            return Err("valid-before is not later than valid-after".to_owned());
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let time = || {
            let shown = validator::escape_line(value);
            read_time(value)
                .ok_or_else(|| format!("{name} \"{shown}\" is not YYYYMMDD[HHMM[SS]][Z]"))
        };
        let twice = match name {
            "namespaces" => self.namespaces.replace(namespaces(value)?).is_some(),
            "valid-after" => self.validity.after.replace(time()?).is_some(),
            _ => self.validity.before.replace(time()?).is_some(),
        };
        if twice { Err(format!("option `{name}` appears twice")) } else { Ok(()) }
    }
}

fn namespaces(value: &str) -> Result<Vec<String>, String> {
    let exact = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && !b"*?!\\".contains(&b))
    };
    let names: Vec<&str> = value.split(',').collect();
    match names.iter().find(|name| !exact(name)) {
        Some(name) => Err(format!("namespace `{}` is not exact", validator::escape_line(name))),
        None => Ok(names.into_iter().map(str::to_owned).collect()),
    }
}

fn read_key(text: &str) -> Result<PublicKey, String> {
    let (kind, _) = word(text).unwrap_or((text, ""));
    if !["ssh-ed25519", "ecdsa-sha2-nistp256"].contains(&kind) {
        return Err(format!("key type `{}` is not accepted", validator::escape_line(kind)));
    }
    let key = PublicKey::from_openssh(text).map_err(|_| format!("the {kind} key is damaged"))?;
    match (key.algorithm(), key.key_data()) {
        (Algorithm::Ed25519, KeyData::Ed25519(point)) => {
            // ssh-key verifies without the check that a key of low order needs: under such a key
            // one signature is good for many messages.
            let point = ed25519_dalek::VerifyingKey::from_bytes(&point.0);
            point
                .ok()
                .filter(|point| !point.is_weak())
                .map(|_| key)
                .ok_or_else(|| "the ssh-ed25519 key is not a sound one".to_owned())
        }
        (Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 }, KeyData::Ecdsa(_)) => Ok(key),
        _ => Err(format!("the key is not what its type `{kind}` says")),
    }
}
