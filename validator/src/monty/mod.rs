//! Requests of the monty backend: pure code in place of a command (upstream's later schema), or a
//! script. Checked so that a policy can decide. Code must never run elsewhere.

mod script;

use model::{Language, SourceSpan, TextLine, quote};
use serde_json::{Map, Value};

use crate::code::Code;
use crate::extension::ENVIRONMENT;
use crate::fields::FrontMatterFields;
use crate::json;
use crate::network::Network;
use crate::packages;
use crate::paths;
use crate::report::Report;
use crate::sections::{CODE, INPUTS, Section, Sections};

pub(crate) use self::script::{check_script, is_python_script};

/// Words that reach beyond pure computation (upstream's list). Like upstream, the check ignores
/// case and includes comments and strings: a word too many costs less than a parser.
const REFUSED_WORDS: [&str; 13] = [
    "import",
    "open",
    "exec",
    "eval",
    "compile",
    "__import__",
    "globals",
    "locals",
    "vars",
    "dir",
    "getattr",
    "setattr",
    "delattr",
];

/// Code of the monty backend and the values of its variables.
#[derive(Clone, Debug)]
pub struct PureCode {
    text: String,
    line: usize,
    inputs: Map<String, Value>,
    inputs_json: String,
}

/// Two codes are equal if they do the same. Their spelling and place in a document may differ.
impl PartialEq for PureCode {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.inputs) == (&other.text, &other.inputs)
    }
}

impl Eq for PureCode {}

impl PureCode {
    /// Returns the lines of `## Code`, without a fence around them.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line of the document on which the code begins.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the text of `## Inputs (JSON)` as written, without a fence around it; `{}` without
    /// the section. It may have numbers that the parsed object rounds.
    #[must_use]
    pub fn inputs_json(&self) -> &str {
        &self.inputs_json
    }

    /// The object of `## Inputs (JSON)`: variables and their values. Empty without the section.
    #[must_use]
    pub fn inputs(&self) -> &Map<String, Value> {
        &self.inputs
    }
}

/// Front matter fields that the backend may not support.
pub(crate) struct UnsupportedFields<'a> {
    pub(crate) language: Option<Language>,
    pub(crate) network: Option<&'a Network>,
    /// The number of declared input and output files, which pure code does not have.
    pub(crate) files: [usize; 2],
}

pub(crate) fn check_front_matter(
    fields: &FrontMatterFields<'_>,
    requested: &UnsupportedFields<'_>,
    report: &mut Report,
) {
    let mut refuse = |key: &str, message: &str, hint: &str| {
        let spot = fields.peek(key).map_or(fields.spot(), |node| node.spot);
        report.error_hint(Code::BackendMismatch, spot, format!("`{key}`: {message}"), hint);
    };
    if requested.language.is_some_and(|language| language != Language::Python) {
        refuse("language", "the monty backend runs python only", "write `language: python`");
    }
    if matches!(requested.network, Some(Network::Allowlist(_))) {
        refuse("network", "the monty backend has no network", "write `network: none`");
    }
    let [inputs, outputs] = requested.files;
    if inputs > 0 {
        let hint = "write `[]` and give values under `## Inputs (JSON)`, or write a `## Command`";
        refuse("inputs", "code of the monty backend has no files", hint);
    }
    if outputs > 0 {
        let hint = "write `[]`; the value of the code is its result";
        refuse("outputs_expected", "code of the monty backend has no files", hint);
    }
    if fields.peek(ENVIRONMENT).is_some() {
        refuse(ENVIRONMENT, "the monty backend has no environments", "remove the key");
    }
}

/// Reads `## Code` and, if present, `## Inputs (JSON)`.
pub(crate) fn read(sections: &Sections<'_>, report: &mut Report) -> Option<PureCode> {
    let code = sections.get(CODE)?;
    let text = code_of(code, report);
    let inputs = match sections.get(INPUTS) {
        Some(section) => inputs_of(section, report),
        None => Some((Map::new(), "{}".to_owned())),
    };
    let line = unfenced(&code.lines).first().map_or(code.spot.line, |line| line.number);
    let (inputs, inputs_json) = inputs?;
    Some(PureCode { text: text?, line, inputs, inputs_json })
}

fn code_of(section: &Section<'_>, report: &mut Report) -> Option<String> {
    let lines = unfenced(&section.lines);
    check_fences(section, lines, report);
    if lines.iter().all(|line| line.text.trim().is_empty()) {
        let hint = "write the code under the heading, in a fence or without";
        report.error_hint(Code::CodeEmpty, section.spot, "`## Code`: empty", hint);
        return None;
    }
    for line in lines {
        check_line(line, report);
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.text).collect();
    Some(lines.join("\n"))
}

/// Checks that the code is unfenced or within a single fence, marked as Python or unmarked.
fn check_fences(section: &Section<'_>, code: &[TextLine<'_>], report: &mut Report) {
    let is_fence = |text: &str| text.starts_with("```") || text.starts_with("~~~");
    let first = trimmed(&section.lines).first().map_or("", |line| line.text.trim());
    let language = first.trim_start_matches(['`', '~']).trim();
    if is_fence(first) && !["", "py", "python", "python3"].contains(&language) {
        let message = format!("`## Code`: the fence is marked {}, not python", quote(language));
        let hint = "mark it python; the monty backend runs nothing else";
        report.error_hint(Code::BackendMismatch, section.spot, message, hint);
    }
    // A line within a Python string may begin with the mark; then the code uses the other fence.
    let mark = first.get(..3).filter(|_| is_fence(first)).unwrap_or("```");
    if let Some(line) = code.iter().find(|line| line.text.trim_start().starts_with(mark)) {
        let message = "`## Code`: a fence inside the code";
        let hint = "put one fence around all of the code, or none";
        report.error_hint(Code::CodeForbidden, line.span_at(0), message, hint);
    }
}

