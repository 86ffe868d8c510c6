//! The requests that are answered at all. A page elsewhere in the same browser can send requests
//! here, also after its name was bound to this address. It must never read an answer or deliver a
//! signature.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::json_api::ApiError;
use crate::origin::ConsoleOrigin;
use crate::page_error::PageError;
use crate::state::ConsoleState;

const HOST: &str = "host";
const ORIGIN: &str = "origin";
/// The relation of a request to the page that sent it; current browsers state it.
const SEC_FETCH_SITE: &str = "sec-fetch-site";
/// The use that the browser has for the answer; `document` is a page in a tab of its own.
const SEC_FETCH_DEST: &str = "sec-fetch-dest";
const CONTENT_TYPE: &str = "content-type";

/// The parts of a request that decide whether it is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuardedRequest<'r> {
    method: &'r str,
    /// The request names a host before its path, as requests to a proxy do.
    names_host: bool,
    /// `None` if the header is missing; empty if it is repeated or is not text.
    host: Option<&'r str>,
    origin: Option<&'r str>,
    fetch_site: Option<&'r str>,
    fetch_dest: Option<&'r str>,
    content_type: Option<&'r str>,
}

/// The reason why a request is not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GuardRefusal {
    Method,
    Host,
    Origin,
    ContentType,
}

impl GuardRefusal {
    fn answer(self) -> PageError {
        let (status, sentence) = match self {
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "This method is not used here."),
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "The console does not serve this host name; help: open the address that it logged \
                 at its start, or name this one with --origin.",
            ),
            Self::Origin => (StatusCode::FORBIDDEN, "The request came from a page elsewhere."),
            Self::ContentType => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "The request must have JSON as its content.")
            }
        };
        PageError::new(status, sentence)
    }
}

/// Returns the origin for which the request is.
///
/// # Errors
/// [`GuardRefusal`]: the first reason why it is not answered.
pub(crate) fn judge<'o>(
    request: GuardedRequest<'_>,
    origins: &'o [ConsoleOrigin],
) -> Result<&'o ConsoleOrigin, GuardRefusal> {
    let is_safe = matches!(request.method, "GET" | "HEAD");
    if !is_safe && request.method != "POST" {
        return Err(GuardRefusal::Method);
    }
    let host = request.host.filter(|_| !request.names_host).ok_or(GuardRefusal::Host)?;
    // One host may have several origins, for example with and without TLS.
    let mut of_host = origins.iter().filter(|it| it.authority() == host).peekable();
    let first = *of_host.peek().ok_or(GuardRefusal::Host)?;
    if is_safe {
        return if is_wanted(request) { Ok(first) } else { Err(GuardRefusal::Origin) };
    }
    let stated = of_host.find(|it| Some(it.as_str()) == request.origin);
    let stated = stated.ok_or(GuardRefusal::Origin)?;
    if request.fetch_site.is_some_and(|site| site != "same-origin") {
        return Err(GuardRefusal::Origin);
    }
    // Forms cannot send this type. Another one would need no permission of ours.
    let media_type = request.content_type.and_then(|text| text.split(';').next());
    match media_type.is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json")) {
        true => Ok(stated),
        false => Err(GuardRefusal::ContentType),
    }
}

/// Returns false for a file, frame or stream that a page elsewhere asks for: it could not read the
/// answer, but the answer costs work, and its time or size reveals something. Links may lead here.
fn is_wanted(request: GuardedRequest<'_>) -> bool {
    let is_own = request.fetch_site.is_none_or(|site| matches!(site, "same-origin" | "none"));
    is_own || request.fetch_dest == Some("document")
}

/// Passes a request on with its origin, or refuses it.
pub(crate) async fn check(
    State(console): State<Arc<ConsoleState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let guarded = GuardedRequest {
        method: request.method().as_str(),
        names_host: request.uri().authority().is_some(),
        host: single(request.headers(), HOST),
        origin: single(request.headers(), ORIGIN),
        fetch_site: single(request.headers(), SEC_FETCH_SITE),
        fetch_dest: single(request.headers(), SEC_FETCH_DEST),
        content_type: single(request.headers(), CONTENT_TYPE),
    };
    match judge(guarded, &console.origins).cloned() {
        Ok(origin) => {
            request.extensions_mut().insert(origin);
            next.run(request).await
        }
        // The script reads JSON; a person reads a page.
        Err(refusal) if *request.method() == Method::POST => {
            ApiError::from(refusal.answer()).into_response()
        }
        Err(refusal) => refusal.answer().into_response(),
    }
}

