//! Options for the signer and the key.

use std::path::PathBuf;

use clap::Args;

/// Who signs, and with what.
#[derive(Args, Clone)]
pub(crate) struct SigningOptions {
    /// Your name, as allowed_signers has it
    #[arg(long = "as", value_name = "PRINCIPAL")]
    pub(crate) principal: String,
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    /// The agent's key with this fingerprint, where it holds several
    #[arg(long, value_name = "SHA256:…", requires = "agent")]
    pub(crate) fingerprint: Option<records::KeyFingerprint>,
    /// Write <file>.LABEL.sig; a label is only a label
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
}

#[derive(Args, Clone)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyOptions {
    /// An OpenSSH private key: Ed25519, ECDSA P-256, or the file of a security key
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// A key of the agent at $SSH_AUTH_SOCK
    #[arg(long)]
    pub(crate) agent: bool,
}
