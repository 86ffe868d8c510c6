//! A request that cannot be answered, as a page. The text must never repeat a part of the request.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use maud::html;

use crate::frame::{PageFrame, PageKind};

/// The status and the sentence of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PageError {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
}

impl PageError {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into() }
    }

    /// There is nothing at this address.
    pub(crate) fn missing() -> Self {
        Self::new(StatusCode::NOT_FOUND, "There is nothing at this address.")
    }

    /// The console, or a file that it reads, is in a state that the client cannot change.
    pub(crate) fn internal(problem: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, problem.to_string())
    }

    /// Too much is being done at this moment.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "Too many requests at once; help: try again.")
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let page = PageFrame::new(PageKind::Error, "Not shown").page(html! {
            p { (self.sentence) }
        });
        (self.status, Html(page.into_string())).into_response()
    }
}
