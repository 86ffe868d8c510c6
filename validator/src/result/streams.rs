//! How much of a stream a result shows: at most the first 200 lines and 64 KiB (upstream's N; the
//! rest belongs into the stream's file). A line of the stream is counted as a record writes it:
//! indented, without the indent. It must never refuse what a record may show.

use crate::code::Code;
use crate::report::Report;
use crate::sections::Section;

const LINES_MAX: usize = 200;
const BYTES_MAX: usize = 64 * 1024;
const INDENT: &str = "    ";

/// Lines that are not indented and may say what is shown (how much was kept, that the rest was
/// cut), stand blank around it or fence it, and the bytes they may have.
const NOTES_MAX: usize = 6;
const NOTES_BYTES_MAX: usize = 1024;

/// Reports the first line that is too much.
pub(super) fn check(section: &Section<'_>, report: &mut Report) {
    let last = section.lines.iter().rposition(|line| !line.text.is_empty());
    let lines = section.lines.iter().take(last.map_or(0, |last| last + 1));
    let (mut shown, mut bytes, mut notes, mut note_bytes) = (0, 0, 0, 0);
    for line in lines.skip_while(|line| line.text.is_empty()) {
        let stream = line.text.strip_prefix(INDENT);
        if stream.is_none() && notes < NOTES_MAX && note_bytes + line.text.len() <= NOTES_BYTES_MAX
        {
            notes += 1;
            note_bytes += line.text.len();
            continue;
        }
        shown += 1;
        bytes += stream.unwrap_or(line.text).len();
        let what = match (shown > LINES_MAX, bytes > BYTES_MAX) {
            (true, _) => format!("{LINES_MAX} lines"),
            (_, true) => format!("{} KiB", BYTES_MAX / 1024),
            _ => continue,
        };
        let message = format!("`## {}`: more than {what} of the stream", section.title);
        let hint = "cut it here, say so, and leave the whole stream in its file";
        report.error_hint(Code::ResultTooLong, line.spot(0), message, hint);
        return;
    }
}
