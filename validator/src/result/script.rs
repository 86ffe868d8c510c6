//! Finds executable payloads in text: scripts, script in HTML, one-liners that decode and execute.
//! A check runs at its literals, and must only look at a bounded number of bytes.

use std::ops::Range;

use model::Language;

use super::window::{LiteralCheck, window_after, window_before};

/// The literals, matched in any case, and the check of the text around them.
pub(super) const CHECKS: [(LiteralCheck, &[&str]); 6] = [
    (shebang, &["#!"]),
    (script_element, &["<script"]),
    (script_url, &["javascript:", "vbscript:"]),
    (event_handler, EVENT_HANDLERS),
    (decoded_to_shell, &["base64 "]),
    (decoded_and_executed, &["eval(", "exec(", "system(", "popen("]),
];

const EVENT_HANDLERS: &[&str] = &[
    "onerror=",
    "onload=",
    "onclick=",
    "onmouseover=",
    "onmouseenter=",
    "onfocus=",
    "onblur=",
    "ontoggle=",
    "onbegin=",
    "onpointerover=",
    "oninput=",
    "onchange=",
    "onsubmit=",
    "onkeydown=",
    "onscroll=",
    "onanimationstart=",
];

const WINDOW_BYTES: usize = 128;

/// Matches `#!/bin/sh` at the start of the line.
fn shebang(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    // A character other than a blank before it ends the scan at once.
    let first = line.bytes().take(at.start).all(|byte| byte.is_ascii_whitespace());
    let program = window_after(line, at.end, WINDOW_BYTES).trim_start_matches([' ', '\t']);
    let path = program.strip_prefix('/')?;
    (first && path.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(at.start..line.len())
}

fn script_element(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    let after = line.get(at.end..).and_then(|rest| rest.chars().next());
    after.is_none_or(|c| c.is_whitespace() || matches!(c, '>' | '/')).then_some(at)
}

/// Matches a URL that calls or assigns; `javascript: 3` is a count of lines.
fn script_url(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const URL_HEAD: usize = 48;
    let before = window_before(line, at.start, 1);
    let end = |c: char| c.is_whitespace() || "\"'`<>".contains(c);
    let body = window_after(line, at.end, URL_HEAD).split(end).next().unwrap_or("");
    let does = body.contains(['(', '=', '%']) || body.starts_with("//");
    let word = before.contains(|c: char| c.is_alphanumeric() || c == '_');
    (does && !word).then(|| at.start..at.end + body.len())
}

fn event_handler(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    let before = window_before(line, at.start, WINDOW_BYTES);
    let attribute = before.ends_with(|c: char| c.is_whitespace() || "\"'/".contains(c));
    let tag = || {
        let open = before.rfind('<').and_then(|open| before.get(open + 1..));
        open.is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains('>')
        })
    };
    (attribute && tag()).then_some(at)
}

/// Programs that belong to no language and execute text piped into them.
const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ksh", "ash", "perl", "php"];

fn executes(program: &str) -> bool {
    SHELLS.contains(&program)
        || Language::ALL.iter().any(|language| language.runtime().piped_names.contains(&program))
}

/// Returns the program at the start of a text, without its directory.
fn program(text: &str) -> &str {
    let text = text.trim_start().strip_prefix("sudo ").unwrap_or(text).trim_start();
    let word = text.split(|c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c))).next();
    word.unwrap_or("").rsplit('/').next().unwrap_or("")
}

/// Matches `base64 -d x | sh` or `eval "$(base64 -d x)"`.
fn decoded_to_shell(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const OPTIONS: [&str; 4] = ["-d", "--decode", "-D", "-di"];
    let after = window_after(line, at.end, WINDOW_BYTES);
    let option = after.split_whitespace().next().unwrap_or("");
    if !OPTIONS.contains(&option.trim_end_matches([')', '"', '\'', '|', '`'])) {
        return None;
    }
    let piped = after.match_indices('|').find_map(|(pipe, _)| {
        let shell = after.get(pipe + 1..).is_some_and(|text| executes(program(text)));
        shell.then_some(pipe)
    });
    let before = window_before(line, at.start, WINDOW_BYTES);
    let within = || {
        let open = before.rfind("$(").or_else(|| before.rfind("<("));
        let head = open.and_then(|open| before.get(..open)).unwrap_or("").trim_end();
        let head = head.trim_end_matches(['"', '\'']).trim_end();
        ["eval", "sh -c", "bash", "source"].iter().any(|word| head.ends_with(word))
    };
    piped.map(|pipe| at.start..at.end + pipe).or_else(|| within().then_some(at))
}

/// Matches `eval(base64_decode(…` or `exec(__import__(…`.
fn decoded_and_executed(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    const CALL_BYTES_MAX: usize = 48;
    const DECODERS: [&str; 18] = [
        "base64_decode(",
        "base64.b64decode(",
        "b64decode(",
        "atob(",
        "window.atob(",
        "gzinflate(",
        "gzuncompress(",
        "str_rot13(",
        "__import__(",
        "zlib.decompress(",
        "bytes.fromhex(",
        "codecs.decode(",
        "marshal.loads(",
        "string.fromcharcode(",
        "buffer.from(",
        "unescape(",
        "requests.get(",
        "urllib.request.urlopen(",
    ];
    let literal = line.get(at.clone())?;
    let calls = literal.starts_with(['e', 'E']);
    // `execvp(` and `retrieval(` are other words.
    let word = window_before(line, at.start, 1).contains(|c: char| c.is_alphanumeric());
    let code = window_after(line, at.end, CALL_BYTES_MAX).trim_start();
    let code = after_word(code, "compile(").map_or(code, str::trim_start);
    let decodes = DECODERS.iter().any(|decoder| after_word(code, decoder).is_some());
    let import = code.starts_with("__import__(");
    (decodes && !word && (calls || !import)).then_some(at)
}

/// Returns the rest of a text after this prefix, ignoring ASCII case.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}
