//! The signed list of a fleet on this host, and the keys that may sign it, for the commands that
//! compare them with the database.

use std::path::PathBuf;

use clap::Args;
use daemon::config::{read_revoked, read_signers};
use policies::{AllowedSigners, FleetList};

use crate::args::fleet_list::{signed_list, unsigned_list};
use crate::failure::Failure;
use crate::output;

const LIST: &str = "/etc/toolexec/fleet.yaml";
const SIGNERS: &str = "/etc/toolexec/allowed_signers";

/// The list, and the keys that may sign it.
#[derive(Args)]
pub(super) struct FleetListOptions {
    /// Read the list of the fleet from this file, and its signature from FILE.sig
    /// [default: /etc/toolexec/fleet.yaml if it exists]
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    #[command(flatten)]
    signers: FleetSignerOptions,
}

/// The keys that may sign a list, and an order about a lost host.
#[derive(Args)]
pub(super) struct FleetSignerOptions {
    /// Accept a list or an order that a key in this file signed
    /// [default: /etc/toolexec/allowed_signers if it exists]
    #[arg(long = "approvers", value_name = "FILE")]
    allowed_signers: Option<PathBuf>,
    /// Reject the keys in this file: an OpenSSH KRL, or public keys, one per line
    #[arg(long, value_name = "FILE")]
    revoked: Option<PathBuf>,
}

impl FleetListOptions {
    /// Returns the list if one is named or installed. Without known keys its signature is not
    /// checked, which is reported.
    pub(super) fn read(&self) -> Result<Option<FleetList>, Failure> {
        let Some(file) = self.list.clone().or_else(|| installed(LIST)) else { return Ok(None) };
        match self.signers()? {
            Some(signers) => Ok(Some(signed_list(&file, &signers)?.list().clone())),
            None => {
                let shown = file.display();
                output::note(format_args!(
                    "{shown}: its signature was not checked; help: name the keys with --approvers"
                ));
                unsigned_list(&file).map(Some)
            }
        }
    }

    /// Returns the keys that may sign, if a file of them is named or installed.
    pub(super) fn signers(&self) -> Result<Option<AllowedSigners>, Failure> {
        self.signers.read()
    }
}

impl FleetSignerOptions {
    /// Returns the keys that may sign, if a file of them is named or installed.
    pub(super) fn read(&self) -> Result<Option<AllowedSigners>, Failure> {
        let file = self.allowed_signers.clone().or_else(|| installed(SIGNERS));
        let Some(file) = file else { return Ok(None) };
        let revoked = self.revoked.as_deref().map(read_revoked).transpose()?;
        Ok(Some(read_signers(&file)?.with_revoked(revoked.unwrap_or_default())))
    }
}

fn installed(path: &str) -> Option<PathBuf> {
    Some(PathBuf::from(path)).filter(|path| path.exists())
}
