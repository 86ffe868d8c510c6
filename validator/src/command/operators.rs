//! Each bare shell operator: code, message, length. It must never decide if characters are bare.

use crate::code::Code;

pub(crate) struct Operator {
    pub(crate) code: Code,
    pub(crate) what: &'static str,
    pub(crate) hint: &'static str,
    /// The length in characters.
    pub(crate) length: usize,
}

/// All operators. Of two that match, the longer one comes first, as in bash.
const OPERATORS: [(&str, Code, &str); 28] = [
    ("&>>", Code::CommandRedirection, "`&>>` redirects all output"),
    ("&>", Code::CommandRedirection, "`&>` redirects all output"),
    ("&&", Code::CommandChaining, "`&&` chains commands"),
    ("&", Code::CommandBackground, "`&` runs it in the background"),
    ("||", Code::CommandChaining, "`||` chains commands"),
    ("|&", Code::CommandPipeline, "`|&` makes a pipeline"),
    ("|", Code::CommandPipeline, "`|` makes a pipeline"),
    (";;&", Code::CommandChaining, "`;;&` ends a part of `case`"),
    (";;", Code::CommandChaining, "`;;` ends a part of `case`"),
    (";&", Code::CommandChaining, "`;&` ends a part of `case`"),
    (";", Code::CommandChaining, "`;` chains commands"),
    ("<<<", Code::CommandHeredoc, "`<<<` begins a here-string"),
    ("<<-", Code::CommandHeredoc, "`<<-` begins a here-document"),
    ("<<", Code::CommandHeredoc, "`<<` begins a here-document"),
    ("<(", Code::CommandSubstitution, "`<(` substitutes a process"),
    (">(", Code::CommandSubstitution, "`>(` substitutes a process"),
    ("<&-", Code::CommandRedirection, "`<&-` closes a stream"),
    (">&-", Code::CommandRedirection, "`>&-` closes a stream"),
    ("<&", Code::CommandRedirection, "`<&` redirects input"),
    (">&", Code::CommandRedirection, "`>&` redirects output"),
    ("<>", Code::CommandRedirection, "`<>` redirects input and output"),
    (">>", Code::CommandRedirection, "`>>` redirects output"),
    (">|", Code::CommandRedirection, "`>|` redirects output"),
    ("<", Code::CommandRedirection, "`<` redirects input"),
    (">", Code::CommandRedirection, "`>` redirects output"),
    ("((", Code::CommandSubshell, "an unquoted `((`"),
    ("(", Code::CommandSubshell, "an unquoted `(`"),
    (")", Code::CommandSubshell, "an unquoted `)`"),
];

/// Returns the operator at the start of these characters.
pub(crate) fn first(chars: &[char]) -> Option<Operator> {
    let fits = |text: &str| {
        text.chars().enumerate().all(|(index, c)| chars.get(index).is_some_and(|&next| next == c))
    };
    let (text, code, what) = OPERATORS.into_iter().find(|(text, ..)| fits(text))?;
    Some(Operator { code, what, hint: hint(text, code), length: text.len() })
}

fn hint(text: &str, code: Code) -> &'static str {
    match code {
        Code::CommandChaining if text.starts_with('|') => {
            "let the tool handle its own failure; no shell decides what runs next"
        }
        Code::CommandChaining => "write one request for each command",
        Code::CommandPipeline => "let the tool write to /out, or do both steps in one script",
        Code::CommandBackground => "remove the `&`; the run waits for the tool",
        Code::CommandHeredoc => "put the text in a declared input and name it below /in",
        Code::CommandRedirection if text.starts_with('<') => {
            "give the tool the path of a declared input below /in as an argument"
        }
        Code::CommandRedirection => {
            "give the tool the path of an output below /out; stdout and stderr are kept anyway"
        }
        _ => QUOTE_IT,
    }
}

pub(crate) const QUOTE_IT: &str = "put it in single quotes to pass it to the tool unchanged";
