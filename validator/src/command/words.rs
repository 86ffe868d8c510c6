//! Splits the command into words by POSIX quoting rules, and reports each bare character that a
//! shell would interpret. It expands nothing; quoted characters are plain data.

use std::ops::Range;

use model::{SourceSpan, TextLine, has_invisible};

use super::braces;
use super::expansions::{self, CharQuoting, QuotedChar, begins_name, is_of_name};
use super::operators::QUOTE_IT;
use crate::code::Code;
use crate::report::Report;

/// The longest argument that Linux accepts (`MAX_ARG_STRLEN`, without its terminating NUL).
const WORD_BYTES_MAX: usize = 131_071;

pub(crate) struct ShellWord {
    pub(crate) text: String,
    /// The column in characters of the line, from 1.
    pub(crate) column: usize,
    /// The width in characters of the line, including quotes.
    pub(crate) width: usize,
    /// True if any character of the word was quoted.
    pub(crate) quoted: bool,
}

impl ShellWord {
    pub(crate) fn spot(&self, line: usize) -> SourceSpan {
        SourceSpan::new(line, self.column).with_width(self.width)
    }
}

/// Splits this byte range into words. Assignments before the command name are reported and omitted.
pub(crate) fn split(
    line: &TextLine<'_>,
    part: Range<usize>,
    report: &mut Report,
) -> Vec<ShellWord> {
    let before = line.text.get(..part.start).unwrap_or("").chars().count();
    let shown = line.text.get(part).unwrap_or("");
    let mut chars = Vec::with_capacity(shown.len());
    chars.extend(shown.chars());
    let mut splitter = Splitter {
        chars: &chars,
        at: 0,
        line: line.number,
        before,
        word: Vec::new(),
        started: None,
        named: false,
        bracket: None,
        parentheses: 0,
        words: Vec::new(),
        reported: Vec::new(),
        report,
    };
    splitter.run();
    splitter.words
}

pub(super) struct Splitter<'c, 'r> {
    pub(super) chars: &'c [char],
    /// The index of the next character.
    pub(super) at: usize,
    line: usize,
    before: usize,
    pub(super) word: Vec<QuotedChar>,
    pub(super) started: Option<usize>,
    /// True if the current word is a variable's name so far.
    pub(super) named: bool,
    /// The position of a `[` that a `]` would complete to a pattern.
    pub(super) bracket: Option<usize>,
    pub(super) parentheses: usize,
    pub(super) words: Vec<ShellWord>,
    reported: Vec<Code>,
    report: &'r mut Report,
}

