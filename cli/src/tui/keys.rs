//! Decodes the bytes of a terminal into the keys that this screen uses. Other sequences are ignored
//! and never become text. Pasted text is ignored too: the user did not press those keys.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TerminalKey {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
    BackTab,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-L.
    Redraw,
    Char(char),
}

const ESCAPE: u8 = 0x1b;
/// The markers that a terminal sends around pasted text in bracketed paste mode.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Decodes keys across reads.
pub(super) struct KeyDecoder {
    /// The marker expected next. While it is the end of a paste, no byte is a key.
    marker: &'static [u8],
    /// The beginning of the marker, if the last read ended within it.
    cut: Vec<u8>,
}

impl Default for KeyDecoder {
    fn default() -> Self {
        Self { marker: PASTE_BEGINS, cut: Vec::new() }
    }
}

impl KeyDecoder {
    /// Returns the keys of one read. A sequence that is cut off by the read is ignored unless it is
    /// a paste marker: terminals send sequences whole, except on very slow lines.
    pub(super) fn of(&mut self, read: &[u8]) -> Vec<TerminalKey> {
        let mut bytes = std::mem::take(&mut self.cut);
        if !self.is_paste() && bytes == [ESCAPE] && !read.starts_with(b"[") {
            // It was the Escape key, which was already reported.
            bytes.clear();
        }
        bytes.extend_from_slice(read);
        let (mut keys, mut rest) = (Vec::new(), bytes.as_slice());
        while let Some(at) = rest.windows(self.marker.len()).position(|it| it == self.marker) {
            let (before, after) = (&rest[..at], &rest[at + self.marker.len()..]);
            if self.is_paste() {
                self.marker = PASTE_BEGINS;
            } else {
                keys.extend(keys_of(before));
                self.marker = PASTE_ENDS;
            }
            rest = after;
        }
        let begun = |len: &usize| rest.ends_with(&self.marker[..*len]);
        let len = (1..self.marker.len()).rev().find(begun).unwrap_or(0);
        let (whole, cut) = rest.split_at(rest.len() - len);
        if !self.is_paste() {
            keys.extend(keys_of(whole));
            keys.extend((cut == [ESCAPE]).then_some(TerminalKey::Escape));
        }
        self.cut = cut.to_vec();
        keys
    }

    fn is_paste(&self) -> bool {
        self.marker == PASTE_ENDS
    }
}

fn keys_of(bytes: &[u8]) -> Vec<TerminalKey> {
    let (mut keys, mut rest) = (Vec::new(), bytes);
    while let Some((first, after)) = rest.split_first() {
        let (key, taken) = match first {
            0x1b => escape(after),
            0x03 => (Some(TerminalKey::Interrupt), 0),
            0x1a => (Some(TerminalKey::Suspend), 0),
            0x0c => (Some(TerminalKey::Redraw), 0),
            b'\r' | b'\n' => (Some(TerminalKey::Enter), 0),
            b'\t' => (Some(TerminalKey::Tab), 0),
            0x08 | 0x7f => (Some(TerminalKey::Backspace), 0),
            0x00..=0x1f => (None, 0),
            _ => typed(rest),
        };
        keys.extend(key);
        rest = after.get(taken..).unwrap_or_default();
    }
    keys
}

/// Returns the key of the sequence after an escape character, and the length of the sequence.
fn escape(after: &[u8]) -> (Option<TerminalKey>, usize) {
    let Some((kind @ (b'[' | b'O'), sequence)) = after.split_first() else {
        // Alone it is the Escape key. Before a character it means Alt, which has no function here.
        let has_more = after.first().is_some_and(|byte| *byte != 0x1b);
        return if has_more { (None, 1) } else { (Some(TerminalKey::Escape), 0) };
    };
    let is_last = |byte: &u8| (0x40..=0x7e).contains(byte);
    let Some(end) = sequence.iter().position(is_last) else { return (None, after.len()) };
    let key = match (kind, &sequence[..=end]) {
        (_, b"A") => Some(TerminalKey::Up),
        (_, b"B") => Some(TerminalKey::Down),
        (_, b"H") | (b'[', b"1~" | b"7~") => Some(TerminalKey::Home),
        (_, b"F") | (b'[', b"4~" | b"8~") => Some(TerminalKey::End),
        (b'[', b"5~") => Some(TerminalKey::PageUp),
        (b'[', b"6~") => Some(TerminalKey::PageDown),
        (b'[', b"Z") => Some(TerminalKey::BackTab),
        _ => None,
    };
    (key, end + 2)
}

/// Returns one character, and the number of its bytes after the first.
fn typed(bytes: &[u8]) -> (Option<TerminalKey>, usize) {
    let head = &bytes[..bytes.len().min(4)];
    let first = head.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    first.map_or((None, 0), |c| (Some(TerminalKey::Char(c)), c.len_utf8() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_bytes_decode_to_keys() {
        use TerminalKey::{
            BackTab, Backspace, Char, Down, End, Enter, Escape, Home, PageDown, PageUp, Up,
        };
        for (sent, keys) in [
            (&b"q"[..], &[Char('q')][..]),
            (b"\x1b[A\x1bOB\x1b[5~\x1b[6~", &[Up, Down, PageUp, PageDown]),
            (b"\x1b[H\x1b[4~\x1b[Z\x7f\r", &[Home, End, BackTab, Backspace, Enter]),
            (b"\x1b", &[Escape]),
            (b"\x1b\x1b", &[Escape, Escape]),
            (b"\x1bx", &[]),
            (b"\x1b[1;5Ca", &[Char('a')]),
            (b"\x1b[1;5", &[]),
            (b"\x03\x1a\x0c", &[TerminalKey::Interrupt, TerminalKey::Suspend, TerminalKey::Redraw]),
            ("äé".as_bytes(), &[Char('ä'), Char('é')]),
            (b"\xff\xc3a\x01", &[Char('a')]),
            (b"\t", &[TerminalKey::Tab]),
        ] {
            assert_eq!(KeyDecoder::default().of(sent), keys, "{sent:?}");
        }
    }

    #[test]
    fn pasted_text_is_ignored_however_reads_are_split() {
        let sent = b"j\x1b[200~a\x1b[Aqapprove\n\x03\x1b[201x\x1b[201~k\x1b[200~x\x1b[201~\x1b[B";
        let pressed = [TerminalKey::Char('j'), TerminalKey::Char('k'), TerminalKey::Down];
        for first in 1..sent.len() {
            for second in first + 1..sent.len() {
                let mut keys = KeyDecoder::default();
                let reads = [&sent[..first], &sent[first..second], &sent[second..]];
                let mut all: Vec<TerminalKey> =
                    reads.iter().flat_map(|read| keys.of(read)).collect();
                // A read that ends with an escape character reports the Escape key.
                all.retain(|key| *key != TerminalKey::Escape);
                assert_eq!(all, pressed, "{first} {second}");
            }
        }
        let mut keys = KeyDecoder::default();
        assert_eq!(keys.of(b"\x1b"), [TerminalKey::Escape]);
        assert_eq!(keys.of(b"x"), [TerminalKey::Char('x')]);
    }
}
