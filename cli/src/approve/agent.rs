//! Two messages of the ssh-agent protocol (draft-ietf-sshm-ssh-agent): which keys there are, and sign
//! this. An agent signs anything, so it is given nothing but what PROTOCOL.sshsig frames, and what it
//! answers is bounded before it is read and verified before it is used.

use std::env;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use policies::{KeyError, SignerKey};
use ssh_key::{HashAlg, LineEnding, PublicKey, Signature, SshSig};
use validator::reveal_line;

use super::signer::NoSigner;
use crate::failure::Failure;

const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;
/// As OpenSSH's own.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;
const KEYS_MAX: u32 = 1000;
/// A person may have to confirm, or to touch a key.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

pub(super) struct Agent(UnixStream);

/// A key that the agent holds, or why it may not sign here.
struct Held {
    key: Result<SignerKey, KeyError>,
    comment: String,
}

impl Agent {
    /// The agent of this session, and the one key of it that may sign, or the one with this fingerprint.
    pub(super) fn with_key(fingerprint: Option<&str>) -> Result<(Self, SignerKey), NoSigner> {
        let mut agent = Self::connect()?;
        let (mut found, mut unfit) = (Vec::new(), Vec::new());
        for Held { key, comment } in agent.keys()? {
            match key {
                Ok(key) if fingerprint.is_none_or(|wanted| key.fingerprint() == wanted) => {
                    found.push(key);
                }
                Ok(_) => {}
                Err(why) => unfit.push(format!("{}: {why}", reveal_line(&comment))),
            }
        }
        let refused = |why: String| Err(NoSigner::Refused(format!("the agent: {why}")));
        match (found.len(), found.pop()) {
            (1, Some(key)) => Ok((agent, key)),
            (0, _) if fingerprint.is_some() => refused("holds no such key that may sign".into()),
            (0, _) if unfit.is_empty() => refused("holds no key; add one with ssh-add".into()),
            (0, _) => refused(format!("holds no key that may sign ({})", unfit.join("; "))),
            (_, last) => {
                let names: Vec<String> =
                    found.iter().chain(&last).map(SignerKey::fingerprint).collect();
                refused(format!("holds several; name one with --fingerprint: {}", names.join(", ")))
            }
        }
    }

    fn connect() -> Result<Self, Failure> {
        let socket = env::var_os("SSH_AUTH_SOCK").filter(|socket| !socket.is_empty());
        let socket = socket.ok_or_else(|| {
            Failure::Said("--agent: no SSH_AUTH_SOCK; start ssh-agent, or use --key".into())
        })?;
        let failed = Failure::io(socket.as_ref());
        let connected = UnixStream::connect(&socket).and_then(|stream| {
            stream.set_read_timeout(Some(ANSWER_WITHIN))?;
            stream.set_write_timeout(Some(ANSWER_WITHIN))?;
            Ok(stream)
        });
        connected.map(Self).map_err(failed)
    }

    fn keys(&mut self) -> Result<Vec<Held>, Failure> {
        let answer = self.talk(REQUEST_IDENTITIES, &[], IDENTITIES_ANSWER)?;
        let mut rest = answer.as_slice();
        let count = u32::from_be_bytes(take(&mut rest)?);
        if count > KEYS_MAX {
            return Err(strange());
        }
        let mut keys = Vec::new();
        for _ in 0..count {
            let key = SignerKey::from_blob(string(&mut rest)?);
            let comment = String::from_utf8_lossy(string(&mut rest)?).into_owned();
            keys.push(Held { key, comment });
        }
        Ok(keys)
    }

    pub(super) fn sign(
        &mut self,
        key: &SignerKey,
        namespace: &str,
        bytes: &[u8],
    ) -> Result<String, Failure> {
        let failed = |error: ssh_key::Error| Failure::Said(format!("the agent: {error}"));
        let framed = SshSig::signed_data(namespace, HashAlg::Sha512, bytes).map_err(failed)?;
        let mut message = Vec::new();
        put(&mut message, key.blob())?;
        put(&mut message, &framed)?;
        message.extend([0; 4]);
        let answer = self.talk(SIGN_REQUEST, &message, SIGN_RESPONSE)?;
        let signature = Signature::try_from(string(&mut answer.as_slice())?).map_err(failed)?;
        let public = PublicKey::from_bytes(key.blob()).map_err(failed)?;
        SshSig::new(public.key_data().clone(), namespace, HashAlg::Sha512, signature)
            .and_then(|signature| signature.to_pem(LineEnding::LF))
            .map_err(failed)
    }

    fn talk(&mut self, kind: u8, body: &[u8], wanted: u8) -> Result<Vec<u8>, Failure> {
        let failed = |error| Failure::Said(format!("the agent: {error}"));
        let mut message = Vec::new();
        put(&mut message, &[&[kind], body].concat())?;
        self.0.write_all(&message).map_err(failed)?;
        let mut length = [0; 4];
        self.0.read_exact(&mut length).map_err(failed)?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length == 0 || length > MESSAGE_BYTES_MAX {
            return Err(strange());
        }
        let mut answer = vec![0; length];
        self.0.read_exact(&mut answer).map_err(failed)?;
        match answer.split_first() {
            Some((kind, body)) if *kind == wanted => Ok(body.to_vec()),
            _ => Err(Failure::Said("the agent: says no".into())),
        }
    }
}

fn strange() -> Failure {
    Failure::Said("the agent: its answer is not of the protocol".into())
}

fn put(message: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Failure> {
    let length = u32::try_from(bytes.len()).map_err(|_| strange())?;
    message.extend(length.to_be_bytes());
    message.extend_from_slice(bytes);
    Ok(())
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Failure> {
    let (first, after) = rest.split_first_chunk::<N>().ok_or_else(strange)?;
    *rest = after;
    Ok(*first)
}

fn string<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Failure> {
    let length = usize::try_from(u32::from_be_bytes(take(rest)?)).map_err(|_| strange())?;
    let (string, after) = rest.split_at_checked(length).ok_or_else(strange)?;
    *rest = after;
    Ok(string)
}
