//! Finds encoded payloads: programs in base64, hexadecimal digits or escapes, commands and data
//! URLs in base64. A check runs at its literals, and must only look at a bounded number of bytes.

use std::ops::Range;

use super::window::{LiteralCheck, window_after, window_before};

/// The literals, matched in any case, and the check of the text around them.
pub(super) const CHECKS: [(LiteralCheck, &[&str]); 7] = [
    (base64_program, BASE64_PROGRAMS),
    (base64_script, &["IyEvYmlu", "IyEvdXNyL2Jpb", "IyEgL2Jpb"]),
    (hex_program, &["7f454c4601", "7f454c4602", "4d5a9000", "cffaedfe0", "cafebabe0000"]),
    (
        hex_array,
        &["0x7f, 0x45, 0x4c, 0x46", "0x7f,0x45,0x4c,0x46", "0x4d, 0x5a, 0x90", "0x4d,0x5a,0x90"],
    ),
    (escaped_program, ESCAPED_PROGRAMS),
    (data_url, &["data:"]),
    (encoded_command, &["-encodedcommand", "-enc ", "-ec ", "-e "]),
];

/// Base64 of ELF, PE, Mach-O, Java classes and fat binaries, WebAssembly, Dalvik.
const BASE64_PROGRAMS: &[&str] = &[
    "f0VMRgEB",
    "f0VMRgIB",
    "f0VMRgEC",
    "f0VMRgIC",
    "TVqQAA",
    "TVpQAA",
    "TVoAAA",
    "TVqAAA",
    "TVroAA",
    "TVpBUl",
    "z/rt/g",
    "z_rt_g",
    "zvrt/g",
    "zvrt_g",
    "yv66vgAA",
    "AGFzbQEAAA",
    "ZGV4CjAz",
];

const ESCAPED_PROGRAMS: &[&str] = &[
    r"\x7fELF\x0",
    r"\x7f\x45\x4c\x46",
    r"\u{7f}ELF\u{",
    r"\u007fELF\u",
    r"\177ELF\",
    r"MZ\x90\x00",
    r"\x4d\x5a\x90\x00",
    "\u{7f}ELF",
];

/// The number of bytes to examine around a literal.
const WINDOW_BYTES: usize = 128;

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

/// Returns the number of bytes of this kind from here on, up to `most`.
fn run(line: &str, from: usize, most: usize, kind: impl Fn(u8) -> bool) -> usize {
    line.bytes().skip(from).take(most).take_while(|&byte| kind(byte)).count()
}

/// Returns true if a run of at least `least` such bytes begins here.
fn begins_run(line: &str, at: usize, least: usize, kind: impl Fn(u8) -> bool) -> bool {
    let before = at.checked_sub(1).and_then(|at| line.as_bytes().get(at));
    !before.is_some_and(|&byte| kind(byte) && byte != b'=') && run(line, at, least, kind) == least
}

/// Returns true if the literal matches in case, which is significant in base64.
fn exact(line: &str, at: &Range<usize>, literals: &[&str]) -> bool {
    line.get(at.clone()).is_some_and(|found| literals.contains(&found))
}

fn base64_program(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 48;
    let whole = exact(line, &at, BASE64_PROGRAMS) && begins_run(line, at.start, LEAST, is_base64);
    whole.then(|| at.start..at.start + LEAST)
}

fn base64_script(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 20;
    let exact = exact(line, &at, &["IyEvYmlu", "IyEvdXNyL2Jpb", "IyEgL2Jpb"]);
    let whole = exact && begins_run(line, at.start, LEAST, is_base64);
    whole.then(|| at.start..at.start + LEAST)
}

/// Matches more digits than the longest digest: some digests begin like a program by chance.
fn hex_program(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 132;
    begins_run(line, at.start, LEAST, |byte| byte.is_ascii_hexdigit())
        .then(|| at.start..at.start + LEAST)
}

fn hex_array(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 64;
    let array = |byte: u8| byte.is_ascii_hexdigit() || b"x, ".contains(&byte);
    (run(line, at.start, LEAST, array) == LEAST).then(|| at.start..at.start + LEAST)
}

/// Requires text after the magic number: a careful script compares with the number alone.
fn escaped_program(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 40;
    let text = |byte: u8| !byte.is_ascii_whitespace() && !b"\"'`".contains(&byte);
    (run(line, at.end, LEAST, text) == LEAST).then_some(at)
}

/// Matches `data:text/html;base64,…` and other types that run when opened.
fn data_url(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const ACTIVE: [&str; 20] = [
        "text/html",
        "application/xhtml+xml",
        "text/javascript",
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "text/x-python",
        "application/x-python",
        "text/x-shellscript",
        "text/x-sh",
        "application/x-sh",
        "application/x-shellscript",
        "application/x-msdownload",
        "application/x-dosexec",
        "application/x-msdos-program",
        "application/x-executable",
        "application/x-elf",
        "application/x-mach-binary",
        "application/java-archive",
        "application/wasm",
    ];
    let (head, _) = window_after(line, at.end, WINDOW_BYTES).split_once(',')?;
    let mut parts = head.split(';');
    let kind = parts.next()?.trim().to_ascii_lowercase();
    let base64 = parts.any(|part| part.trim().eq_ignore_ascii_case("base64"));
    (base64 && ACTIVE.contains(&kind.as_str())).then(|| at.start..at.end + head.len())
}

/// Matches PowerShell's command in base64 of UTF-16.
fn encoded_command(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 20;
    let rest = line.get(at.end..)?;
    let blanks = rest.bytes().take(WINDOW_BYTES).take_while(|byte| b" \"'".contains(byte)).count();
    if run(line, at.end + blanks, LEAST, is_base64) < LEAST {
        return None;
    }
    let named = line.get(at.clone()).is_some_and(|option| option.len() > "-enc ".len());
    let before = || window_before(line, at.start, WINDOW_BYTES).to_ascii_lowercase();
    let powershell = |text: String| text.contains("powershell") || text.contains("pwsh");
    ((named && blanks > 0) || powershell(before())).then(|| at.start..at.end + blanks + LEAST)
}
