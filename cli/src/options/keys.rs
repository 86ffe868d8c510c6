//! What may be typed about the keys that sign results and the log.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use records::KeyFingerprint;
use records::log::LogOrigin;

use crate::args::{Format, StateOption};

#[derive(Args)]
#[command(after_help = "Example: toolexec keys show --format allowed-signers > signers")]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) act: KeysAct,
}

#[derive(Subcommand)]
pub(crate) enum KeysAct {
    /// Make the keys of records and log if there are none
    Init(KeysInit),
    /// Print public keys and nothing else
    Show(KeysShow),
    /// Let a new key take the place of one, by an entry of the log that both sign
    Rotate(KeysRotate),
}

/// Whose keys: those of one user's embedded runs, or of a daemon.
#[derive(Args)]
pub(crate) struct KeysOf {
    #[command(flatten)]
    pub(crate) state: StateOption,
    /// The configuration of a daemon, for its keys
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec keys init --state ./state

With --format json stdout is one object: {\"result\",\"log\"}, each {\"path\",\"fingerprint\"}; the log
has its \"verifier\" line as well.")]
pub(crate) struct KeysInit {
    /// The name of the log [default: the one it has, else the host's]
    #[arg(long, value_name = "NAME")]
    pub(crate) origin: Option<LogOrigin>,
    #[command(flatten)]
    pub(crate) of: KeysOf,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    /// For openssl: the key in force
    Pem,
    /// As SSH has it: the key in force
    Openssh,
    /// For ssh-keygen -Y verify: each key with the time for which it counts
    AllowedSigners,
    /// For Sigstore's verifiers: each key that the log had
    TrustedRoot,
    /// For C2SP's tools: a line for each key that the log had, the one in force first
    Verifier,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyName {
    /// It signs records
    Result,
    /// It signs the log's checkpoints
    Log,
}

#[derive(Args)]
#[command(after_help = "Example: toolexec keys show --format allowed-signers > signers")]
pub(crate) struct KeysShow {
    #[arg(long, value_enum, default_value = "allowed-signers")]
    pub(crate) format: KeyFormat,
    /// Which key [default: result; log for trusted-root and verifier, which have no other]
    #[arg(long, value_enum)]
    pub(crate) key: Option<KeyName>,
    #[command(flatten)]
    pub(crate) of: KeysOf,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec keys rotate --key result

Nothing may be at work meanwhile: stop the daemon first, and type this as its user. What was
interrupted is finished by typing it again. Old records verify as before; give whoever verifies the
new ones what `toolexec keys show` prints afterwards.
With --format json stdout is one object: {\"key\",\"old\",\"new\",\"time\"}.")]
pub(crate) struct KeysRotate {
    #[arg(long, value_enum)]
    pub(crate) key: KeyName,
    /// The new key, where an agent holds the old one: what ssh-add -l prints of it
    #[arg(long, value_name = "SHA256:…")]
    pub(crate) to: Option<KeyFingerprint>,
    #[command(flatten)]
    pub(crate) of: KeysOf,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
