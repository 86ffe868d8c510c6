//! The headers of every answer. They must leave a page no other source of scripts, styles or
//! frames than the console itself, and no way to make markup from text.

use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The headers that an answer has unless its handler has set them.
const DEFAULTS: [(&str, &str); 2] =
    [("content-security-policy", PAGE_POLICY), ("cache-control", "no-store")];

/// The headers that each answer has.
const ALWAYS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), \
         geolocation=(), microphone=()",
    ),
];

/// Adds the headers.
pub(crate) async fn add(mut response: Response) -> Response {
    add_to(response.headers_mut());
    response
}

fn add_to(headers: &mut HeaderMap) {
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_can_only_replace_defaults() {
        let mut headers = HeaderMap::new();
        headers.insert("cache-control", HeaderValue::from_static("immutable"));
        headers.insert("x-content-type-options", HeaderValue::from_static("sniff"));
        add_to(&mut headers);
        assert_eq!(headers["cache-control"], "immutable");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert_eq!(headers.len(), DEFAULTS.len() + ALWAYS.len());
    }
}
