//! A client of ssh-agent, for a key that an agent holds. It uses two messages of the protocol
//! (draft-ietf-sshm-ssh-agent), so that keys in a TPM, a PKCS#11 token or an HSM can sign without
//! vendor code here. An agent's reply must never be used before it is verified. An agent must never
//! make its caller wait or allocate without bounds.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::Sha256;
use p256::ecdsa::signature::Verifier as _;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use ssh_key::{HashAlg, PublicKey, Signature, SshSig};

use crate::key_model::{AgentError, AgentProblem, KeyFingerprint, MESSAGE_BYTES_MAX, SigningError};

/// The time limit of one exchange in an unattended program. Long enough to touch a token.
const EXCHANGE_TIME_MAX: Duration = Duration::from_secs(15);

const FAILURE: u8 = 5;
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_REPLY: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;

/// The socket of an agent and the time limit of one exchange. Each exchange connects again.
#[derive(Debug)]
pub struct SshAgent {
    socket: PathBuf,
    timeout: Duration,
}

/// A key that an agent lists: its public key blob (RFC 4253) and its comment.
#[derive(Debug)]
pub struct AgentIdentity {
    /// The public key in the encoding of RFC 4253.
    pub blob: Vec<u8>,
    /// The comment, in unchecked bytes.
    pub comment: Vec<u8>,
}

impl AgentIdentity {
    /// Returns whether this is the key with the fingerprint.
    #[must_use]
    pub fn has_fingerprint(&self, fingerprint: KeyFingerprint) -> bool {
        Sha256::of(&self.blob).as_bytes() == &fingerprint.0
    }
}

impl SshAgent {
    /// Names an agent. Sends nothing yet.
    #[must_use]
    pub fn new(socket: &Path, within: Duration) -> Self {
        Self { socket: socket.to_owned(), timeout: within }
    }

    /// Returns every key that the agent holds, without duplicates.
    ///
    /// # Errors
    /// The agent cannot be reached, refuses, breaks the protocol, or exceeds the time limit.
    pub fn identities(&self) -> Result<Vec<AgentIdentity>, AgentError> {
        let answer = self.exchange(REQUEST_IDENTITIES, &[], IDENTITIES_REPLY);
        let held = answer.and_then(|answer| {
            identities(&answer).ok_or(Some(AgentProblem::InvalidReply("a truncated list of keys")))
        });
        held.map_err(|problem| self.failed(problem.unwrap_or(AgentProblem::NoKeyList)))
    }

    /// Returns a verified signature over these bytes by one of the agent's keys. Two signatures of
    /// one key over the same bytes may differ, because the agent chooses its nonces.
    ///
    /// # Errors
    /// As [`Self::identities`], or the signature does not verify.
    pub fn sign(&self, blob: &[u8], message: &[u8]) -> Result<Signature, AgentError> {
        let unknown = |_| self.failed(AgentProblem::InvalidReply("a key of an unknown type"));
        let public = PublicKey::from_bytes(blob).map_err(unknown)?;
        let key = KeyFingerprint::of(&public);
        let no_flags = 0_u32.to_be_bytes();
        let parts = [&length_prefixed(blob), &length_prefixed(message), &no_flags[..]];
        let answer = self
            .exchange(SIGN_REQUEST, &parts, SIGN_RESPONSE)
            .map_err(|problem| self.failed(problem.unwrap_or(AgentProblem::Refused(key))))?;
        let signature =
            AgentMessageFields(&answer).only().and_then(|blob| Signature::try_from(blob).ok());
        let signature =
            signature.ok_or_else(|| self.failed(AgentProblem::InvalidReply("no signature")))?;
        match public.key_data().verify(message, &signature) {
            Ok(()) => Ok(signature),
            Err(_) => Err(self.failed(AgentProblem::InvalidSignature(key))),
        }
    }

    fn failed(&self, problem: AgentProblem) -> AgentError {
        AgentError { socket: self.socket.clone(), problem }
    }

    /// Sends one message and returns the body of the reply. The error `None` is a refusal.
    fn exchange(
        &self,
        kind: u8,
        parts: &[&[u8]],
        wanted: u8,
    ) -> Result<Vec<u8>, Option<AgentProblem>> {
        let late = |problem| match problem {
            Some(AgentProblem::Timeout(_)) => Some(AgentProblem::Timeout(self.timeout)),
            problem => problem,
        };
        exchange(&self.socket, self.timeout, kind, parts, wanted).map_err(late)
    }
}

pub(crate) struct AgentKey {
    agent: SshAgent,
    public: PublicKey,
    blob: Vec<u8>,
}

