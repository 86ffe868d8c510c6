//! The signed list of a fleet on this host, for the commands that compare it with the database.

use std::path::{Path, PathBuf};

use clap::Args;
use daemon::config::{read_revoked, read_signers};
use policies::FleetList;

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
    /// Accept a list that a key in this file signed
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
        let installed = |path: &str| Some(PathBuf::from(path)).filter(|path| path.exists());
        let Some(file) = self.list.clone().or_else(|| installed(LIST)) else { return Ok(None) };
        match self.allowed_signers.clone().or_else(|| installed(SIGNERS)) {
            Some(signers) => self.signed(&file, &signers).map(Some),
            None => {
                let shown = file.display();
                output::note(format_args!(
                    "{shown}: its signature was not checked; help: name the keys with --approvers"
                ));
                unsigned_list(&file).map(Some)
            }
        }
    }

    fn signed(&self, file: &Path, signers: &Path) -> Result<FleetList, Failure> {
        let revoked = self.revoked.as_deref().map(read_revoked).transpose()?;
        let signers = read_signers(signers)?.with_revoked(revoked.unwrap_or_default());
        Ok(signed_list(file, &signers)?.list().clone())
    }
}
