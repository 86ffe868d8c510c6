//! The address of each page.

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response, map_response_with_state};
use axum::routing::{get, post};

use crate::page_error::PageError;
use crate::state::ConsoleState;
use crate::{
    answer_memory, asset_route, deliver, guard, headers, live_output, pages, prepare,
    queue_changes, result_files,
};

/// Returns the whole service. Each answer has the headers, also one of the guard.
pub(crate) fn router(console: Arc<ConsoleState>) -> Router {
    Router::new()
        .route("/", get(pages::queue))
        .route("/events", get(queue_changes::events))
        .route("/batch", get(pages::batch))
        .route("/requests/{id}", get(pages::request))
        .route("/requests/{id}/output", get(live_output::output))
        .route("/standing", get(pages::standing_list))
        .route("/standing/{id}", get(pages::standing))
        .route("/results", get(pages::results))
        .route("/results/{id}", get(pages::result))
        .route("/results/{id}/files/{*path}", get(result_files::file))
        .route("/results/{id}/pictures/{*path}", get(result_files::picture))
        .route("/log", get(pages::log))
        .route("/enrol", get(pages::enrol))
        .route("/prepare", post(prepare::prepare))
        .route("/actions", post(deliver::deliver))
        .route("/actions/{ticket}", get(deliver::answer))
        .route("/assets/{name}", get(asset_route::asset))
        .fallback(missing)
        .layer(from_fn_with_state(Arc::clone(&console), guard::check))
        .layer(map_response_with_state(Arc::clone(&console), answer_memory::count))
        .layer(map_response(headers::add))
        .with_state(console)
}

async fn missing() -> PageError {
    PageError::missing()
}
