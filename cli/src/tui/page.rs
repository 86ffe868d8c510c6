//! A scrollable text. The caller escapes its lines. Wrapping them must never lose a character.

use ratatui::text::Span;

use super::keys::TerminalKey;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ScrollText {
    pub(super) title: String,
    lines: Vec<String>,
    width: usize,
    wrapped: Vec<String>,
    pub(super) top: usize,
}

impl ScrollText {
    pub(super) fn new(title: String, text: &str) -> Self {
        let lines = text.lines().map(|line| line.replace('\t', "    ")).collect();
        Self { title, lines, width: 0, wrapped: Vec::new(), top: 0 }
    }

    /// Replaces the text and keeps the scroll position.
    pub(super) fn replace(&mut self, text: &str) {
        let (top, width) = (self.top, self.width);
        *self = Self::new(std::mem::take(&mut self.title), text);
        self.top = top;
        if width > 0 {
            self.fit(width);
        }
    }

    /// Wraps the text, unless it already has this width.
    pub(super) fn fit(&mut self, width: usize) {
        let width = width.max(1);
        if self.width != width {
            self.width = width;
            self.wrapped = self.lines.iter().flat_map(|line| wrap(line, width)).collect();
        }
    }

    /// Returns the visible lines and the total number of lines.
    pub(super) fn visible(&self, rows: usize) -> (&[String], usize) {
        let top = self.top.min(self.top_max(rows));
        let end = self.wrapped.len().min(top + rows);
        (&self.wrapped[top..end], self.wrapped.len())
    }

    fn top_max(&self, rows: usize) -> usize {
        self.wrapped.len().saturating_sub(rows)
    }

    /// Scrolls, and returns whether the key is a scroll key.
    pub(super) fn scroll(&mut self, key: TerminalKey, rows: usize) -> bool {
        let page = rows.saturating_sub(1).max(1);
        let top = match key {
            TerminalKey::Up | TerminalKey::Char('k') => self.top.saturating_sub(1),
            TerminalKey::Down | TerminalKey::Char('j') => self.top + 1,
            TerminalKey::PageUp | TerminalKey::Char('b') => self.top.saturating_sub(page),
            TerminalKey::PageDown | TerminalKey::Char(' ') => self.top + page,
            TerminalKey::Home | TerminalKey::Char('g') => 0,
            TerminalKey::End | TerminalKey::Char('G') => usize::MAX,
            _ => return false,
        };
        self.top = top.min(self.top_max(rows));
        true
    }
}

fn wrap(line: &str, width: usize) -> Vec<String> {
    if line.is_ascii() {
        let mut pieces: Vec<String> = Vec::new();
        for piece in line.as_bytes().chunks(width) {
            pieces.push(String::from_utf8_lossy(piece).into_owned());
        }
        return if pieces.is_empty() { vec![String::new()] } else { pieces };
    }
    let (mut pieces, mut last, mut taken) = (Vec::new(), String::new(), 0);
    let mut bytes = [0; 4];
    for c in line.chars() {
        let columns = Span::raw(&*c.encode_utf8(&mut bytes)).width();
        if taken + columns > width && taken > 0 {
            pieces.push(std::mem::take(&mut last));
            taken = 0;
        }
        last.push(c);
        taken += columns;
    }
    pieces.push(last);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_loses_no_character() {
        for text in ["abcdefghij", "", "äöü日本語日本", "日"] {
            for width in 1..12 {
                let pieces = wrap(text, width);
                assert_eq!(pieces.concat(), text);
                let fits = |piece: &String| Span::raw(piece.as_str()).width() <= width.max(2);
                assert!(pieces.iter().all(fits), "{pieces:?}");
            }
        }
    }

    #[test]
    fn it_scrolls_between_its_ends() {
        let text: String = (0..30).map(|line| format!("line {line}\n")).collect();
        let mut page = ScrollText::new("t".to_owned(), &text);
        page.fit(80);
        assert!(page.scroll(TerminalKey::Up, 10));
        assert_eq!(page.visible(10).0[0], "line 0");
        for _ in 0..9 {
            page.scroll(TerminalKey::PageDown, 10);
        }
        assert_eq!(page.visible(10), (&page.wrapped[20..], 30));
        page.scroll(TerminalKey::Char('k'), 10);
        assert_eq!(page.visible(10).0[9], "line 28");
        page.replace("short");
        assert_eq!(page.visible(10), (&["short".to_owned()][..], 1));
        assert!(!page.scroll(TerminalKey::Enter, 10));
    }
}
