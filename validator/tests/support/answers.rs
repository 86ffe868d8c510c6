//! The guarantees of every answer of the validator, for any input, shared with the fuzz targets. It
//! must never contain an exception, and never use private items of the crate.
#![allow(dead_code, reason = "each program uses a part")]
#![allow(unreachable_pub, reason = "a test uses it itself, the fuzz targets from outside")]

use model::{UtcTime, escape_line};
use validator::{
    ApprovalRequirement, DocumentKind, Draft, DraftCheck, FileLocation, OwnerUid,
    REQUEST_BYTES_MAX, Severity, Violation, Work, check_result, command_words, lint,
    withholding_code,
};

const ROWS_MAX: usize = 1000;
const MESSAGE_CHARS_MAX: usize = 4096;
const REQUEST_NAME: &str = "TR-20260209-160501Z-python-stats.md";
const RESULT_NAME: &str = "TS-20260209-161030Z-TR-20260209-160501Z-python-stats.md";

fn now() -> UtcTime {
    UtcTime::from_unix(1_770_660_000)
}

fn fails(rows: &[Violation]) -> bool {
    rows.iter().any(|row| row.severity == Severity::Error)
}

/// Checks the bytes as a request, in the spool and elsewhere.
pub fn of_request(bytes: &[u8]) {
    let spooled = check(bytes, FileLocation::Spool);
    let Some(DraftCheck { violations, verdict }) = spooled else { return };
    rows_fit(&violations, bytes);
    assert_eq!(verdict.is_err(), fails(&violations), "the verdict is not what the rows say");
    match verdict {
        Ok(request) => {
            assert_eq!(request.bytes(), bytes, "the bytes changed on the way");
            of_work(request.work());
        }
        Err(refused) => assert_eq!(refused.bytes(), bytes, "the bytes changed on the way"),
    }
    of_lint(bytes, REQUEST_NAME);
}

fn of_work(work: &Work) {
    match work {
        Work::Command { argv, line } => {
            assert!(!argv.is_empty(), "accepted without a command");
            let alone = command_words(line);
            assert_eq!(alone.as_deref(), Ok(&argv[..]), "the line alone reads otherwise");
        }
        Work::Code(code) => assert!(!code.text().trim().is_empty(), "accepted without code"),
    }
}

/// Returns the answer of [`Draft::check`]; None for a text too large for a draft.
fn check(bytes: &[u8], place: FileLocation) -> Option<DraftCheck> {
    let draft = Draft::new(bytes.to_vec(), REQUEST_NAME, OwnerUid::new(1000));
    assert_eq!(draft.is_err(), bytes.len() > REQUEST_BYTES_MAX);
    Some(draft.ok()?.check(place, now()))
}

/// Lint agrees with the check, twice in a row, and reports no more about an unapproved draft.
fn of_lint(bytes: &[u8], name: &str) {
    let (kind, rows) = lint(bytes, name, ApprovalRequirement::Approved, now());
    rows_fit(&rows, bytes);
    if kind == DocumentKind::Result {
        assert_eq!(rows, check_result(bytes, name), "lint and check differ");
        return;
    }
    if name != REQUEST_NAME {
        assert_eq!((kind, rows), lint(bytes, name, ApprovalRequirement::Approved, now()));
        return;
    }
    let checked = check(bytes, FileLocation::Elsewhere);
    assert_eq!(checked.map(|it| it.violations).as_ref(), Some(&rows), "lint and check differ");
    let (_, drafted) = lint(bytes, name, ApprovalRequirement::DraftOnly, now());
    rows_fit(&drafted, bytes);
    assert!(fails(&rows) || !fails(&drafted), "a draft is asked for more than a request");
}

/// Checks the bytes as a result, and as a file whose name shows no kind.
pub fn of_result(bytes: &[u8]) {
    let rows = check_result(bytes, RESULT_NAME);
    rows_fit(&rows, bytes);
    assert_eq!(rows, check_result(bytes, RESULT_NAME));
    of_lint(bytes, RESULT_NAME);
    of_lint(bytes, "notes.md");
}

/// Checks a text as a command line. Accepted words, single-quoted again, give the same words.
pub fn of_command(text: &str) {
    match command_words(text) {
        Ok(words) => {
            assert!(!words.is_empty(), "accepted without a word");
            let quoted: Vec<String> =
                words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
            assert_eq!(command_words(&quoted.join(" ")), Ok(words), "{quoted:?}");
        }
        Err(rows) => {
            assert!(fails(&rows), "refused without an error");
            rows_fit(&rows, text.as_bytes());
        }
    }
}

/// Checks every line as a line of a tool's output.
pub fn of_lines(text: &str) {
    for line in text.lines() {
        let shown = escape_line(line);
        let plain = |c: char| c == '\t' || !c.is_control();
        assert!(shown.chars().all(plain), "{shown:?}");
        assert_eq!(escape_line(&shown), shown, "what is shown needs no more escaping");
        if let Some(code) = withholding_code(line) {
            let code = code.as_str();
            assert!(["secret.", "result."].iter().any(|it| code.starts_with(it)), "{code}");
        }
    }
}

/// Every violation is in order, of bounded size, printable, and at a position in the text.
fn rows_fit(rows: &[Violation], bytes: &[u8]) {
    assert!(rows.len() <= ROWS_MAX, "{} rows", rows.len());
    assert!(rows.is_sorted_by_key(|row| (row.line, row.column)), "not by place: {rows:#?}");
    let text = String::from_utf8_lossy(bytes);
    let widths: Vec<usize> = text.split('\n').map(|line| line.chars().count()).collect();
    for row in rows {
        // A hint may have several lines: those to add to the file.
        let hint = row.hint.iter().flat_map(|hint| hint.chars().filter(|c| *c != '\n'));
        let shown = row.message.chars().chain(hint);
        assert!(shown.clone().count() <= MESSAGE_CHARS_MAX, "{row:?}");
        assert!(!row.message.is_empty() && !shown.clone().any(char::is_control), "{row:?}");
        let width = match row.line.checked_sub(1) {
            Some(index) => widths.get(index).copied(),
            None => Some(0),
        };
        let Some(width) = width else { panic!("no such line: {row:?}") };
        // The position right after the last character is valid: text is missing there.
        assert!(row.column <= width + 1, "no such column in {width}: {row:?}");
        assert!(row.line > 0 || row.column == 0, "a column of no line: {row:?}");
        assert!(row.width == 0 || row.column > 0, "a width of no column: {row:?}");
        assert!(row.width == 0 || row.column + row.width <= width + 1, "in {width}: {row:?}");
    }
}
