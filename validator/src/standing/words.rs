//! `## Command` of a standing approval: one word a line, `- WORD`. A word is a literal, or a literal
//! beginning and one value in braces. Optional or repeated words do not exist: the admitted commands
//! could be listed.

use model::{SourceSpan, TextLine, quote};

use super::model::{TemplateWord, WordValue};
use crate::code::Code;
use crate::report::Report;
use crate::sections::Section;

const WORDS_MAX: usize = 200;
const WORD_BYTES_MAX: usize = 4096;

/// A word with its position.
pub(super) struct ReadWord {
    pub(super) word: TemplateWord,
    pub(super) span: SourceSpan,
}

pub(super) fn read(section: &Section<'_>, report: &mut Report) -> Vec<ReadWord> {
    let mut found = Vec::new();
    for line in section.lines.iter().filter(|line| !line.text.trim().is_empty()) {
        let span = SourceSpan::new(line.number, 1);
        let Some(text) = word_text(line) else {
            let message = "`## Command`: this line is not one word";
            let hint = "write each word on a line of its own, as `- WORD`";
            report.error_hint(Code::StandingWord, span, message, hint);
            continue;
        };
        match parse(text) {
            Ok(word) => found.push(ReadWord { word, span }),
            Err((code, why, hint)) => {
                let message = format!("`## Command`: {} {why}", quote(text));
                report.error_hint(code, span, message, hint);
            }
        }
    }
    if found.len() > WORDS_MAX {
        let message = format!("`## Command`: more than {WORDS_MAX} words");
        report.error(Code::StandingWord, section.spot, message);
    }
    match found.first().map(|first| &first.word) {
        None if !report.failed() => {
            report.error(Code::CommandEmpty, section.spot, "`## Command`: the command is missing");
        }
        Some(TemplateWord::Value { .. }) => {
            let message = "`## Command`: the program is a parameter";
            let hint = "write the name of the program as the first word";
            let span = found.first().map_or(section.spot, |first| first.span);
            report.error_hint(Code::StandingProgram, span, message, hint);
        }
        _ => {}
    }
    found
}

fn word_text<'a>(line: &TextLine<'a>) -> Option<&'a str> {
    let text = line.text.strip_prefix("- ")?;
    let is_one = !text.is_empty() && text.trim() == text && text.len() <= WORD_BYTES_MAX;
    (is_one && !model::has_deceptive(text) && text.is_ascii()).then_some(text)
}

type WordProblem = (Code, &'static str, &'static str);

fn parse(text: &str) -> Result<TemplateWord, WordProblem> {
    let Some((beginning, rest)) = text.split_once('{') else {
        return match text.contains('}') {
            true => Err((Code::StandingWord, "has a `}` without a `{`", "write `{name}`")),
            false => Ok(TemplateWord::Literal(text.to_owned())),
        };
    };
    let Some((name, after)) = rest.split_once('}') else {
        return Err((Code::StandingWord, "has a `{` without a `}`", "write `{name}`"));
    };
    if after.contains('{') {
        let hint = "give each parameter a word of its own";
        return Err((Code::StandingWord, "has two values", hint));
    }
    if !after.is_empty() {
        let hint = "end the word with the value";
        return Err((Code::StandingWord, "goes on after its value", hint));
    }
    if !(beginning.is_empty() || beginning.ends_with('=')) {
        let hint = "write the value alone, or after a beginning such as `--flag=`";
        return Err((Code::StandingWord, "has a beginning that does not end in `=`", hint));
    }
    let value = match name.strip_prefix("in:") {
        Some(slot) => WordValue::Slot(slot.to_owned()),
        None => WordValue::Parameter(name.to_owned()),
    };
    Ok(TemplateWord::Value { beginning: beginning.to_owned(), value })
}
