//! The key of the person who signs: a file, an agent, or a security key through OpenSSH. A signature
//! must never leave this module unless the very verifier of the daemon accepts it over the same bytes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use policies::{SignerKey, SshSignature};
use ssh_key::{HashAlg, LineEnding, PrivateKey};
use zeroize::Zeroizing;

use super::agent::Agent;
use super::security_key;
use crate::failure::Failure;
use crate::options::SigningOptions;
use crate::show;
use crate::state::read_file;
use crate::terminal::Terminal;

const KEY_BYTES_MAX: usize = 64 * 1024;
const PASSPHRASES_MAX: usize = 3;

/// A key that may sign, and how to have it do so.
pub(crate) struct Signer {
    key: SignerKey,
    hold: Hold,
}

enum Hold {
    File(PathBuf, Box<PrivateKey>),
    SecurityKey(PathBuf),
    Agent(Agent),
}

/// Why nobody can sign.
pub(crate) enum NoSigner {
    /// The key is none that may sign here.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for NoSigner {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Signer {
    pub(crate) fn open(asked: &SigningOptions) -> Result<Self, NoSigner> {
        match &asked.key.key {
            Some(path) => Self::of_file(path),
            None => {
                let (agent, key) = Agent::with_key(asked.fingerprint)?;
                Ok(Self { key, hold: Hold::Agent(agent) })
            }
        }
    }

    pub(crate) fn of_file(path: &Path) -> Result<Self, NoSigner> {
        let shown = show::name(path);
        let refused = |why: String| NoSigner::Refused(format!("{shown}: {why}"));
        let text = Zeroizing::new(read_file(path, KEY_BYTES_MAX)?);
        if text.starts_with(b"ssh-") || text.starts_with(b"ecdsa-") || text.starts_with(b"sk-") {
            let advice = "name its private half, or --agent";
            return Err(refused(format!("is a public key; {advice}")));
        }
        let found = std::fs::metadata(path).map_err(Failure::io(path))?;
        if found.is_file() && found.mode() & 0o077 != 0 {
            let mode = found.mode() & 0o777;
            return Err(refused(format!(
                "others may read this private key (mode {mode:o}); chmod 600 it"
            )));
        }
        let private = PrivateKey::from_openssh(&*text).map_err(|error| {
            let advice = "`ssh-keygen -p -f` rewrites older forms";
            refused(format!("is no OpenSSH private key that can be read ({error}); {advice}"))
        })?;
        let blob = private.public_key().to_bytes().map_err(|error| refused(error.to_string()))?;
        let key = SignerKey::from_blob(&blob).map_err(|error| {
            let advice = "use an Ed25519 or ECDSA P-256 key";
            refused(format!("{error}; {advice}"))
        })?;
        let path = path.to_owned();
        let hold = match key.kind().is_security_key() {
            true => Hold::SecurityKey(path),
            false => Hold::File(path, Box::new(private)),
        };
        Ok(Self { key, hold })
    }

    pub(crate) fn fingerprint(&self) -> String {
        self.key.fingerprint()
    }

    /// The armoured signature of these bytes for this use.
    pub(crate) fn sign(&mut self, namespace: &str, bytes: &[u8]) -> Result<String, Failure> {
        let armoured = match &mut self.hold {
            Hold::File(path, private) => {
                let unlocked = unlock(path, private)?;
                let private = unlocked.as_ref().unwrap_or(private);
                let signed = private.sign(namespace, HashAlg::Sha512, bytes);
                signed
                    .and_then(|signature| signature.to_pem(LineEnding::LF))
                    .map_err(|error| Failure::Said(format!("{}: {error}", path.display())))?
            }
            Hold::SecurityKey(path) => security_key::sign(path, namespace, bytes)?,
            Hold::Agent(agent) => agent.sign(&self.key, namespace, bytes)?,
        };
        self.check(&armoured, namespace, bytes)?;
        Ok(armoured)
    }

    fn check(&self, armoured: &str, namespace: &str, bytes: &[u8]) -> Result<(), Failure> {
        let wrong =
            |why: &str| Failure::Said(format!("the signature that was made is not written: {why}"));
        let signature =
            SshSignature::parse(armoured.as_bytes()).map_err(|error| wrong(&error.to_string()))?;
        let verified = signature.verify(bytes).map_err(|error| wrong(&error.to_string()))?;
        if *verified.key() != self.key || verified.namespace() != namespace {
            return Err(wrong("it is of another key or for another use"));
        }
        Ok(())
    }
}

/// The key without its passphrase, where it has one.
fn unlock(path: &Path, private: &PrivateKey) -> Result<Option<PrivateKey>, Failure> {
    if !private.is_encrypted() {
        return Ok(None);
    }
    let shown = show::name(path);
    let mut terminal = Terminal::open().map_err(|failure| {
        Failure::Said(format!("{shown}: has a passphrase, and {failure}; use --agent"))
    })?;
    for _ in 0..PASSPHRASES_MAX {
        let passphrase = terminal.ask_unseen(&format!("Passphrase of {shown}: "))?;
        match private.decrypt(&*passphrase) {
            Ok(unlocked) => return Ok(Some(unlocked)),
            Err(ssh_key::Error::Crypto) => {}
            Err(error) => return Err(Failure::Said(format!("{shown}: {error}"))),
        }
    }
    Err(Failure::Said(format!("{shown}: not its passphrase; nothing is signed")))
}
