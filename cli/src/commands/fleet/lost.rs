//! `fleet lost`: signs the order that declares a host lost, and sends it to the database. The
//! host's started requests become indeterminate: nothing runs them again.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fleet::commands::{FleetAct, FleetAnswer, FleetHostStatus};
use fleet::model::HostName;
use model::escape_line;
use policies::{AllowedSigners, FLEET_NAMESPACE, FleetLostOrder};
use serde_json::json;

use super::error::FleetCommandError;
use super::hosts::check_fleet;
use super::listed::FleetListOptions;
use super::status;
use crate::args::{FleetDatabaseOption, Format};
use crate::commands::approve::signing::SigningIdentity;
use crate::failure::Failure;
use crate::{clock, output};

/// A host whose last beat is younger is probably alive.
const ALIVE_SEC: f64 = 30.0;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec fleet lost host-a --database postgres://alice@db/toolexec --sign-key operator.key

Signs the order in namespace fleet.tool-exec@threegate; the key needs that namespace in
allowed_signers. The started requests of the host become indeterminate and are never run again: the
tool may have run. Its other requests wait for another host. If the host is back, it first reports
the records that it has; these replace `indeterminate`.
Stop toolexec-fleet on the host first, if it can be reached. Connect as the owner of the database.
Exit status: 0 declared lost; 2 no such host, or the key may not sign; 3 usage or internal error.
With --format json, stdout is one object: {\"host\",\"fleet_id\",\"at\",\"fingerprint\",
\"indeterminate\",\"released\"}.")]
pub(crate) struct FleetLostCommand {
    /// Declare this host lost
    #[arg(value_name = "HOST", value_parser = HostName::parse)]
    host: HostName,
    /// Sign with this OpenSSH private key: Ed25519, ECDSA P-256, or the file of a security key
    #[arg(long, value_name = "FILE")]
    sign_key: PathBuf,
    #[command(flatten)]
    database: FleetDatabaseOption,
    #[command(flatten)]
    list: FleetListOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The order as it was carried out.
struct DeclaredLoss {
    order: FleetLostOrder,
    fingerprint: String,
    indeterminate: Vec<String>,
    released: u64,
}

pub(super) fn lost(args: &FleetLostCommand) -> Result<ExitCode, FleetCommandError> {
    let list = args.list.read()?;
    let client = args.database.client()?;
    let status = status::read(&client)?;
    // A database of another fleet must not get an order for the fleet that it names.
    if let Some(list) = &list {
        check_fleet(list, &status)?;
    }
    let host = status.hosts.iter().find(|host| host.host == args.host);
    let host = host.ok_or_else(|| unknown(&args.host))?;
    note_alive(host);
    let order = FleetLostOrder::new(args.host.as_str(), &status.fleet_id, clock::now())
        .map_err(|error| Failure::Message(error.to_string()))?;
    let mut signer = SigningIdentity::of_file(&args.sign_key)?;
    let signature = signer.sign(FLEET_NAMESPACE, order.text().as_bytes())?;
    check_counts(&order, &signature, args.list.signers()?.as_ref())?;
    let act = FleetAct::Lost { host: args.host.clone(), order: order.text(), signature };
    let FleetAnswer::Lost { requests, released } = client.one(act)? else {
        return Err(client.unexpected().into());
    };
    let fingerprint = signer.fingerprint();
    let declared = DeclaredLoss { order, fingerprint, indeterminate: requests, released };
    match args.format {
        Format::Human => declared.print()?,
        Format::Json => output::line(declared.json())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the signature as every host will. An order that does not count would stop the fleet.
/// Without known keys nothing is checked, which is reported.
fn check_counts(
    order: &FleetLostOrder,
    signature: &str,
    signers: Option<&AllowedSigners>,
) -> Result<(), FleetCommandError> {
    let Some(signers) = signers else {
        output::note(format_args!(
            "{}: the order is sent unchecked, and stops the fleet if it does not count; help: \
             check it with --approvers FILE of `toolexec fleet status`",
            order.host()
        ));
        return Ok(());
    };
    let (text, host, fleet_id) = (order.text(), order.host(), order.fleet_id());
    FleetLostOrder::check(&text, signature.as_bytes(), host, fleet_id, signers, clock::now())
        .map(|_| ())
        .map_err(|error| FleetCommandError::Refused(error.to_string()))
}

fn unknown(host: &HostName) -> FleetCommandError {
    FleetCommandError::Refused(format!(
        "{host}: no such host in the fleet; help: list them with `toolexec fleet hosts`"
    ))
}

fn note_alive(host: &FleetHostStatus) {
    if host.beat_age_sec < ALIVE_SEC {
        output::note(format_args!(
            "{}: its last beat was {:.0} s ago, so it may be running; help: stop its \
             toolexec-fleet",
            host.host, host.beat_age_sec
        ));
    }
}

impl DeclaredLoss {
    fn print(&self) -> Result<(), Failure> {
        let (host, fingerprint) = (self.order.host(), &self.fingerprint);
        output::line(format_args!("{host}: declared lost, signed with {fingerprint}"))?;
        for request in &self.indeterminate {
            output::line(format_args!("{}: indeterminate", escape_line(request)))?;
        }
        output::line(format_args!("{} requests wait for another host", self.released))
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "host": self.order.host(),
            "fleet_id": self.order.fleet_id(),
            "at": self.order.at().to_string(),
            "fingerprint": self.fingerprint,
            "indeterminate": self.indeterminate,
            "released": self.released,
        })
    }
}
