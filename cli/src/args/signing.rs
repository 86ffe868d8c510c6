//! Options for the signer and the key.

use std::path::PathBuf;

use clap::Args;

/// The signer and the key.
#[derive(Args, Clone)]
pub(crate) struct SigningOptions {
    /// Sign as this principal of allowed_signers
    #[arg(long = "approver", value_name = "PRINCIPAL")]
    pub(crate) principal: String,
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    /// Use the SSH agent's key with this fingerprint; required if the agent holds several
    #[arg(long, value_name = "SHA256:…", requires = "agent")]
    pub(crate) fingerprint: Option<records::KeyFingerprint>,
    /// Name the signature <file>.LABEL.sig, or <file>.LABEL.reject.sig; a label proves nothing
    /// [default: <file>.sig, else the principal as label; for a rejection, the principal]
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
}

#[derive(Args, Clone)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyOptions {
    /// Sign with this OpenSSH private key: Ed25519, ECDSA P-256, or the file of a security key
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Sign with a key of the SSH agent at $SSH_AUTH_SOCK
    #[arg(long = "ssh-agent")]
    pub(crate) agent: bool,
}
