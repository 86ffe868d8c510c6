//! The script, the style sheet and the icon: parts of the program, at addresses with their digests.

use std::sync::LazyLock;

use model::Sha256;

const SCRIPT: &str = include_str!("../assets/console.js");
const STYLE: &str = include_str!("../assets/console.css");
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">\
    <path fill=\"#0b57a4\" d=\"M2 2h12v12H2z\"/>\
    <path fill=\"none\" stroke=\"#fff\" stroke-width=\"2\" d=\"m5 8 2 3 4-6\"/></svg>\n";
/// The digits of a digest in an address.
const DIGITS: usize = 16;

/// A file of the pages.
pub(crate) struct Asset {
    text: &'static str,
    media_type: &'static str,
    sha256: Sha256,
    path: String,
}

impl Asset {
    fn new(text: &'static str, ending: &str, media_type: &'static str) -> Self {
        let sha256 = Sha256::of(text.as_bytes());
        let digits: String = sha256.to_string().chars().take(DIGITS).collect();
        Self { text, media_type, sha256, path: format!("/assets/console-{digits}.{ending}") }
    }

    /// Returns its address.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns its bytes as text, and their type.
    pub(crate) fn content(&self) -> (&'static str, &'static str) {
        (self.text, self.media_type)
    }

    /// Returns the digest of its bytes.
    pub(crate) fn sha256(&self) -> Sha256 {
        self.sha256
    }
}

/// The assets of the program.
pub(crate) struct Assets {
    pub(crate) script: Asset,
    pub(crate) style: Asset,
    pub(crate) icon: Asset,
}

/// Returns the assets.
pub(crate) fn assets() -> &'static Assets {
    static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
        script: Asset::new(SCRIPT, "js", "text/javascript; charset=utf-8"),
        style: Asset::new(STYLE, "css", "text/css; charset=utf-8"),
        icon: Asset::new(ICON, "svg", "image/svg+xml"),
    });
    &ASSETS
}
