//! The part of a stream that a result shows: at most the first 200 lines and 64 KiB (upstream's N;
//! the rest is in the stream's file). A line counts as a record writes it: indented, without the
//! indent. The check must never refuse a stream that a record may show.

use crate::code::Code;
use crate::report::Report;
use crate::sections::Section;

const LINES_MAX: usize = 200;
const BYTES_MAX: usize = 64 * 1024;
const INDENT: &str = "    ";

/// The maximum number of unindented lines, and their bytes. They may state the shown part or the
/// cut, be blank, or form a fence.
const NOTES_MAX: usize = 6;
const NOTES_BYTES_MAX: usize = 1024;

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
        let hint = "cut it here, state that, and leave the whole stream in its file";
        report.error_hint(Code::ResultTooLong, line.span_at(0), message, hint);
        return;
    }
}
