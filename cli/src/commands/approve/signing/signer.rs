//! The key of the signer: a file, an agent, or a security key through OpenSSH. A signature must
//! never leave this module unless the daemon's verifier accepts it for the same bytes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use policies::{SignerKey, SshSignature};
use ssh_key::{HashAlg, LineEnding, PrivateKey};
use zeroize::Zeroizing;

use super::agent::SshAgentKey;
use super::error::SignerError;
use super::ssh_keygen;
use crate::args::SigningOptions;
use crate::args::files::read_file;
use crate::failure::Failure;
use crate::output;
use crate::output::human;
use crate::output::terminal::Terminal;

const KEY_BYTES_MAX: usize = 64 * 1024;
const PASSPHRASES_MAX: usize = 3;
const OPENSSH_HEADER: &[u8] = b"-----BEGIN OPENSSH ";

pub(crate) struct SigningIdentity {
    key: SignerKey,
    backend: SigningBackend,
}

enum SigningBackend {
    File(PathBuf, Box<PrivateKey>),
    SecurityKey(PathBuf),
    /// A file that OpenSSH can read and `ssh-key` cannot.
    OpenSsh(PathBuf),
    Agent(SshAgentKey),
}

impl SigningIdentity {
    pub(crate) fn open(args: &SigningOptions) -> Result<Self, SignerError> {
        match &args.key.key {
            Some(path) => Self::of_file(path),
            None => {
                let (agent, key) = SshAgentKey::with_key(args.fingerprint)?;
                Ok(Self { key, backend: SigningBackend::Agent(agent) })
            }
        }
    }

    pub(crate) fn of_file(path: &Path) -> Result<Self, SignerError> {
        let shown = human::name(path);
        let refused = |why: String| SignerError::Refused(format!("{shown}: {why}"));
        let text = Zeroizing::new(read_file(path, KEY_BYTES_MAX)?);
        if text.starts_with(b"ssh-") || text.starts_with(b"ecdsa-") || text.starts_with(b"sk-") {
            let advice = "help: name the private key, or use --ssh-agent";
            return Err(refused(format!("a public key; {advice}")));
        }
        let found = std::fs::metadata(path).map_err(Failure::io(path))?;
        if found.is_file() && found.mode() & 0o077 != 0 {
            let mode = found.mode() & 0o777;
            return Err(refused(format!(
                "private key has mode {mode:04o}, open to others; help: run `chmod 600 {shown}`"
            )));
        }
        let private = match PrivateKey::from_openssh(&*text) {
            Ok(private) => private,
            // OpenSSH writes the scalar of an ECDSA key without leading zeros, which one key in 256
            // has. `ssh-key` 0.6 refuses such a key.
            Err(error) => {
                let key = match text.starts_with(OPENSSH_HEADER) {
                    true => ssh_keygen::public_key(path),
                    false => None,
                };
                let advice =
                    format!("help: convert an older format with `ssh-keygen -p -f {shown}`");
                let why = || format!("not an OpenSSH private key ({error}); {advice}");
                let key = key.ok_or_else(|| refused(why()))?;
                return Ok(Self { key, backend: SigningBackend::OpenSsh(path.to_owned()) });
            }
        };
        let blob = private
            .public_key()
            .to_bytes()
            .map_err(|error| refused(format!("{error}; help: use another key")))?;
        let key = SignerKey::from_blob(&blob).map_err(|error| {
            let advice = "help: use an Ed25519 or ECDSA P-256 key";
            refused(format!("{error}; {advice}"))
        })?;
        let path = path.to_owned();
        let hold = match key.kind().is_security_key() {
            true => SigningBackend::SecurityKey(path),
            false => SigningBackend::File(path, Box::new(private)),
        };
        Ok(Self { key, backend: hold })
    }

    pub(crate) fn key(&self) -> &SignerKey {
        &self.key
    }

    pub(crate) fn fingerprint(&self) -> String {
        self.key.fingerprint()
    }

    /// Returns the armoured signature of these bytes for this namespace.
    pub(crate) fn sign(&mut self, namespace: &str, bytes: &[u8]) -> Result<String, Failure> {
        let armoured = match &mut self.backend {
            SigningBackend::File(path, private) => match unlock(path, private)? {
                UnlockedKey::Key(private) => sign_with(path, &private, namespace, bytes)?,
                UnlockedKey::Unencrypted => sign_with(path, private, namespace, bytes)?,
                UnlockedKey::NeedsOpenSsh => ssh_keygen::sign(path, namespace, bytes)?,
            },
            SigningBackend::SecurityKey(path) => {
                output::stderr_line(
                    "Signing with a security key: plug it in, and touch it when it blinks.",
                );
                ssh_keygen::sign(path, namespace, bytes)?
            }
            SigningBackend::OpenSsh(path) => ssh_keygen::sign(path, namespace, bytes)?,
            SigningBackend::Agent(agent) => agent.sign(&self.key, namespace, bytes)?,
        };
        self.check(&armoured, namespace, bytes)?;
        Ok(armoured)
    }

    fn check(&self, armoured: &str, namespace: &str, bytes: &[u8]) -> Result<(), Failure> {
        let wrong = |why: &str| {
            Failure::Message(format!(
                "the new signature is invalid, not written: {why}; help: use another key"
            ))
        };
        let signature =
            SshSignature::parse(armoured.as_bytes()).map_err(|error| wrong(&error.to_string()))?;
        let verified = signature.verify(bytes).map_err(|error| wrong(&error.to_string()))?;
        if *verified.key() != self.key || verified.namespace() != namespace {
            return Err(wrong("it is of another key or namespace"));
        }
        Ok(())
    }
}

fn sign_with(
    path: &Path,
    private: &PrivateKey,
    namespace: &str,
    bytes: &[u8],
) -> Result<String, Failure> {
    private
        .sign(namespace, HashAlg::Sha512, bytes)
        .and_then(|signature| signature.to_pem(LineEnding::LF))
        .map_err(|error| {
            Failure::Message(format!("{}: {error}; help: use another key", path.display()))
        })
}

/// A key file after its passphrase was entered.
enum UnlockedKey {
    /// The file has no passphrase.
    Unencrypted,
    Key(Box<PrivateKey>),
    /// The passphrase is correct, but `ssh-key` cannot read the decrypted key: see
    /// [`SigningBackend::OpenSsh`].
    NeedsOpenSsh,
}

fn unlock(path: &Path, private: &PrivateKey) -> Result<UnlockedKey, Failure> {
    if !private.is_encrypted() {
        return Ok(UnlockedKey::Unencrypted);
    }
    let shown = human::name(path);
    let mut terminal = Terminal::open().map_err(|failure| {
        Failure::Message(format!("{shown}: needs its passphrase: {failure}; help: use --ssh-agent"))
    })?;
    for _ in 0..PASSPHRASES_MAX {
        let passphrase = terminal.ask_secret(&format!("Passphrase for {shown}: "))?;
        match private.decrypt(&*passphrase) {
            Ok(unlocked) => return Ok(UnlockedKey::Key(Box::new(unlocked))),
            Err(ssh_key::Error::Crypto) => {}
            Err(_) => return Ok(UnlockedKey::NeedsOpenSsh),
        }
    }
    Err(Failure::Message(format!(
        "{shown}: wrong passphrase; nothing was signed; help: repeat the command"
    )))
}
