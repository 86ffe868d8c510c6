//! A key that an ssh-agent holds: two messages of its protocol (draft-ietf-sshm-ssh-agent), so that
//! keys of a TPM, of a PKCS#11 token or of a security module can sign without any code of theirs in
//! here. Nothing that an agent returns may be used before it verified, and no agent may make its
//! caller wait, or remember, without bounds.

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

use crate::key_model::{AgentError, KeyFingerprint, MESSAGE_BYTES_MAX, Problem, SigningError};

/// One whole exchange of a program that nobody sits before. Long enough to touch a token.
const EXCHANGE_TIME_MAX: Duration = Duration::from_secs(15);

const FAILURE: u8 = 5;
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;

/// Where an agent listens, and how long it may take over one answer. It is connected to anew for each,
/// so it may be started again meanwhile.
#[derive(Debug)]
pub struct Agent {
    socket: PathBuf,
    within: Duration,
}

/// A key that an agent says it holds: RFC 4253's form of it, and what its person called it.
#[derive(Debug)]
pub struct Identity {
    pub blob: Vec<u8>,
    pub comment: Vec<u8>,
}

impl Identity {
    /// Whether it is the key of this fingerprint.
    #[must_use]
    pub fn has(&self, fingerprint: KeyFingerprint) -> bool {
        Sha256::of(&self.blob).as_bytes() == &fingerprint.0
    }
}

impl Agent {
    /// Nothing is asked yet.
    #[must_use]
    pub fn at(socket: &Path, within: Duration) -> Self {
        Self { socket: socket.to_owned(), within }
    }

    /// Every key that it holds, each once.
    ///
    /// # Errors
    /// It cannot be reached, says no, or does not keep to the protocol in that time.
    pub fn identities(&self) -> Result<Vec<Identity>, AgentError> {
        let answer = self.exchange(REQUEST_IDENTITIES, &[], IDENTITIES_ANSWER);
        let held = answer.and_then(|answer| {
            identities(&answer).ok_or(Some(Problem::Reply("a torn list of keys")))
        });
        held.map_err(|problem| self.failed(problem.unwrap_or(Problem::NoList)))
    }

    /// Has these bytes signed with one of its keys; what is returned verified. Two signatures of one
    /// key over the same bytes may differ: how it draws its nonces is the agent's affair.
    ///
    /// # Errors
    /// As above, or the signature is none.
    pub fn sign(&self, blob: &[u8], message: &[u8]) -> Result<Signature, AgentError> {
        let unknown = |_| self.failed(Problem::Reply("a key of no kind that is known here"));
        let public = PublicKey::from_bytes(blob).map_err(unknown)?;
        let key = KeyFingerprint::of(&public);
        let no_flags = 0_u32.to_be_bytes();
        let parts = [&prefixed(blob), &prefixed(message), &no_flags[..]];
        let answer = self
            .exchange(SIGN_REQUEST, &parts, SIGN_RESPONSE)
            .map_err(|problem| self.failed(problem.unwrap_or(Problem::Refused(key))))?;
        let signature = Fields(&answer).only().and_then(|blob| Signature::try_from(blob).ok());
        let signature = signature.ok_or_else(|| self.failed(Problem::Reply("no signature")))?;
        match public.key_data().verify(message, &signature) {
            Ok(()) => Ok(signature),
            Err(_) => Err(self.failed(Problem::Forged(key))),
        }
    }

    fn failed(&self, problem: Problem) -> AgentError {
        AgentError { socket: self.socket.clone(), problem }
    }

    /// One message and its answer's body. `None` in the error is the agent's own "no".
    fn exchange(&self, kind: u8, parts: &[&[u8]], wanted: u8) -> Result<Vec<u8>, Option<Problem>> {
        let late = |problem| match problem {
            Some(Problem::Late(_)) => Some(Problem::Late(self.within)),
            problem => problem,
        };
        exchange(&self.socket, self.within, kind, parts, wanted).map_err(late)
    }
}

/// One key of an agent.
pub(crate) struct AgentKey {
    agent: Agent,
    public: PublicKey,
    blob: Vec<u8>,
}

impl AgentKey {
    /// Finds the key at the agent; of others not even the kind has to be known.
    pub(crate) fn open(socket: &Path, wanted: KeyFingerprint) -> Result<Self, AgentError> {
        let agent = Agent::at(socket, EXCHANGE_TIME_MAX);
        let is_wanted = |it: &Identity| it.has(wanted);
        let held = agent.identities().map_err(|error| match error.problem {
            Problem::NoList => agent.failed(Problem::NoKey(wanted)),
            problem => agent.failed(problem),
        });
        let found = held?.into_iter().find(is_wanted);
        let Identity { blob, .. } = found.ok_or_else(|| agent.failed(Problem::NoKey(wanted)))?;
        let public = PublicKey::from_bytes(&blob)
            .map_err(|_| agent.failed(Problem::Reply("a key of no kind that is known here")))?;
        Ok(Self { agent, public, blob })
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Has these bytes signed; what is returned verified.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Signature, AgentError> {
        self.agent.sign(&self.blob, message)
    }

    /// Has the digest of these bytes signed, in a namespace.
    pub(crate) fn sshsig(&self, namespace: &str, message: &[u8]) -> Result<SshSig, SigningError> {
        let signature = self.sign(&SshSig::signed_data(namespace, HashAlg::Sha512, message)?)?;
        let key = self.public.key_data().clone();
        Ok(SshSig::new(key, namespace, HashAlg::Sha512, signature)?)
    }
}

/// The keys of a whole answer; one that is listed twice is one.
fn identities(answer: &[u8]) -> Option<Vec<Identity>> {
    let (count, rest) = answer.split_first_chunk()?;
    let (mut fields, mut seen, mut held) = (Fields(rest), BTreeSet::new(), Vec::new());
    for _ in 0..u32::from_be_bytes(*count) {
        let (blob, comment) = (fields.next()?, fields.next()?);
        if seen.insert(blob) {
            held.push(Identity { blob: blob.to_owned(), comment: comment.to_owned() });
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
) -> Result<Vec<u8>, Option<Problem>> {
    let until = Instant::now() + within;
    let body = [&[kind][..], &parts.concat()].concat();
    if body.len() > MESSAGE_BYTES_MAX {
        return Err(Some(Problem::TooMuch(body.len())));
    }
    let mut stream = dial(socket, within).map_err(|error| told("connecting", error))?;
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
fn dial(socket: &Path, within: Duration) -> io::Result<UnixStream> {
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&fd, Timeout::Send, Some(within))?;
    connect(&fd, &SocketAddrUnix::new(socket)?)?;
    Ok(UnixStream::from(fd))
}

fn told(act: &'static str, error: io::Error) -> Option<Problem> {
    Some(match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Problem::Late(Duration::ZERO),
        _ => Problem::Io(act, error),
    })
}

/// Reads exactly so many bytes, however slowly they come, until then.
fn fill(stream: &mut UnixStream, buffer: &mut [u8], until: Instant) -> Result<(), Option<Problem>> {
    let mut filled = 0;
    while filled < buffer.len() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Some(Problem::Late(Duration::ZERO)));
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

#[cfg(test)]
mod tests {
    use super::{identities, prefixed};

    #[test]
    fn a_key_that_is_listed_twice_is_one_and_nothing_may_follow() {
        let list = |keys: &[&[u8]]| {
            let count = u32::try_from(keys.len()).unwrap().to_be_bytes();
            let rows = keys.iter().flat_map(|key| [prefixed(key), prefixed(b"comment")].concat());
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
