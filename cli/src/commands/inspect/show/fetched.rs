//! `toolexec show --fleet`: a request as the database of a fleet states it, with the record that
//! its host reported. The record is fetched into a private directory, or below a named one.

use std::path::{Path, PathBuf};

use fleet::commands::{FleetAct, FleetAnswer, FleetRequest};
use model::escape_line;
use serde_json::{Value, json};

use super::shown::{one_result, record_json, statement_lines};
use crate::args::files::named_directory;
use crate::commands::inspect::fleet_rows::{json_of, word_of};
use crate::commands::inspect::results::PublishedResult;
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output;
use crate::private_directory::PrivateDirectory;

/// A request of a fleet, with its record if it has one.
pub(super) struct FetchedRequest {
    request: FleetRequest,
    pub(super) record: Option<PublishedResult>,
    /// The files that stayed on the host.
    left_out: Vec<String>,
    /// The fetched record is in it, if it is not kept.
    temporary: Option<PrivateDirectory>,
}

impl FetchedRequest {
    /// Returns the request with this complete id, or `None` if the fleet does not have it.
    pub(super) fn of(
        id: &str,
        out: Option<&Path>,
        client: &FleetClient,
    ) -> Result<Option<Self>, Failure> {
        let mut found = client.requests(FleetAct::Show { request: id.to_owned() })?;
        let Some(request) = found.pop() else { return Ok(None) };
        if !found.is_empty() || request.request != id {
            return Err(client.unexpected());
        }
        if request.result.is_none() {
            let (record, left_out, temporary) = (None, Vec::new(), None);
            return Ok(Some(Self { request, record, left_out, temporary }));
        }
        let (into, temporary) = match out {
            Some(out) => (named_directory("--out", out)?, None),
            None => {
                let directory = PrivateDirectory::create("show")?;
                (directory.path().to_owned(), Some(directory))
            }
        };
        let (record, left_out) = fetch(&request, into, client)?;
        Ok(Some(Self { request, record: Some(record), left_out, temporary }))
    }

    pub(super) fn human(&self) -> String {
        let FleetRequest { request, host, submitted_utc, submitted_by, audience, .. } =
            &self.request;
        let mut lines = vec![
            format!("request    {request}"),
            format!("state      {}", word_of(&self.request)),
            format!("submitted  {submitted_utc} by {submitted_by}"),
        ];
        lines.extend(audience.as_ref().map(|audience| format!("audience   {audience}")));
        lines.extend(host.as_ref().map(|host| format!("host       {host}")));
        let mut lines: Vec<String> = lines.iter().map(|line| escape_line(line)).collect();
        if let Some(record) = &self.record {
            let shown = match self.temporary {
                None => escape_line(&output::path(&record.path)),
                Some(_) => format!("{}, not kept", escape_line(&record.name())),
            };
            lines.push(format!("record     {shown}"));
            lines.extend(statement_lines(record));
            lines.extend(
                self.left_out
                    .iter()
                    .map(|file| format!("  too large, on its host only: {}", escape_line(file))),
            );
            let what = if self.temporary.is_some() { "keep it with --out DIR, and " } else { "" };
            lines.push(format!(
                "  not verified here: {what}run toolexec verify with --fleet fleet.yaml"
            ));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    pub(super) fn json(&self) -> Value {
        let records = self.record.iter().map(|record| {
            let mut object = record_json(record);
            if self.temporary.is_some() {
                object["record"] = Value::Null;
            }
            object
        });
        let mut object = json_of(&self.request);
        object["records"] = records.collect();
        object["left_out"] = json!(self.left_out);
        object["verified"] = json!(false);
        object
    }
}

fn fetch(
    request: &FleetRequest,
    into: PathBuf,
    client: &FleetClient,
) -> Result<(PublishedResult, Vec<String>), Failure> {
    let act = FleetAct::Fetch { request: request.request.clone(), into: into.clone() };
    let FleetAnswer::Fetched { directory, left_out } = client.one(act)? else {
        return Err(client.unexpected());
    };
    // The answer names the directory; the result must be below the one that was asked for.
    if directory.parent() != Some(into.as_path()) {
        return Err(client.unexpected());
    }
    let shown = one_result(&directory)?;
    let record = shown.records.into_iter().next().ok_or_else(|| client.unexpected())?;
    Ok((record, left_out))
}
