//! A key that an ssh-agent holds: two messages of its protocol (draft-ietf-sshm-ssh-agent), so that
//! keys of a TPM, of a PKCS#11 token or of a security module can sign without any code of theirs in
//! here. Nothing that an agent returns may be used before it verified, and no agent may make its
//! caller wait, or remember, without bounds.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use p256::ecdsa::signature::Verifier as _;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use ssh_key::{HashAlg, PublicKey, Signature, SshSig};
use validator::Sha256;

use crate::keys::SigningError;

/// What OpenSSH's agent takes and gives; a longer message would be refused there without a word.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;
/// One whole exchange. Long enough for somebody to touch a token.
const EXCHANGE_TIME_MAX: Duration = Duration::from_secs(15);

const FAILURE: u8 = 5;
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;

/// Which key of an agent, as `ssh-keygen -l` prints it: `SHA256:` and 43 digits of base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFingerprint([u8; 32]);

/// The text is no SHA-256 fingerprint of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAFingerprint;

impl fmt::Display for NotAFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a fingerprint like SHA256:…; `ssh-add -l` prints them")
    }
}

impl std::error::Error for NotAFingerprint {}

impl FromStr for KeyFingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let fingerprint: ssh_key::Fingerprint = text.parse().map_err(|_| NotAFingerprint)?;
        fingerprint.sha256().map(Self).ok_or(NotAFingerprint)
    }
}

impl fmt::Display for KeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ssh_key::Fingerprint::Sha256(self.0).fmt(f)
    }
}

impl KeyFingerprint {
    pub(crate) fn of(key: &PublicKey) -> Self {
        Self(key.fingerprint(HashAlg::Sha256).sha256().unwrap_or_default())
    }
}

/// Why an agent signs nothing. The message begins with its socket.
#[derive(Debug)]
pub struct AgentError {
    socket: PathBuf,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Io(&'static str, io::Error),
    /// Nothing whole within [`EXCHANGE_TIME_MAX`].
    Late,
    /// More bytes to sign than an agent takes.
    TooMuch(usize),
    /// Not the protocol.
    Reply(&'static str),
    NoKey(KeyFingerprint),
    Refused(KeyFingerprint),
    /// A signature that is none of this key over what was to be signed.
    Forged(KeyFingerprint),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent {}: ", self.socket.display())?;
        match &self.problem {
            Problem::Io(act, error) => write!(f, "{act}: {error}"),
            Problem::Late => {
                write!(f, "no answer within {} seconds", EXCHANGE_TIME_MAX.as_secs())
            }
            Problem::TooMuch(bytes) => write!(
                f,
                "{bytes} bytes are to be signed, and agents take messages of {MESSAGE_BYTES_MAX} \
                 at most"
            ),
            Problem::Reply(what) => write!(f, "answered with {what}"),
            Problem::NoKey(key) => write!(f, "has no key {key}; give it one with ssh-add"),
            Problem::Refused(key) => write!(f, "refuses to sign with {key}"),
            Problem::Forged(key) => write!(f, "gave a signature that is none of {key}"),
        }
    }
}

impl AgentError {
    /// Whether there were more bytes to sign than agents take.
    pub(crate) fn is_too_much(&self) -> bool {
        matches!(self.problem, Problem::TooMuch(_))
    }
}

impl std::error::Error for AgentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Io(_, source) => Some(source),
            _ => None,
        }
    }
}

/// One key of an agent. It is asked anew for each signature, so it may be started again meanwhile.
pub(crate) struct AgentKey {
    socket: PathBuf,
    public: PublicKey,
    blob: Vec<u8>,
}

impl AgentKey {
    /// Finds the key at the agent.
    pub(crate) fn open(socket: &Path, wanted: KeyFingerprint) -> Result<Self, AgentError> {
        let failed = |problem| AgentError { socket: socket.to_owned(), problem };
        let blob = exchange(socket, REQUEST_IDENTITIES, &[], IDENTITIES_ANSWER)
            .and_then(|answer| find(&answer, wanted))
            .map_err(|problem| failed(problem.unwrap_or(Problem::NoKey(wanted))))?;
        let public = PublicKey::from_bytes(&blob)
            .map_err(|_| failed(Problem::Reply("a key of no kind that is known here")))?;
        Ok(Self { socket: socket.to_owned(), public, blob })
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Has these bytes signed; what is returned verified. Two signatures of one key over the same
    /// bytes may differ: how it draws its nonces is the agent's affair.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Signature, AgentError> {
        let key = KeyFingerprint::of(&self.public);
        let failed = |problem| AgentError { socket: self.socket.clone(), problem };
        let no_flags = 0_u32.to_be_bytes();
        let parts = [&prefixed(&self.blob), &prefixed(message), &no_flags[..]];
        let answer = exchange(&self.socket, SIGN_REQUEST, &parts, SIGN_RESPONSE)
            .map_err(|problem| failed(problem.unwrap_or(Problem::Refused(key))))?;
        let blob = Fields(&answer).only();
        let signature = blob.and_then(|blob| Signature::try_from(blob).ok());
        let signature = signature.ok_or_else(|| failed(Problem::Reply("no signature")))?;
        match self.public.key_data().verify(message, &signature) {
            Ok(()) => Ok(signature),
            Err(_) => Err(failed(Problem::Forged(key))),
        }
    }
}

