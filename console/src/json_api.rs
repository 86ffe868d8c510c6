//! The form of requests and answers of the script: JSON of bounded size.

use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::timeout;

use crate::page_error::PageError;

const BODY_BYTES_MAX: usize = 64 * 1024;
/// The longest time for the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a request of the script fails, for a person.
pub(crate) struct ApiError {
    status: StatusCode,
    sentence: String,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into() }
    }

    /// The request cannot be met in the present state of the spool.
    pub(crate) fn conflict(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, sentence)
    }
}

impl From<PageError> for ApiError {
    fn from(error: PageError) -> Self {
        Self { status: error.status, sentence: error.sentence }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.sentence }))).into_response()
    }
}

/// Reads the body of a request.
///
/// # Errors
/// It is too large, too slow or not of this form.
pub(crate) async fn read_json<T: DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    let read = timeout(BODY_TIMEOUT, to_bytes(body, BODY_BYTES_MAX)).await;
    let read = read.map_err(|_| ApiError::new(StatusCode::REQUEST_TIMEOUT, "Too slow."))?;
    let bytes = read.map_err(|_| {
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "The request is larger than 64 KiB.")
    })?;
    serde_json::from_slice(&bytes).map_err(|_| {
        ApiError::new(StatusCode::BAD_REQUEST, "The request has another form; help: reload.")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn status_of(body: Vec<u8>) -> Option<StatusCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(read_json::<Value>(Body::from(body))).err().map(|error| error.status)
    }

    #[test]
    fn a_body_is_bounded_json() {
        assert_eq!(status_of(b"{\"a\": 1}".to_vec()), None);
        assert_eq!(status_of(b"a=1".to_vec()), Some(StatusCode::BAD_REQUEST));
        let large = vec![b' '; BODY_BYTES_MAX + 1];
        assert_eq!(status_of(large), Some(StatusCode::PAYLOAD_TOO_LARGE));
    }
}
