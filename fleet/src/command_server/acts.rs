//! The acts, each as its calls of the database and its answers.

use std::io::{self, Write as _};
use std::path::Path;

use fleet::commands::{FleetAct, FleetAnswer, FleetCommand};
use fleet::model::{FleetState, HostName};
use model::Sha256;

use super::error::CommandFailure;
use super::lines::print;
use super::link::{connect, connect_checked};
use super::submission::{SubmittedFiles, submit};
use super::wait::wait;
use crate::bytes::{ByteStore, unpack_result};
use crate::database::{Database, LostRow};

/// Does the act of a command, and prints its answers.
pub(super) async fn act(command: &FleetCommand) -> Result<(), CommandFailure> {
    match &command.act {
        FleetAct::Init { fleet } => init(command, fleet).await,
        FleetAct::Status => status(command).await,
        FleetAct::Submit { directory, document, audience } => {
            let files = SubmittedFiles { directory, document, audience: audience.as_deref() };
            store(command, &files).await
        }
        FleetAct::List { state, count_max } => list(command, *state, *count_max).await,
        FleetAct::Wait { requests, timeout_sec } => wait(command, requests, *timeout_sec).await,
        FleetAct::Show { request } => show(command, request).await,
        FleetAct::Fetch { request, into } => fetch(command, request, into).await,
        FleetAct::Lost { host, order, signature } => {
            let (host, order, signature) = (host.clone(), order.clone(), signature.clone());
            lost(command, &LostRow { host, order, signature }).await
        }
    }
}

async fn init(command: &FleetCommand, fleet: &HostName) -> Result<(), CommandFailure> {
    let made = connect(command).await?.init(fleet).await?;
    print(&FleetAnswer::Initialised {
        fleet_id: made.fleet_id,
        schema_version: made.schema_version,
        former_version: made.former_version,
    })
}

async fn status(command: &FleetCommand) -> Result<(), CommandFailure> {
    let status = connect_checked(command).await?.status().await?;
    print(&FleetAnswer::Status(status))
}

async fn store(command: &FleetCommand, files: &SubmittedFiles<'_>) -> Result<(), CommandFailure> {
    let mut database = connect_checked(command).await?;
    let store = ByteStore::open(command.store.as_deref())?;
    print(&submit(files, &store, &mut database).await?)
}

async fn list(
    command: &FleetCommand,
    state: Option<FleetState>,
    count_max: u32,
) -> Result<(), CommandFailure> {
    let mut database = connect_checked(command).await?;
    for request in database.requests(state, count_max).await? {
        print(&FleetAnswer::Request(request))?;
    }
    print_defects(&mut database);
    Ok(())
}

async fn show(command: &FleetCommand, request: &str) -> Result<(), CommandFailure> {
    let mut database = connect_checked(command).await?;
    if let Some(found) = database.request(request).await? {
        print(&FleetAnswer::Request(found))?;
    }
    print_defects(&mut database);
    Ok(())
}

async fn fetch(command: &FleetCommand, request: &str, into: &Path) -> Result<(), CommandFailure> {
    let mut database = connect_checked(command).await?;
    let Some(result) = database.result(request).await? else {
        return Err(CommandFailure(format!(
            "{}: has no record in the fleet; help: run `toolexec wait` first",
            model::escape_line(request)
        )));
    };
    let manifest: Sha256 = result.manifest_sha256.parse().map_err(|_| unusable(request))?;
    let store = ByteStore::open(command.store.as_deref())?;
    let unpacked = unpack_result(&manifest, into, &result.result_id, &store, &mut database).await?;
    print(&FleetAnswer::Fetched { directory: unpacked.directory, left_out: unpacked.left_out })
}

fn unusable(request: &str) -> CommandFailure {
    CommandFailure(format!(
        "{}: the database has no digest of its record; help: find out who changed the row",
        model::escape_line(request)
    ))
}

async fn lost(command: &FleetCommand, row: &LostRow) -> Result<(), CommandFailure> {
    let answer = connect_checked(command).await?.declare_lost(row).await?;
    let (requests, released) = (answer.indeterminate, answer.released);
    print(&FleetAnswer::Lost { requests, released })
}

/// Prints the rows that were changed by hand, as far as the act has seen them.
fn print_defects(database: &mut Database) {
    for defect in database.take_new_defects() {
        // If stderr is closed, the message cannot be reported elsewhere.
        writeln!(io::stderr().lock(), "toolexec-fleet: {defect}").unwrap_or_default();
    }
}