impl AgentKey {
    /// Has the digest of these bytes signed, in a namespace.
    pub(crate) fn sshsig(&self, namespace: &str, message: &[u8]) -> Result<SshSig, SigningError> {
        let signature = self.sign(&SshSig::signed_data(namespace, HashAlg::Sha512, message)?)?;
        let key = self.public.key_data().clone();
        Ok(SshSig::new(key, namespace, HashAlg::Sha512, signature)?)
    }
}

/// The blob of the key with this fingerprint; of others not even the kind has to be known.
fn find(answer: &[u8], wanted: KeyFingerprint) -> Result<Vec<u8>, Option<Problem>> {
    let torn = || Some(Problem::Reply("a torn list of keys"));
    let (count, rest) = answer.split_first_chunk().ok_or_else(torn)?;
    let mut fields = Fields(rest);
    for _ in 0..u32::from_be_bytes(*count) {
        let blob = fields.next().ok_or_else(torn)?;
        fields.next().ok_or_else(torn)?;
        if Sha256::of(blob).as_bytes() == &wanted.0 {
            return Ok(blob.to_owned());
        }
    }
    Err(None)
}

/// One message and its answer's body. `None` in the error is the agent's own "no".
fn exchange(
    socket: &Path,
    kind: u8,
    parts: &[&[u8]],
    wanted: u8,
) -> Result<Vec<u8>, Option<Problem>> {
    let until = Instant::now() + EXCHANGE_TIME_MAX;
    let body = [&[kind][..], &parts.concat()].concat();
    if body.len() > MESSAGE_BYTES_MAX {
        return Err(Some(Problem::TooMuch(body.len())));
    }
    let mut stream = dial(socket).map_err(|error| told("connecting", error))?;
    // Agents read a message whole before they answer, and it is no longer than their buffers.
    let sent = stream.write_all(&prefixed(&body));
    sent.map_err(|error| told("asking", error))?;
    let mut head = [0; 4];
    fill(&mut stream, &mut head, until)?;
    let length = usize::try_from(u32::from_be_bytes(head)).unwrap_or(usize::MAX);
    if !(1..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(Some(Problem::Reply("a message of a length that none has")));
    }
    let mut answer = vec![0; length];
    fill(&mut stream, &mut answer, until)?;
    match answer.split_first() {
        Some((kind, body)) if *kind == wanted => Ok(body.to_owned()),
        Some((&FAILURE, _)) => Err(None),
        _ => Err(Some(Problem::Reply("another kind of message"))),
    }
}

/// Connecting waits too, where many others do already; that is bounded like sending.
fn dial(socket: &Path) -> io::Result<UnixStream> {
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&fd, Timeout::Send, Some(EXCHANGE_TIME_MAX))?;
    connect(&fd, &SocketAddrUnix::new(socket)?)?;
    Ok(UnixStream::from(fd))
}

fn told(act: &'static str, error: io::Error) -> Option<Problem> {
    Some(match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Problem::Late,
        _ => Problem::Io(act, error),
    })
}

/// Reads exactly so many bytes, however slowly they come, until then.
fn fill(stream: &mut UnixStream, buffer: &mut [u8], until: Instant) -> Result<(), Option<Problem>> {
    let mut filled = 0;
    while filled < buffer.len() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Some(Problem::Late));
        }
        let read = stream
            .set_read_timeout(Some(left))
            .and_then(|()| stream.read(buffer.get_mut(filled..).unwrap_or_default()));
        match read {
            Ok(0) => return Err(Some(Problem::Reply("half a message"))),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(told("listening", error)),
        }
    }
    Ok(())
}

/// Bytes behind their length, as SSH writes them (RFC 4251). Longer ones than a message may be are
/// refused before they are sent.
fn prefixed(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], bytes].concat()
}

/// Reads what [`prefixed`] writes.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (field, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    /// The one field that there is.
    fn only(mut self) -> Option<&'a [u8]> {
        let field = self.next()?;
        self.0.is_empty().then_some(field)
    }
}
