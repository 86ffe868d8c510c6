//! The files of results: downloads of the exact bytes, and pictures. A tool chose the names and the
//! bytes, so a file is never served as a page, and only if the record names it.

use std::io;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use model::ResultId;
use records::{RecordClaims, ResultDirectory};
use tokio::sync::OwnedSemaphorePermit;

use crate::answer_time::AnswerTime;
use crate::channel_body::{BodySender, channel_body};
use crate::documents::unreadable;
use crate::page_error::PageError;
use crate::pictures::{self, PICTURE_BYTES_MAX};
use crate::state::{ConsoleState, blocking};

/// The size of the parts in which a file is read.
const PART_BYTES: u64 = 256 * 1024;

/// A result that can be shown: its open directory, and the claims of its record.
pub(crate) struct OpenedResult {
    pub(crate) id: ResultId,
    pub(crate) directory: ResultDirectory,
    pub(crate) record: Vec<u8>,
    pub(crate) claims: RecordClaims,
}

impl OpenedResult {
    pub(crate) fn open(console: &ConsoleState, id: &str) -> Result<Self, PageError> {
        let id: ResultId = id.parse().map_err(|_| PageError::missing())?;
        let directory = ResultDirectory::open(&console.results, &id);
        let directory = directory.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => PageError::missing(),
            _ => unreadable("The result", &error),
        })?;
        let record = directory.read_record().map_err(|it| unreadable("The record", &it))?;
        let claims = RecordClaims::parse(&record).filter(|it| it.result_id == id.as_str());
        let claims = claims.ok_or_else(|| {
            PageError::internal("The record is not one of this result; help: `toolexec verify`.")
        })?;
        Ok(Self { id, directory, record, claims })
    }

    /// Returns whether the record names this path, or it is a stream of the tool.
    fn names(&self, path: &str) -> bool {
        let artifact = path.strip_prefix("artifacts/");
        matches!(path, "stdout" | "stderr")
            || artifact.is_some_and(|path| self.claims.artifacts.iter().any(|it| it.path == path))
    }

    /// Reads the beginning of a file that the record names.
    pub(crate) fn head(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, PageError> {
        if !self.names(path) {
            return Err(PageError::missing());
        }
        let part = self.directory.read_part(path, 0, bytes_max);
        Ok(part.map_err(|error| unreadable("A file of the result", &error))?.bytes)
    }
}

/// A file that is sent part by part.
struct SentFile {
    directory: ResultDirectory,
    path: String,
    bytes_total: u64,
    /// Held until the client has taken the file.
    _place: OwnedSemaphorePermit,
}

/// Serves the exact bytes of a file, unless too many are being served.
pub(crate) async fn file(
    State(console): State<Arc<ConsoleState>>,
    Path((id, path)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let place = Arc::clone(&console.downloads).try_acquire_owned();
    let place = place.map_err(|_| PageError::busy())?;
    let name = path.clone();
    let opened = blocking(Arc::clone(&console), move |console| {
        let opened = OpenedResult::open(console, &id)?;
        if !opened.names(&path) {
            return Err(PageError::missing());
        }
        let part = opened.directory.read_part(&path, 0, 0);
        let part = part.map_err(|error| unreadable("The file", &error))?;
        let (directory, bytes_total) = (opened.directory, part.bytes_total);
        Ok(SentFile { directory, path, bytes_total, _place: place })
    });
    let file = opened.await?;
    let length = HeaderValue::from(file.bytes_total);
    let time = Extension(AnswerTime::of_file(file.bytes_total));
    let (sender, body) = channel_body();
    tokio::spawn(send(console, file, sender));
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (CONTENT_DISPOSITION, disposition(&name)?),
        (CONTENT_LENGTH, length),
    ];
    Ok((time, headers, body).into_response())
}

/// Sends a file. An end before the announced length is an error to the client.
async fn send(console: Arc<ConsoleState>, mut file: SentFile, sender: BodySender) {
    let mut offset = 0;
    while offset < file.bytes_total {
        let read = blocking(Arc::clone(&console), move |_| {
            let part = file.directory.read_part(&file.path, offset, PART_BYTES);
            let part = part.map_err(|error| unreadable("The file", &error))?;
            Ok((file, part.bytes))
        });
        let Ok((next, bytes)) = read.await else { return };
        file = next;
        offset = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        // An empty part is the end of a file that has become shorter.
        if bytes.is_empty() || sender.send(bytes.into()).await.is_err() {
            return;
        }
    }
}

/// Returns the header that makes a browser save the file, under its own name as far as the name is
/// harmless.
fn disposition(path: &str) -> Result<HeaderValue, PageError> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let encoded: String = name
        .bytes()
        .map(|byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    let value = format!("attachment; filename*=UTF-8''{encoded}");
    HeaderValue::try_from(value).map_err(PageError::internal)
}

/// Serves the page of a picture.
pub(crate) async fn picture(
    State(console): State<Arc<ConsoleState>>,
    Path((id, path)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let name = path.clone();
    let read = blocking(console, move |console| {
        OpenedResult::open(console, &id)?.head(&path, PICTURE_BYTES_MAX.saturating_add(1))
    });
    let bytes = read.await?;
    let time = Extension(AnswerTime::of_file(PICTURE_BYTES_MAX));
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= PICTURE_BYTES_MAX) {
        true => Ok((time, pictures::page(&name, &bytes)?).into_response()),
        false => Err(PageError::missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_header() {
        let header = disposition("artifacts/a\"; b\r\nx: y/\u{202e}c d.html").unwrap();
        assert_eq!(header, "attachment; filename*=UTF-8''%E2%80%AEc%20d.html");
    }
}
