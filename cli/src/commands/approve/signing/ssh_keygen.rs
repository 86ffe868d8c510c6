//! Signatures by OpenSSH: for security keys, which need its drivers, and for key files that only
//! OpenSSH can read. The program is one fixed path, never found through PATH. Its output is checked
//! like any signature.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use policies::{SIGNATURE_BYTES_MAX, SignerKey};
use ssh_key::PublicKey;

use crate::failure::Failure;

const SSH_KEYGEN: &str = "/usr/bin/ssh-keygen";

/// Signs with OpenSSH, which asks for passphrase, PIN and touch itself.
pub(super) fn sign(key: &Path, namespace: &str, bytes: &[u8]) -> Result<String, Failure> {
    let failed = |why: String| {
        Failure::Message(format!(
            "{SSH_KEYGEN}: cannot sign with {0}: {why}; help: check the key with `ssh-keygen -y -f \
             {0}`",
            key.display()
        ))
    };
    let mut child = Command::new(SSH_KEYGEN)
        .args(["-Y", "sign", "-O", "hashalg=sha512", "-n", namespace, "-f"])
        .arg(key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| {
            Failure::Message(format!("{SSH_KEYGEN}: {error}; help: install OpenSSH"))
        })?;
    // ssh-keygen reads all input before it writes, so neither side blocks the other.
    let given = child.stdin.take().map(|mut stdin| stdin.write_all(bytes));
    let most = u64::try_from(SIGNATURE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut armoured = String::new();
    let read = child.stdout.take().map(|out| out.take(most).read_to_string(&mut armoured));
    let ended = child.wait().map_err(|error| failed(error.to_string()))?;
    if !ended.success() {
        return Err(failed(ended.to_string()));
    }
    for done in [given, read.map(|read| read.map(|_| ()))] {
        match done {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(failed(error.to_string())),
            None => return Err(failed("no pipe".to_owned())),
        }
    }
    Ok(armoured)
}

/// Returns the public half of a key file without a passphrase, as read by OpenSSH. `None` if it
/// cannot be read, or if the key may not sign here.
pub(super) fn public_key(key: &Path) -> Option<SignerKey> {
    let output = Command::new(SSH_KEYGEN)
        .args(["-y", "-P", "", "-f"])
        .arg(key)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let line = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    let blob = PublicKey::from_openssh(line.trim()).ok()?.to_bytes().ok()?;
    SignerKey::from_blob(&blob).ok()
}