impl AgentKey {
    /// Finds the key at the agent. Ignores other keys, even those of unknown types.
    pub(crate) fn open(socket: &Path, wanted: KeyFingerprint) -> Result<Self, AgentError> {
        let agent = SshAgent::new(socket, EXCHANGE_TIME_MAX);
        let is_wanted = |it: &AgentIdentity| it.has_fingerprint(wanted);
        let held = agent.identities().map_err(|error| match error.problem {
            AgentProblem::NoKeyList => agent.failed(AgentProblem::NoKey(wanted)),
            problem => agent.failed(problem),
        });
        let found = held?.into_iter().find(is_wanted);
        let AgentIdentity { blob, .. } =
            found.ok_or_else(|| agent.failed(AgentProblem::NoKey(wanted)))?;
        let public = PublicKey::from_bytes(&blob)
            .map_err(|_| agent.failed(AgentProblem::InvalidReply("a key of an unknown type")))?;
        Ok(Self { agent, public, blob })
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Signature, AgentError> {
        self.agent.sign(&self.blob, message)
    }

    /// Returns an SSHSIG over the digest of these bytes, in a namespace.
    pub(crate) fn sshsig(&self, namespace: &str, message: &[u8]) -> Result<SshSig, SigningError> {
        let signature = self.sign(&SshSig::signed_data(namespace, HashAlg::Sha512, message)?)?;
        let key = self.public.key_data().clone();
        Ok(SshSig::new(key, namespace, HashAlg::Sha512, signature)?)
    }
}

/// Parses a whole list of keys. A key that is listed twice is returned once.
fn identities(answer: &[u8]) -> Option<Vec<AgentIdentity>> {
    let (count, rest) = answer.split_first_chunk()?;
    let (mut fields, mut seen, mut held) = (AgentMessageFields(rest), BTreeSet::new(), Vec::new());
    for _ in 0..u32::from_be_bytes(*count) {
        let (blob, comment) = (fields.next()?, fields.next()?);
        if seen.insert(blob) {
            held.push(AgentIdentity { blob: blob.to_owned(), comment: comment.to_owned() });
        }
    }
    fields.0.is_empty().then_some(held)
}

fn exchange(
    socket: &Path,
    within: Duration,
    kind: u8,
    parts: &[&[u8]],
    wanted: u8,
) -> Result<Vec<u8>, Option<AgentProblem>> {
    let until = Instant::now() + within;
    let body = [&[kind][..], &parts.concat()].concat();
    if body.len() > MESSAGE_BYTES_MAX {
        return Err(Some(AgentProblem::TooLarge(body.len())));
    }
    let mut stream =
        connect_within(socket, within).map_err(|error| io_problem("connect", error))?;
    // An agent reads a whole message before it replies, and the message fits its buffers.
    let sent = stream.write_all(&length_prefixed(&body));
    sent.map_err(|error| io_problem("send the request", error))?;
    let mut head = [0; 4];
    read_full(&mut stream, &mut head, until)?;
    let length = usize::try_from(u32::from_be_bytes(head)).unwrap_or(usize::MAX);
    if !(1..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(Some(AgentProblem::InvalidReply("a message of invalid length")));
    }
    let mut answer = vec![0; length];
    read_full(&mut stream, &mut answer, until)?;
    match answer.split_first() {
        Some((kind, body)) if *kind == wanted => Ok(body.to_owned()),
        Some((&FAILURE, _)) => Err(None),
        _ => Err(Some(AgentProblem::InvalidReply("another message type"))),
    }
}

/// Connects with a time limit: connecting to a busy listener blocks as sending does.
fn connect_within(socket: &Path, within: Duration) -> io::Result<UnixStream> {
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&fd, Timeout::Send, Some(within))?;
    connect(&fd, &SocketAddrUnix::new(socket)?)?;
    Ok(UnixStream::from(fd))
}

fn io_problem(act: &'static str, error: io::Error) -> Option<AgentProblem> {
    Some(match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            AgentProblem::Timeout(Duration::ZERO)
        }
        _ => AgentProblem::Io(act, error),
    })
}

/// Fills the buffer, in as many reads as it takes until the deadline.
fn read_full(
    stream: &mut UnixStream,
    buffer: &mut [u8],
    until: Instant,
) -> Result<(), Option<AgentProblem>> {
    let mut filled = 0;
    while filled < buffer.len() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Some(AgentProblem::Timeout(Duration::ZERO)));
        }
        let read = stream
            .set_read_timeout(Some(left))
            .and_then(|()| stream.read(buffer.get_mut(filled..).unwrap_or_default()));
        match read {
            Ok(0) => return Err(Some(AgentProblem::InvalidReply("a truncated message"))),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_problem("read the reply", error)),
        }
    }
    Ok(())
}

/// Returns the bytes after their length (RFC 4251). [`exchange`] refuses too long messages.
fn length_prefixed(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], bytes].concat()
}

/// A reader of the encoding that [`length_prefixed`] writes.
struct AgentMessageFields<'a>(&'a [u8]);

impl<'a> AgentMessageFields<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (field, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    fn only(mut self) -> Option<&'a [u8]> {
        let field = self.next()?;
        self.0.is_empty().then_some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::{identities, length_prefixed};

    #[test]
    fn a_key_that_is_listed_twice_is_one_and_nothing_may_follow() {
        let list = |keys: &[&[u8]]| {
            let count = u32::try_from(keys.len()).unwrap().to_be_bytes();
            let rows = keys
                .iter()
                .flat_map(|key| [length_prefixed(key), length_prefixed(b"comment")].concat());
            count.into_iter().chain(rows).collect::<Vec<u8>>()
        };
        let held = identities(&list(&[b"one", b"two", b"one"])).unwrap();
        assert_eq!(held.iter().map(|it| &it.blob[..]).collect::<Vec<_>>(), [b"one", b"two"]);
        let mut followed = list(&[b"one"]);
        followed.push(0);
        assert!(identities(&followed).is_none());
        let torn = list(&[b"one"]);
        assert!(identities(&torn[..torn.len() - 1]).is_none());
    }
}
