//! A key in the user's ssh-agent. An agent signs any bytes, so it receives only data framed by
//! PROTOCOL.sshsig. `records` implements the protocol, and bounds and verifies the answers.

use std::env;
use std::path::Path;
use std::time::Duration;

use policies::SignerKey;
use records::{KeyFingerprint, SshAgent as Socket};
use ssh_key::{HashAlg, LineEnding, PublicKey, SshSig};
use validator::reveal_line;

use super::error::SignerError;
use crate::failure::Failure;

/// The user may have to confirm, or to touch a security key.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

pub(super) struct SshAgentKey(Socket);

impl SshAgentKey {
    /// Selects the key with the fingerprint, or else the only key of the agent that may sign.
    pub(super) fn with_key(
        fingerprint: Option<KeyFingerprint>,
    ) -> Result<(Self, SignerKey), SignerError> {
        let agent = Self::open_session_agent()?;
        let wanted = fingerprint.map(|it| it.to_string());
        let (mut found, mut unfit) = (Vec::new(), Vec::new());
        for held in agent.0.identities().map_err(agent_failure)? {
            match SignerKey::from_blob(&held.blob) {
                Ok(key) if wanted.as_ref().is_none_or(|wanted| key.fingerprint() == *wanted) => {
                    found.push(key);
                }
                Ok(_) => {}
                Err(why) => {
                    let comment = String::from_utf8_lossy(&held.comment);
                    unfit.push(format!("{}: {why}", reveal_line(&comment)));
                }
            }
        }
        let refused = |why: String| Err(SignerError::Refused(format!("ssh-agent: {why}")));
        match (found.len(), found.pop()) {
            (1, Some(key)) => Ok((agent, key)),
            (0, _) if let Some(named) = fingerprint => {
                refused(format!("no usable key {named}; help: list its keys with `ssh-add -l`"))
            }
            (0, _) if unfit.is_empty() => refused("no keys; help: add one with `ssh-add`".into()),
            (0, _) => refused(format!(
                "no usable key ({}); help: add an Ed25519 or ECDSA P-256 key with `ssh-add`",
                unfit.join("; ")
            )),
            (_, last) => {
                let names: Vec<String> =
                    found.iter().chain(&last).map(SignerKey::fingerprint).collect();
                let names = names.join(", ");
                refused(format!("several keys: {names}; help: choose one with --fingerprint"))
            }
        }
    }

    fn open_session_agent() -> Result<Self, Failure> {
        let socket = env::var_os("SSH_AUTH_SOCK").filter(|socket| !socket.is_empty());
        let socket = socket.ok_or_else(|| {
            Failure::Message(
                "--ssh-agent: no SSH_AUTH_SOCK; help: start ssh-agent, or use --key".into(),
            )
        })?;
        Ok(Self(Socket::new(Path::new(&socket), ANSWER_WITHIN)))
    }

    pub(super) fn sign(
        &self,
        key: &SignerKey,
        namespace: &str,
        bytes: &[u8],
    ) -> Result<String, Failure> {
        let failed = |error: ssh_key::Error| {
            Failure::Message(format!("ssh-agent: {error}; help: use another key"))
        };
        let framed = SshSig::signed_data(namespace, HashAlg::Sha512, bytes).map_err(failed)?;
        let signature = self.0.sign(key.blob(), &framed).map_err(agent_failure)?;
        let public = PublicKey::from_bytes(key.blob()).map_err(failed)?;
        SshSig::new(public.key_data().clone(), namespace, HashAlg::Sha512, signature)
            .and_then(|signature| signature.to_pem(LineEnding::LF))
            .map_err(failed)
    }
}

fn agent_failure(error: records::AgentError) -> Failure {
    Failure::Message(error.to_string())
}
