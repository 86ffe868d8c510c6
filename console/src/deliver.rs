//! `POST /actions` and `GET /actions/TICKET`: a signed action for the daemon, and its answer. The
//! daemon checks the signature; here only the form is checked, so that `signed/` gets nothing else.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use policies::SignedAction;
use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, RenameFlags, openat, renameat_with, statat, unlinkat,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use spool::{SignedActionAnswer, random_bytes};

use crate::beneath::read_file;
use crate::documents::unreadable;
use crate::json_api::{ApiError, read_json};
use crate::page_error::PageError;
use crate::state::{ConsoleState, WorkKind, blocking_as};

/// Limit of actions that wait for the daemon.
const WAITING_MAX: usize = 256;
/// Limit of files in the directory that are counted.
const NAMES_MAX: usize = 4096;
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// The group of the directory, which the daemon has, may read it.
const ACTION_MODE: u32 = 0o640;
const TICKET_DIGITS: usize = 32;

/// The two parts of a signed action.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeliveredParts {
    /// The text above the signature, as `/prepare` returned it.
    prepared: String,
    /// The signature in its armour.
    signature: String,
}

/// The name under which the answer is asked for.
#[derive(Serialize)]
pub(crate) struct ActionTicket {
    ticket: String,
}

/// Places an action in `signed/`.
pub(crate) async fn deliver(
    State(console): State<Arc<ConsoleState>>,
    body: Body,
) -> Result<Json<ActionTicket>, ApiError> {
    let DeliveredParts { prepared, signature } = read_json(body).await?;
    let action = SignedAction::parse(format!("{prepared}{signature}").as_bytes());
    let action = action.map_err(|error| {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, format!("Not a signed action: {error}"))
    })?;
    let placed = blocking_as(WorkKind::Action, console, move |console| Ok(place(console, &action)));
    placed.await?.map(|ticket| Json(ActionTicket { ticket }))
}

fn place(console: &ConsoleState, action: &SignedAction) -> Result<String, ApiError> {
    let signed = console.signed.as_ref().ok_or_else(|| {
        ApiError::conflict("This spool takes no signatures from the console; help: create signed/.")
    })?;
    let failed = |error: io::Error| ApiError::from(unreadable("The directory signed/", &error));
    if waiting(signed).map_err(failed)? >= WAITING_MAX {
        return Err(PageError::busy().into());
    }
    let ticket = u128::from_be_bytes(random_bytes().map_err(failed)?);
    let ticket = format!("{ticket:032x}");
    place_file(signed, &ticket, action.text().as_bytes()).map_err(failed)?;
    Ok(ticket)
}

/// Returns the number of actions that the daemon has not taken yet.
fn waiting(signed: &OwnedFd) -> io::Result<usize> {
    let mut count: usize = 0;
    for entry in Dir::read_from(signed)?.take(NAMES_MAX) {
        let is_action = entry?.file_name().to_bytes().ends_with(b".action");
        count = count.saturating_add(usize::from(is_action));
    }
    Ok(count)
}

/// Writes a file whole before it has its name: the daemon reads it as soon as it sees the name.
fn place_file(signed: &OwnedFd, ticket: &str, bytes: &[u8]) -> io::Result<()> {
    let (hidden, name) = (format!(".{ticket}.new"), format!("{ticket}.action"));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(ACTION_MODE);
    let mut file = File::from(openat(signed, &hidden, flags, mode)?);
    let placed = file
        .write_all(bytes)
        // Regardless of the umask.
        .and_then(|()| file.set_permissions(Permissions::from_mode(ACTION_MODE)))
        .and_then(|()| file.sync_all())
        .and_then(|()| {
            let moved = renameat_with(signed, &hidden, signed, &name, RenameFlags::NOREPLACE);
            moved.map_err(io::Error::from)
        });
    if placed.is_err() {
        // The first error is the one to report; the daemon removes such files after an hour.
        unlinkat(signed, &hidden, AtFlags::empty()).unwrap_or_default();
    }
    placed
}

/// Returns the daemon's answer, or says that there is none yet.
pub(crate) async fn answer(
    State(console): State<Arc<ConsoleState>>,
    Path(ticket): Path<String>,
) -> Result<Response, ApiError> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if ticket.len() != TICKET_DIGITS || !ticket.bytes().all(is_digit) {
        return Err(PageError::missing().into());
    }
    let found =
        blocking_as(WorkKind::Action, console, move |console| answer_to(console, &ticket)).await?;
    Ok(match found {
        Some(answer) => Json(answer).into_response(),
        None => (StatusCode::ACCEPTED, Json(json!({ "waiting": true }))).into_response(),
    })
}

/// Returns `None` while the action waits.
fn answer_to(
    console: &ConsoleState,
    ticket: &str,
) -> Result<Option<SignedActionAnswer>, PageError> {
    let signed = console.signed.as_ref().ok_or_else(PageError::missing)?;
    let name = format!("{ticket}.answer");
    let read = || {
        let read = read_file(signed, &name, ANSWER_BYTES_MAX);
        let bytes = read.map_err(|error| unreadable("The answer", &error))?;
        let parse = |bytes: Vec<u8>| serde_json::from_slice::<SignedActionAnswer>(&bytes);
        bytes.map(parse).transpose().map_err(PageError::internal)
    };
    if let Some(answer) = read()? {
        return Ok(Some(answer));
    }
    let action = format!("{ticket}.action");
    if statat(signed, &action, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Ok(None);
    }
    // The daemon writes the answer before it removes the action, so it may be there only now.
    read()?.map(Some).ok_or_else(PageError::missing)
}