impl Splitter<'_, '_> {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => {
                    self.end_word();
                    self.at += 1;
                }
                '#' if self.started.is_none() => {
                    let hint = "remove it, or quote the `#`";
                    self.report_once(
                        self.at..self.chars.len(),
                        Code::CommandComment,
                        "a comment",
                        hint,
                    );
                    break;
                }
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => self.escaped(),
                _ => self.bare(c),
            }
        }
        self.end_word();
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(super) fn rest(&self) -> &[char] {
        self.chars.get(self.at..).unwrap_or_default()
    }

    /// Reports a code at these characters, once per line.
    pub(super) fn report_once(&mut self, at: Range<usize>, code: Code, what: &str, hint: &str) {
        if !self.reported.contains(&code) {
            self.reported.push(code);
            let spot = SourceSpan::new(self.line, self.before + at.start + 1).with_width(at.len());
            self.report.error_hint(code, spot, format!("command: {what}"), hint);
        }
    }

    pub(super) fn next(&self, length: usize) -> Range<usize> {
        self.at..self.at + length
    }

    pub(super) fn push(&mut self, c: char, how: CharQuoting) {
        self.started.get_or_insert(self.at);
        self.named = how == CharQuoting::Bare
            && if self.word.is_empty() { begins_name(c) } else { self.named && is_of_name(c) };
        self.word.push((c, how));
        self.at += 1;
    }

    fn single_quoted(&mut self) {
        let open = self.open_quote();
        while let Some(c) = self.peek(0) {
            if c == '\'' {
                return self.close_quote();
            }
            self.push(c, CharQuoting::Quoted);
        }
        self.report_once(open..self.at, Code::CommandQuoting, "a `'` is not closed", "close it");
    }

    fn double_quoted(&mut self) {
        let open = self.open_quote();
        while let Some(c) = self.peek(0) {
            match c {
                '"' => return self.close_quote(),
                '\\' => {
                    if matches!(self.peek(1), Some('$' | '`' | '"' | '\\')) {
                        self.at += 1;
                    }
                    if let Some(next) = self.peek(0) {
                        self.push(next, CharQuoting::Quoted);
                    }
                }
                '$' => self.dollar(CharQuoting::Quoted),
                '`' => self.backquote(CharQuoting::Quoted),
                _ => self.push(c, CharQuoting::Quoted),
            }
        }
        self.report_once(open..self.at, Code::CommandQuoting, "a `\"` is not closed", "close it");
    }

    fn open_quote(&mut self) -> usize {
        let open = self.at;
        self.started.get_or_insert(open);
        self.at += 1;
        open
    }

    fn close_quote(&mut self) {
        self.at += 1;
        self.named = false;
        self.word.push(('\0', CharQuoting::QuoteEnd));
    }

    fn escaped(&mut self) {
        let open = self.open_quote();
        match self.peek(0) {
            Some(c) => self.push(c, CharQuoting::Quoted),
            None => {
                let what = "nothing follows the last `\\`";
                let hint = "write the command on one line";
                self.report_once(open..self.at, Code::CommandQuoting, what, hint);
            }
        }
    }

    pub(super) fn end_word(&mut self) {
        self.bracket = None;
        self.named = false;
        let Some(start) = self.started.take() else { return };
        let mut marked = std::mem::take(&mut self.word);
        self.end_marked(&marked, start..self.at);
        // The next word uses the same memory.
        marked.clear();
        self.word = marked;
    }

    fn end_marked(&mut self, marked: &[QuotedChar], raw: Range<usize>) {
        if let Some(tilde) = expansions::home_tilde(marked) {
            self.report_home(tilde, marked, raw.clone());
        }
        if braces::expands(self.chars.get(raw.clone()).unwrap_or_default()) {
            let what = "braces that bash would expand";
            self.report_once(raw.clone(), Code::CommandExpansion, what, QUOTE_IT);
        }
        if self.words.is_empty() && expansions::assignment(marked).is_some() {
            let hint = "remove it; policy sets the environment";
            let what = "an assignment before the command name";
            return self.report_once(raw, Code::CommandAssignment, what, hint);
        }
        self.finish(marked, raw);
    }

    fn report_home(&mut self, tilde: usize, marked: &[QuotedChar], raw: Range<usize>) {
        // Quotes before the tilde take columns that `marked` does not contain.
        let quoted = marked.iter().take(tilde).any(|(_, how)| *how != CharQuoting::Bare);
        let from = if quoted { raw.start } else { raw.start + tilde };
        let hint = "write a path below /in or /out";
        let what = "`~` means a home directory to a shell";
        self.report_once(from..raw.end, Code::CommandExpansion, what, hint);
    }

    fn finish(&mut self, marked: &[QuotedChar], raw: Range<usize>) {
        let quoted = marked.iter().any(|(_, how)| *how != CharQuoting::Bare);
        let seen = marked.iter().filter(|(_, how)| *how != CharQuoting::QuoteEnd);
        let mut text = String::with_capacity(marked.len());
        text.extend(seen.map(|(c, _)| *c));
        // After an assignment, no word is reserved.
        let first = self.words.is_empty() && !self.reported.contains(&Code::CommandAssignment);
        if first && !quoted && expansions::is_reserved(&text) {
            let what = format!("`{text}` is a word of the shell, not a program");
            let hint = "name the interpreter or tool itself; no shell runs the line";
            self.report_once(raw.clone(), Code::CommandShell, &what, hint);
        }
        if text.len() > WORD_BYTES_MAX {
            let what = format!("a word is longer than {WORD_BYTES_MAX} bytes");
            let hint = "put the data in an input file";
            self.report_once(raw.clone(), Code::TextTooLarge, &what, hint);
        }
        if has_invisible(&text) {
            let what = "a word contains an invisible character";
            self.report_once(raw.clone(), Code::TextConfusable, what, "remove it");
        }
        let column = self.before + raw.start + 1;
        self.words.push(ShellWord { text, column, width: raw.len(), quoted });
    }
}
