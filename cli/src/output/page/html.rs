//! An HTML page under construction. It must never accept other content than markup of this program
//! (a [`HtmlLiteral`], built from string literals only), escaped untrusted text, and numbers.

use std::fmt::Write as _;

use model::escape_line;

/// The style sheet. The content security policy names its digest, so no other style applies.
pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const STYLE_HASH: &str = include_str!("style.sha256");

/// Limit of rows per table. Longer tables are unreadable and slow down browsers.
const ROWS_MAX: usize = 500;

/// Markup that is part of this program.
#[derive(Clone, Copy)]
pub(super) struct HtmlLiteral(&'static str);

pub(super) const fn literal(text: &'static str) -> HtmlLiteral {
    HtmlLiteral(text)
}

model::closed_set! {
    /// The rating of a value. It is shown by colour, but never by colour alone.
    pub(super) enum Tone {
        Good = "good",
        Bad = "bad",
        Care = "care",
        Plain = "plain",
    }
}

impl Tone {
    fn class(self) -> HtmlLiteral {
        HtmlLiteral(self.as_str())
    }
}

// plain-english: quotation, of a table
/// A cell of a table.
pub(super) enum TableCell {
    Text(String),
    /// A name or digest, in a fixed-width font.
    Code(String),
    Number(String),
    Badge(Tone, String),
}

#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    pub(super) fn into_string(self) -> String {
        self.0
    }

    pub(super) fn markup(&mut self, markup: HtmlLiteral) -> &mut Self {
        self.0.push_str(markup.0);
        self
    }

    /// Appends untrusted text as one line. It never acts as markup. Every character is visible.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.escaped(&text.replace('\t', "\\t"));
        self
    }

    /// Appends untrusted text as several lines, for `<pre>`.
    pub(super) fn lines(&mut self, text: &str) -> &mut Self {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.0.push('\n');
            }
            self.escaped(line);
        }
        self
    }

    fn escaped(&mut self, line: &str) {
        for c in escape_line(line).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // XML does not allow these characters.
                '\u{fffe}' | '\u{ffff}' => self.0.extend(c.escape_unicode()),
                c => self.0.push(c),
            }
        }
    }

    pub(super) fn code(&mut self, text: &str) -> &mut Self {
        self.markup(HtmlLiteral("<code>")).text(text).markup(HtmlLiteral("</code>"))
    }

    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        // Writing to a String cannot fail.
        write!(self.0, "{number}").unwrap_or_default();
        self
    }

    /// Appends thousandths as a decimal fraction.
    pub(super) fn milli(&mut self, number: u64) -> &mut Self {
        write!(self.0, "{}.{:03}", number / 1000, number % 1000).unwrap_or_default();
        self
    }

    pub(super) fn badge(&mut self, tone: Tone, word: &str) -> &mut Self {
        self.markup(HtmlLiteral("<span class=\"word "))
            .markup(tone.class())
            .markup(HtmlLiteral("\">"));
        self.text(word).markup(HtmlLiteral("</span>"))
    }

    /// Opens a section with a heading. [`Self::end`] closes it.
    pub(super) fn section(&mut self, heading: HtmlLiteral) -> &mut Self {
        self.markup(HtmlLiteral("<section>\n<h2>")).markup(heading).markup(HtmlLiteral("</h2>\n"))
    }

    pub(super) fn banner(&mut self, tone: Tone) -> &mut Self {
        self.markup(HtmlLiteral("<section class=\"banner ")).markup(tone.class());
        self.markup(HtmlLiteral("\">\n"))
    }

    pub(super) fn end(&mut self) -> &mut Self {
        self.markup(HtmlLiteral("</section>\n"))
    }

    pub(super) fn note(&mut self, words: HtmlLiteral) -> &mut Self {
        self.markup(HtmlLiteral("<p class=\"note\">")).markup(words).markup(HtmlLiteral("</p>\n"))
    }

    /// Appends a list of names and values.
    pub(super) fn pairs(&mut self, pairs: Vec<(HtmlLiteral, TableCell)>) -> &mut Self {
        self.markup(HtmlLiteral("<dl>\n"));
        for (name, cell) in pairs {
            self.markup(HtmlLiteral("<div><dt>")).markup(name).markup(HtmlLiteral("</dt><dd>"));
            self.cell(&cell).markup(HtmlLiteral("</dd></div>\n"));
        }
        self.markup(HtmlLiteral("</dl>\n"))
    }

    // plain-english: quotation, of a table
    /// Appends a table. Each cell repeats the name of its column, for narrow screens.
    pub(super) fn table(
        &mut self,
        caption: HtmlLiteral,
        columns: &[HtmlLiteral],
        rows: Vec<Vec<TableCell>>,
    ) -> &mut Self {
        self.markup(HtmlLiteral("<table>\n<caption>")).markup(caption);
        self.markup(HtmlLiteral("</caption>\n<thead><tr>"));
        for column in columns {
            self.markup(HtmlLiteral("<th scope=\"col\">"))
                .markup(*column)
                .markup(HtmlLiteral("</th>"));
        }
        self.markup(HtmlLiteral("</tr></thead>\n<tbody>\n"));
        let all = rows.len();
        for row in rows.into_iter().take(ROWS_MAX) {
            self.markup(HtmlLiteral("<tr>"));
            for (cell, column) in row.iter().zip(columns) {
                let number = matches!(cell, TableCell::Number(_));
                let class = if number { " class=\"number\"" } else { "" };
                self.markup(HtmlLiteral("<td")).markup(HtmlLiteral(class));
                self.markup(HtmlLiteral(" data-label=\""))
                    .markup(*column)
                    .markup(HtmlLiteral("\">"));
                self.cell(cell).markup(HtmlLiteral("</td>"));
            }
            self.markup(HtmlLiteral("</tr>\n"));
        }
        self.markup(HtmlLiteral("</tbody>\n</table>\n"));
        if let Some(more) = all.checked_sub(ROWS_MAX).filter(|more| *more > 0) {
            self.markup(HtmlLiteral("<p class=\"note\">… and "));
            self.number(u64::try_from(more).unwrap_or(u64::MAX));
            self.markup(HtmlLiteral(" more, in the record</p>\n"));
        }
        self
    }

    fn cell(&mut self, cell: &TableCell) -> &mut Self {
        match cell {
            TableCell::Text(text) | TableCell::Number(text) => self.text(text),
            TableCell::Code(text) => self.code(text),
            TableCell::Badge(tone, word) => self.badge(*tone, word),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use model::Sha256;

    use super::*;

    /// Browsers ignore a style sheet whose digest the content security policy does not name.
    #[test]
    fn content_security_policy_names_the_style_digest() {
        let digest = base64::engine::general_purpose::STANDARD
            .encode(Sha256::of(STYLE.as_bytes()).as_bytes());
        assert_eq!(STYLE_HASH, format!("sha256-{digest}"), "write this into style.sha256");
        // Otherwise HTML and XML parsers would read different style text.
        assert!(!STYLE.contains(['<', '&']), "no parser may see markup in it");
    }

    #[test]
    fn text_is_never_markup_and_always_visible() {
        let mut page = Html::default();
        page.text("<b a='1' b=\"2\">&amp;]]>\u{202e}\u{7}\u{0}\u{ffff}\n\t");
        let escaped = "&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;amp;]]&gt;\\u{202e}\\u{7}\\u{0}\\u{ffff}\\u{a}\\t";
        assert_eq!(page.into_string(), escaped);
        let mut page = Html::default();
        page.lines("a\r\n\u{1b}[31m<");
        assert_eq!(page.into_string(), "a\\u{d}\n\\u{1b}[31m&lt;");
    }
}