/// Returns the value of a header, or `None` if it is missing. A repeated one, or one that is not
/// text, must count as wrong: it is empty then.
fn single<'h>(headers: &'h HeaderMap, name: &'static str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => only.to_str().ok().or(Some("")),
        (Some(_), Some(_)) => Some(""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins() -> Vec<ConsoleOrigin> {
        let texts = ["http://localhost:8440", "https://approve.example"];
        texts.map(|text| text.parse().unwrap()).to_vec()
    }

    fn get(host: Option<&str>) -> GuardedRequest<'_> {
        GuardedRequest {
            method: "GET",
            names_host: false,
            host,
            origin: None,
            fetch_site: None,
            fetch_dest: None,
            content_type: None,
        }
    }

    fn post() -> GuardedRequest<'static> {
        GuardedRequest {
            method: "POST",
            origin: Some("http://localhost:8440"),
            fetch_site: Some("same-origin"),
            content_type: Some("application/json"),
            ..get(Some("localhost:8440"))
        }
    }

    fn refusal(request: GuardedRequest<'_>) -> Option<GuardRefusal> {
        judge(request, &origins()).err()
    }

    #[test]
    fn only_a_host_of_an_origin_is_answered() {
        assert_eq!(judge(get(Some("approve.example")), &origins()).unwrap(), &origins()[1]);
        for host in ["localhost", "localhost:80", "127.0.0.1:8440", "attacker.example", ""] {
            assert_eq!(refusal(get(Some(host))), Some(GuardRefusal::Host), "{host}");
        }
        assert_eq!(refusal(get(None)), Some(GuardRefusal::Host));
        let absolute = GuardedRequest { names_host: true, ..get(Some("localhost:8440")) };
        assert_eq!(refusal(absolute), Some(GuardRefusal::Host));
    }

    #[test]
    fn only_a_page_of_the_console_may_send() {
        assert_eq!(refusal(post()), None);
        assert_eq!(refusal(GuardedRequest { fetch_site: None, ..post() }), None);
        let foreign = [None, Some("null"), Some("https://attacker.example"), Some("")];
        for origin in foreign.into_iter().chain([Some("https://approve.example")]) {
            let request = GuardedRequest { origin, ..post() };
            assert_eq!(refusal(request), Some(GuardRefusal::Origin), "{origin:?}");
        }
        for site in ["cross-site", "same-site", "none", ""] {
            let request = GuardedRequest { fetch_site: Some(site), ..post() };
            assert_eq!(refusal(request), Some(GuardRefusal::Origin), "{site}");
        }
    }

    #[test]
    fn a_page_elsewhere_may_link_and_not_embed() {
        let of = |site, dest| GuardedRequest {
            fetch_site: Some(site),
            fetch_dest: Some(dest),
            ..get(Some("localhost:8440"))
        };
        assert_eq!(refusal(of("same-origin", "empty")), None);
        for site in ["cross-site", "same-site", ""] {
            assert_eq!(refusal(of(site, "document")), None, "{site}");
            for dest in ["empty", "image", "iframe", "script", ""] {
                assert_eq!(refusal(of(site, dest)), Some(GuardRefusal::Origin), "{site} {dest}");
            }
        }
    }

    #[test]
    fn a_form_cannot_send() {
        let json =
            GuardedRequest { content_type: Some("Application/JSON; charset=utf-8"), ..post() };
        assert_eq!(refusal(json), None);
        for content_type in
            [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("")]
        {
            let request = GuardedRequest { content_type, ..post() };
            assert_eq!(refusal(request), Some(GuardRefusal::ContentType), "{content_type:?}");
        }
    }

    #[test]
    fn other_methods_are_refused() {
        for method in ["PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "get", ""] {
            assert_eq!(refusal(GuardedRequest { method, ..post() }), Some(GuardRefusal::Method));
        }
        assert_eq!(refusal(GuardedRequest { method: "HEAD", ..post() }), None);
    }

    #[test]
    fn a_repeated_header_counts_as_wrong() {
        let mut headers = HeaderMap::new();
        assert_eq!(single(&headers, HOST), None);
        headers.append(HOST, "localhost:8440".parse().unwrap());
        assert_eq!(single(&headers, HOST), Some("localhost:8440"));
        headers.append(HOST, "localhost:8440".parse().unwrap());
        assert_eq!(single(&headers, HOST), Some(""));
    }
}
