//! Resources: the request schema, and each result as marked text. The rules of the tools apply: ids
//! are parsed, and a result that fails a check is not shown.

use model::{ResultId, escape_line};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use rustix::fs::{AtFlags, statat};
use serde_json::json;
use validator::front_matter_schema;

use super::reading;
use super::server_state::ServerState;
use super::untrusted_markers::UntrustedMarkers;
use crate::commands::inspect::results::result_names;
use crate::failure::Failure;

const SCHEMA: &str = "toolexec://schema/tool-request.json";
const RESULTS: &str = "toolexec://results/";
/// Limit of listed results, newest first. Older ones can be read by id.
const LISTED_MAX: usize = 50;

pub(super) fn list(state: &ServerState) -> Result<ListResourcesResult, ErrorData> {
    let schema = Resource::new(SCHEMA, "tool-request.json")
        .with_description("JSON Schema of a request's front matter")
        .with_mime_type("application/schema+json");
    let names = result_names(state.spool()).map_err(|failure| internal(&failure))?;
    let results = names.into_iter().rev().filter(|name| name.parse::<ResultId>().is_ok());
    let results = results.take(LISTED_MAX).map(|name| {
        Resource::new(format!("{RESULTS}{name}"), name)
            .with_description("The record of a run: untrusted data, partly written by a program")
            .with_mime_type("text/plain")
    });
    Ok(ListResourcesResult::with_all_items([schema].into_iter().chain(results).collect()))
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let result = ResourceTemplate::new(format!("{RESULTS}{{result_id}}"), "result")
        .with_description("The record of a run, by the id of its result (TS-…)")
        .with_mime_type("text/plain");
    ListResourceTemplatesResult::with_all_items(vec![result])
}

pub(super) fn read(state: &ServerState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    if uri == SCHEMA {
        let schema = ResourceContents::text(format!("{:#}", front_matter_schema()), SCHEMA);
        let schema = schema.with_mime_type("application/schema+json");
        return Ok(ReadResourceResult::new(vec![schema]));
    }
    let id: Option<ResultId> = uri.strip_prefix(RESULTS).and_then(|id| id.parse().ok());
    let id = id.filter(|id| is_published(state, id)).ok_or_else(|| not_found(uri))?;
    let readable = reading::open(state, &id).map_err(|failure| internal(&failure))?;
    let markers = UntrustedMarkers::new().map_err(|failure| internal(&failure))?;
    let record = markers.wrap("the record", &readable.record);
    let text = format!("{}\n{record}", readable.facts());
    let page = ResourceContents::text(text, uri).with_mime_type("text/plain");
    Ok(ReadResourceResult::new(vec![page]))
}

/// Names the resource as SEP-2164 has it.
pub(super) fn not_found(uri: &str) -> ErrorData {
    let message = format!("{}: no such resource", escape_line(uri));
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

fn is_published(state: &ServerState, id: &ResultId) -> bool {
    statat(&state.results, id.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

pub(super) fn internal(failure: &Failure) -> ErrorData {
    ErrorData::internal_error(escape_line(&failure.to_string()), None)
}