fn check_line(line: &TextLine<'_>, report: &mut Report) {
    let refused = words(line.text)
        .find(|(_, word)| REFUSED_WORDS.iter().any(|refused| refused.eq_ignore_ascii_case(word)));
    if let Some((at, word)) = refused {
        let message = format!("code: {} is refused in the monty backend", quote(word));
        let hint = "compute with plain values; for files or modules write a `## Command`";
        let spot = line.span_at(at).with_width(word.chars().count());
        report.error_hint(Code::CodeForbidden, spot, message, hint);
    }
    if let Some((at, letter)) = line.text.char_indices().find(|(_, c)| is_folded(*c)) {
        let message = format!("code: Python reads U+{:04X} as another letter", u32::from(letter));
        report.error(Code::CodeForbidden, line.span_at(at).with_width(1), message);
    }
    let spot = SourceSpan::new(line.number, 0);
    paths::check_code(line.text, spot, report);
    if packages::mentions_install(line.text) {
        report.error(Code::PackageInstall, spot, "code: it installs packages");
    }
}

/// Returns the words of a line, each with its byte offset.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut offset = 0;
    text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_')).map(move |piece| {
        let at = offset;
        offset += piece.len();
        (at, piece.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_')))
    })
}

/// Returns true for letters that Python's identifiers fold to ASCII (NFKC): full-width,
/// mathematical, letter-like, super- and subscript, the long s, and those that become `_`.
fn is_folded(c: char) -> bool {
    matches!(
        c,
        '\u{aa}'
            | '\u{ba}'
            | '\u{17f}'
            | '\u{2b0}'..='\u{2b8}'
            | '\u{2e0}'..='\u{2e4}'
            | '\u{1d2c}'..='\u{1d6a}'
            | '\u{132}'..='\u{133}'
            | '\u{1c7}'..='\u{1cc}'
            | '\u{1f1}'..='\u{1f3}'
            | '\u{1d9c}'
            | '\u{1da0}'
            | '\u{1dbb}'
            | '\u{a7f2}'..='\u{a7f4}'
            | '\u{107a5}'
            | '\u{2071}'
            | '\u{207f}'
            | '\u{2090}'..='\u{209c}'
            | '\u{2100}'..='\u{214f}'
            | '\u{2160}'..='\u{217f}'
            | '\u{24b6}'..='\u{24e9}'
            | '\u{2c7c}'..='\u{2c7d}'
            | '\u{fb00}'..='\u{fb06}'
            | '\u{fe33}'..='\u{fe34}'
            | '\u{fe4d}'..='\u{fe4f}'
            | '\u{ff3f}'
            | '\u{ff21}'..='\u{ff3a}'
            | '\u{ff41}'..='\u{ff5a}'
            | '\u{1d400}'..='\u{1d7ff}'
    )
}

/// Returns the object, and its text as written.
fn inputs_of(section: &Section<'_>, report: &mut Report) -> Option<(Map<String, Value>, String)> {
    let lines = unfenced(&section.lines);
    let text: Vec<&str> = lines.iter().map(|line| line.text).collect();
    let text = text.join("\n");
    let first = lines.first().map_or(section.spot.line, |line| line.number);
    let inputs = match json::object(&text) {
        Ok(inputs) => inputs,
        Err((line, problem)) => {
            // serde_json counts columns in bytes, so only the line is reported.
            let spot = SourceSpan::new(first + line.saturating_sub(1), 0);
            let message = format!("`## Inputs (JSON)`: {problem}");
            let hint = "write one object, such as {\"rows\": [1, 2]}";
            report.error_hint(Code::CodeInputs, spot, message, hint);
            return None;
        }
    };
    let strange = inputs.keys().find(|key| !is_variable(key));
    if let Some(key) = strange {
        let message = format!("`## Inputs (JSON)`: {} is not the name of a variable", quote(key));
        let hint = "use letters, digits and `_`; no digit first, and no keyword of Python";
        report.error_hint(Code::CodeInputs, SourceSpan::new(first, 0), message, hint);
        return None;
    }
    Some((inputs, text))
}

/// Returns true for a valid name of a Python variable: each key becomes a variable of the code.
fn is_variable(name: &str) -> bool {
    const KEYWORDS: [&str; 35] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ];
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !KEYWORDS.contains(&name)
}

/// Returns the lines without surrounding blank lines and without one fence around the rest.
fn unfenced<'a, 'l>(lines: &'a [TextLine<'l>]) -> &'a [TextLine<'l>] {
    let lines = trimmed(lines);
    let [open, inner @ .., close] = lines else { return lines };
    let (open, close) = (open.text.trim(), close.text.trim());
    let fence = ["```", "~~~"].into_iter().find(|mark| open.starts_with(mark));
    match fence {
        Some(mark) if close == mark => trimmed(inner),
        _ => lines,
    }
}

fn trimmed<'a, 'l>(lines: &'a [TextLine<'l>]) -> &'a [TextLine<'l>] {
    let written = |line: &TextLine<'_>| !line.text.trim().is_empty();
    let start = lines.iter().position(written).unwrap_or(lines.len());
    let end = lines.iter().rposition(written).map_or(start, |last| last + 1);
    lines.get(start..end).unwrap_or_default()
}
