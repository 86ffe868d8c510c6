//! Untrusted text in pages. maud escapes markup; this module shows deceptive characters by number.

use maud::{Markup, html};
use validator::{reveal_line, reveal_text};

/// Returns one line of untrusted text, in which every character is visible.
pub(crate) fn line(text: &str) -> String {
    reveal_line(text).replace('\t', "\\t")
}

/// Returns untrusted text as lines in a box that a keyboard can scroll.
pub(crate) fn lines(bytes: &[u8]) -> Markup {
    html! { pre tabindex="0" { (reveal_text(bytes)) } }
}

/// Returns a list of names and values.
pub(crate) fn facts(rows: Vec<(&str, Markup)>) -> Markup {
    html! {
        dl {
            @for (name, value) in rows {
                dt { (name) }
                dd { (value) }
            }
        }
    }
}

/// Returns the row of a name and a line of untrusted text.
pub(crate) fn row<'n>(name: &'n str, value: &str) -> (&'n str, Markup) {
    (name, html! { (line(value)) })
}

/// Returns the row of a name and a value in a fixed-width font.
pub(crate) fn code_row<'n>(name: &'n str, value: &str) -> (&'n str, Markup) {
    (name, html! { code { (line(value)) } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_never_markup_and_always_visible() {
        let hostile = "<script>alert(1)</script>\u{202e}\t&\"";
        let shown = facts(vec![row("name", hostile), code_row("code", hostile)]).into_string();
        assert!(!shown.contains("<script>") && !shown.contains('\u{202e}'), "{shown}");
        assert!(shown.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}\\t&amp;&quot;"));
        let shown = lines(b"a</pre><img src=x>\r\n\x1b[2J\xff").into_string();
        let wanted = "<pre tabindex=\"0\">a&lt;/pre&gt;&lt;img src=x&gt;\n\\u{1b}[2J\\xff</pre>";
        assert_eq!(shown, wanted);
    }
}
