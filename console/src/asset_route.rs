//! Serves the files of the pages. The address of each changes with its bytes, so browsers may keep
//! it.

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};

use crate::assets::{Asset, Assets, assets};
use crate::page_error::PageError;

const KEPT: &str = "public, max-age=31536000, immutable";

/// Serves the asset of this name.
pub(crate) async fn asset(Path(name): Path<String>) -> Result<Response, PageError> {
    let Assets { script, style, icon } = assets();
    let is_named = |asset: &&Asset| asset.path().strip_prefix("/assets/") == Some(name.as_str());
    let found = [script, style, icon].into_iter().find(is_named).ok_or_else(PageError::missing)?;
    let (text, media_type) = found.content();
    Ok(([(CONTENT_TYPE, media_type), (CACHE_CONTROL, KEPT)], text).into_response())
}
