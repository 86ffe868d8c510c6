//! Pictures among the artifacts, each in a page of its own that has no rights: a tool wrote the
//! file, and only its first bytes say that it is a picture.

use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use axum::response::{Html, IntoResponse as _, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use maud::{DOCTYPE, PreEscaped, html};
use model::Sha256;

use crate::page_error::PageError;
use crate::text;

/// Limit of a picture that is shown. A larger one can be downloaded.
pub(crate) const PICTURE_BYTES_MAX: u64 = 8 << 20;
/// The number of bytes that identify a picture.
pub(crate) const MAGIC_BYTES: u64 = 16;

const STYLE: &str = "body{margin:0}img{max-width:100%;height:auto}";

model::closed_set! {
    /// The kinds of pictures that browsers show. None of them contains scripts.
    pub(crate) enum PictureKind {
        Png = "image/png",
        Jpeg = "image/jpeg",
        Gif = "image/gif",
        Webp = "image/webp",
    }
}

impl PictureKind {
    /// Returns the kind by the first bytes.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x89PNG\r\n\x1a\n") {
            return Some(Self::Png);
        }
        if head.starts_with(b"\xff\xd8\xff") {
            return Some(Self::Jpeg);
        }
        if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
            return Some(Self::Gif);
        }
        let is_webp = head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP");
        is_webp.then_some(Self::Webp)
    }
}

/// Returns the page of a picture. It is for a frame: it loads nothing and may do nothing.
pub(crate) fn page(name: &str, bytes: &[u8]) -> Result<Response, PageError> {
    let kind = PictureKind::of(bytes).ok_or_else(PageError::missing)?;
    let source = format!("data:{};base64,{}", kind.as_str(), BASE64_STANDARD.encode(bytes));
    let name = text::line(name);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (name) }
                style { (PreEscaped(STYLE)) }
            }
            body { img alt=(name) src=(source); }
        }
    };
    let style = BASE64_STANDARD.encode(Sha256::of(STYLE.as_bytes()).as_bytes());
    let policy = format!(
        "sandbox; default-src 'none'; img-src data:; style-src 'sha256-{style}'; \
         frame-ancestors 'self'"
    );
    let policy = HeaderValue::try_from(policy).map_err(PageError::internal)?;
    Ok(([(CONTENT_SECURITY_POLICY, policy)], Html(page.into_string())).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_pictures_are_shown() {
        assert_eq!(PictureKind::of(b"\x89PNG\r\n\x1a\n..."), Some(PictureKind::Png));
        assert_eq!(PictureKind::of(b"\xff\xd8\xff\xe0"), Some(PictureKind::Jpeg));
        assert_eq!(PictureKind::of(b"GIF89a"), Some(PictureKind::Gif));
        assert_eq!(PictureKind::of(b"RIFF\0\0\0\0WEBPVP8 "), Some(PictureKind::Webp));
        for head in [&b"<svg xmlns="[..], b"<html>", b"", b"RIFF\0\0\0\0WAVE", b"\x89PNG"] {
            assert_eq!(PictureKind::of(head), None);
        }
        assert!(page("a.svg", b"<svg/>").is_err());
    }

    #[test]
    fn a_picture_has_a_page_without_rights() {
        let response = page("<b>.png", b"\x89PNG\r\n\x1a\n").unwrap();
        let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(policy.starts_with("sandbox; default-src 'none'; img-src data:;"), "{policy}");
        assert!(!policy.contains("allow-"), "{policy}");
    }
}
