//! The live output of a running tool, read from the result that is being collected. It is untrusted
//! and not part of the command's answer: every line is prefixed, escaped and bounded.

use std::path::Path;

use model::escape_line;
use spool::{FollowedFile, ProgressMoment};
use validator::{decode_text, reveal_line};

/// The streams of a tool, and the prefix of each line.
const STREAMS: [(&str, &str); 2] = [("stdout", "| "), ("stderr", "! ")];
/// Limit per stream. The record contains the complete output.
const SHOWN_BYTES_MAX: u64 = 1 << 20;
const LINE_CHARS_MAX: usize = 2000;
/// A line without an end is shown in pieces.
const LINE_BYTES_MAX: usize = 8 * LINE_CHARS_MAX;

/// The stdout and stderr of one request's run.
pub(crate) struct OutputFollower([StreamFollower; 2]);

struct StreamFollower {
    file: FollowedFile,
    prefix: &'static str,
    /// Bytes after the last line end.
    rest: Vec<u8>,
    is_cut: bool,
}

impl OutputFollower {
    pub(crate) fn new(results: &Path, request_id: &str) -> Self {
        Self(STREAMS.map(|(name, prefix)| {
            let file = FollowedFile::new(results, request_id, name);
            StreamFollower { file, prefix, rest: Vec::new(), is_cut: false }
        }))
    }

    /// Returns the lines since the previous call. The last call includes a line without an end.
    pub(crate) fn lines(&mut self, moment: ProgressMoment) -> Vec<String> {
        self.0.iter_mut().flat_map(|stream| stream.lines(moment)).collect()
    }
}

impl StreamFollower {
    fn lines(&mut self, moment: ProgressMoment) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(bytes) = self.read(moment) {
            self.rest.extend(bytes);
            self.take_lines(&mut lines);
            if moment == ProgressMoment::Now {
                break;
            }
        }
        if moment == ProgressMoment::Last && !self.rest.is_empty() {
            lines.push(display_line(self.prefix, &std::mem::take(&mut self.rest)));
        }
        if self.file.offset() >= SHOWN_BYTES_MAX && !self.is_cut {
            self.is_cut = true;
            lines.push("… only the first 1 MiB is shown here; see the record".to_owned());
        }
        lines
    }

    /// Reads the next bytes, up to the limit of what is shown.
    fn read(&mut self, moment: ProgressMoment) -> Option<Vec<u8>> {
        self.file.read(moment, SHOWN_BYTES_MAX.checked_sub(self.file.offset())?)
    }

    fn take_lines(&mut self, lines: &mut Vec<String>) {
        let bytes = std::mem::take(&mut self.rest);
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let rest = pieces.next_back().unwrap_or_default();
        let display = |line| display_line(self.prefix, line);
        lines.extend(pieces.map(display));
        let mut pieces = rest.chunks_exact(LINE_BYTES_MAX);
        lines.extend(pieces.by_ref().map(display));
        self.rest = pieces.remainder().to_vec();
    }
}

/// Formats bytes of a tool as a line for people.
fn display_line(prefix: &str, bytes: &[u8]) -> String {
    let (text, _) = decode_text(bytes);
    let text = text.strip_suffix('\r').unwrap_or(&text);
    let mut chars = text.char_indices();
    match chars.nth(LINE_CHARS_MAX) {
        None => format!("{prefix}{}", reveal_line(text)),
        Some((end, _)) => format!("{prefix}{}…", escape_line(&text[..end])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::Write;

    #[test]
    fn tool_output_is_prefixed_escaped_and_bounded() {
        assert_eq!(display_line("| ", b"plain\r"), "| plain");
        assert_eq!(display_line("! ", b"\x1b[2J\xff"), "! \\u{1b}[2J\\xff");
        assert_eq!(display_line("| ", &[b'a'; 5000]).chars().count(), 2 + LINE_CHARS_MAX + 1);
    }

    #[test]
    fn output_is_followed_until_the_result_is_published() {
        let place = std::env::temp_dir().join(format!("toolexec-follow-{}", std::process::id()));
        let (hidden, id) =
            (".new-TS-20260209-160501Z-TR-20260209-160500Z-a", "TR-20260209-160500Z-a");
        fs::create_dir_all(place.join(hidden)).unwrap();
        let mut file = File::create(place.join(hidden).join("stdout")).unwrap();
        let mut followed = OutputFollower::new(&place, id);
        assert!(followed.lines(ProgressMoment::Now).is_empty());
        file.write_all(b"one\ntwo\nthr").unwrap();
        assert_eq!(followed.lines(ProgressMoment::Now), ["| one", "| two"]);
        file.write_all(b"ee").unwrap();
        // The result is published meanwhile; the open file stays valid.
        rustix::fs::rename(place.join(hidden), place.join(&hidden[5..])).unwrap();
        assert_eq!(followed.lines(ProgressMoment::Last), ["| three"]);
        assert_eq!(OutputFollower::new(&place, id).lines(ProgressMoment::Last).len(), 3);
        assert!(OutputFollower::new(&place, "a").lines(ProgressMoment::Last).is_empty());
        file.write_all(&b"x\n".repeat(1 << 20)).unwrap();
        let all = OutputFollower::new(&place, id).lines(ProgressMoment::Last);
        assert!(all.len() < (1 << 19) + 4 && all.last().unwrap().starts_with('…'), "{}", all.len());
        fs::remove_dir_all(place).unwrap();
    }
}
