//! `toolexec show`: prints the state of a request and the statements of its files, not verified.

mod args;
mod fetched;
mod page;
mod patch;
mod shown;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

use model::{UtcTime, escape_line};

use super::daemon::DaemonView;
use super::resolve_id::{ResolvedId, resolve};
use super::results::{PublishedResult, final_record, records_among, result_names};
use super::rows::{QueueRow, queue};
use crate::args::Format;
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output;
use fetched::FetchedRequest;
use shown::{ShownRequest, one_result};

pub(crate) use args::ShowCommand;

pub(in crate::commands) fn show(args: &ShowCommand) -> Result<ExitCode, Failure> {
    if let Some(client) = args.fleet.client_with(&args.store)? {
        return show_of_fleet(args, &client);
    }
    let Some(one) = find(args)? else {
        let (id, place) = (escape_line(&args.id), args.place.path()?);
        output::note(format_args!(
            "{id}: no such request or result in {}; help: list them with `toolexec list{}`; a part \
             of an id has at least 3 characters",
            place.display(),
            args.place.option(),
        ));
        return Ok(ExitCode::from(2));
    };
    if args.html.is_some() || args.patch {
        return show_record(args, one.records);
    }
    match args.format {
        Format::Human => output::text(&one.human())?,
        Format::Json => output::line(one.json())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show_of_fleet(args: &ShowCommand, client: &FleetClient) -> Result<ExitCode, Failure> {
    let Some(fetched) = FetchedRequest::of(&args.id, args.out.as_deref(), client)? else {
        output::note(format_args!(
            "{}: no such request in the fleet; help: list them with `toolexec list --fleet URL`",
            escape_line(&args.id)
        ));
        return Ok(ExitCode::from(2));
    };
    if args.html.is_some() || args.patch {
        return show_record(args, fetched.record.into_iter().collect());
    }
    match args.format {
        Format::Human => output::text(&fetched.human())?,
        Format::Json => output::line(fetched.json())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of the record, or prints its patch.
fn show_record(args: &ShowCommand, records: Vec<PublishedResult>) -> Result<ExitCode, Failure> {
    let Some(record) = final_record(records) else {
        let id = escape_line(&args.id);
        output::note(format_args!("{id}: no record yet; help: run `toolexec wait {id}`"));
        return Ok(ExitCode::from(2));
    };
    let (keys, state) = (args.allowed_signers.as_deref(), &args.place.state);
    match &args.html {
        Some(to) => page::write(&record.path, to, keys, state),
        None => patch::print(&record.path, keys, state),
    }
}

fn find(args: &ShowCommand) -> Result<Option<ShownRequest>, Failure> {
    if args.id.contains('/') {
        return one_result(Path::new(&args.id)).map(Some);
    }
    let place = args.place.path()?;
    find_in(&place, &args.id)
}

/// Returns the text of `show` for an id or a result directory.
pub(crate) fn text_of(place: &Path, meant: &str) -> Result<Option<String>, Failure> {
    let one = match meant.contains('/') {
        true => Some(one_result(Path::new(meant))?),
        false => find_in(place, meant)?,
    };
    Ok(one.map(|one| one.human()))
}

fn find_in(place: &Path, typed: &str) -> Result<Option<ShownRequest>, Failure> {
    let daemon = DaemonView::of(place);
    let queue = queue(place, &daemon);
    let id = match resolve(place, &queue, typed)? {
        ResolvedId::Unknown => return Ok(None),
        ResolvedId::Result(name) => return one_result(&place.join("results").join(name)).map(Some),
        ResolvedId::Request(id) => id,
    };
    let rows: Vec<QueueRow> = queue.rows.into_iter().filter(|row| row.request_id == id).collect();
    let dropped = rows.iter().find_map(|row| fs::symlink_metadata(&row.path).ok());
    Ok(Some(ShownRequest {
        records: records_among(place, &result_names(place)?, &id),
        // A user cannot set the ctime of a file.
        submitted_utc: dropped.map(|found| UtcTime::from_unix(found.ctime()).to_string()),
        request_id: id,
        rows,
        unreadable: queue.unreadable,
        admission_stopped: daemon.admission_stopped().map(str::to_owned),
    }))
}
