//! Splits the command into words by POSIX quoting rules and says of every bare character what a
//! shell would have made of it. Nothing is expanded here; quoted characters are only data.

use std::ops::Range;

use super::WORD_BYTES_MAX;
use super::braces::{self, Marked};
use crate::code::Code;
use crate::report::{Report, Spot};
use crate::text::{Line, has_invisible};

pub(crate) struct Word {
    pub(crate) text: String,
    /// From 1, in characters of the line.
    pub(crate) column: usize,
    /// Whether any character of it was quoted.
    pub(crate) quoted: bool,
}

/// The words of these bytes of the line. Assignments before the command name are reported and
/// left out.
pub(crate) fn split(line: &Line<'_>, part: Range<usize>, report: &mut Report) -> Vec<Word> {
    let before = line.text.get(..part.start).unwrap_or("").chars().count();
    let chars: Vec<char> = line.text.get(part).unwrap_or("").chars().collect();
    let mut splitter = Splitter {
        chars: &chars,
        at: 0,
        line: line.number,
        before,
        word: Vec::new(),
        started: None,
        parentheses: 0,
        backquotes: 0,
        words: Vec::new(),
        told: Vec::new(),
        report,
    };
    splitter.run();
    splitter.words
}

struct Splitter<'c, 'r> {
    chars: &'c [char],
    at: usize,
    line: usize,
    before: usize,
    word: Vec<Marked>,
    started: Option<usize>,
    parentheses: usize,
    backquotes: usize,
    words: Vec<Word>,
    told: Vec<Code>,
    report: &'r mut Report,
}

impl Splitter<'_, '_> {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => {
                    self.at += 1;
                    self.end_word();
                }
                '#' if self.started.is_none() => {
                    self.tell(Code::CommandComment, "a comment", "leave it out, or quote the `#`");
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

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Reports each code once for the line, at the character that is next.
    fn tell(&mut self, code: Code, what: &str, hint: &str) {
        self.tell_at(self.at, code, what, hint);
    }

    fn tell_at(&mut self, index: usize, code: Code, what: &str, hint: &str) {
        if !self.told.contains(&code) {
            self.told.push(code);
            let spot = Spot::new(self.line, self.before + index + 1);
            self.report.error_hint(code, spot, format!("command: {what}"), hint);
        }
    }

    fn push(&mut self, c: char, quoted: bool) {
        self.started.get_or_insert(self.at);
        self.word.push((c, quoted));
        self.at += 1;
    }

    fn single_quoted(&mut self) {
        let open = self.at;
        self.started.get_or_insert(open);
        self.at += 1;
        while let Some(c) = self.peek(0) {
            if c == '\'' {
                self.at += 1;
                // An empty quoted part still makes the word count as quoted.
                self.word.push(QUOTE_SEEN);
                return;
            }
            self.push(c, true);
        }
        self.tell_at(open, Code::CommandQuoting, "a `'` is not closed", "close it");
    }

    fn double_quoted(&mut self) {
        let open = self.at;
        self.started.get_or_insert(open);
        self.at += 1;
        while let Some(c) = self.peek(0) {
            match c {
                '"' => {
                    self.at += 1;
                    self.word.push(QUOTE_SEEN);
                    return;
                }
                '\\' => {
                    if matches!(self.peek(1), Some('$' | '`' | '"' | '\\')) {
                        self.at += 1;
                    }
                    if let Some(next) = self.peek(0) {
                        self.push(next, true);
                    }
                }
                '$' => self.dollar(true),
                '`' => self.backquote(true),
                _ => self.push(c, true),
            }
        }
        self.tell_at(open, Code::CommandQuoting, "a `\"` is not closed", "close it");
    }

    fn escaped(&mut self) {
        let open = self.at;
        self.started.get_or_insert(open);
        self.at += 1;
        match self.peek(0) {
            Some(c) => self.push(c, true),
            None => {
                let what = "nothing follows the last `\\`";
                self.tell_at(open, Code::CommandQuoting, what, "write the command on one line");
            }
        }
    }

    fn dollar(&mut self, quoted: bool) {
        if self.peek(1) == Some('(') {
            let hint = "put `$(` in single quotes if the tool shall get it as it is";
            self.tell(Code::CommandSubstitution, "a command substitution `$(`", hint);
            self.push('$', quoted);
            if !quoted {
                self.parentheses += 1;
            }
            self.push('(', true);
            return;
        }
        let hint = "write the value itself, or put `$` in single quotes";
        self.tell(Code::CommandExpansion, "`$` asks a shell for an expansion", hint);
        self.push('$', quoted);
        if self.peek(0) == Some('{') {
            self.push('{', true);
        }
    }

    fn backquote(&mut self, quoted: bool) {
        self.backquotes += 1;
        let hint = "put it in single quotes if the tool shall get it as it is";
        self.tell(Code::CommandSubstitution, "a backquote substitutes a command", hint);
        self.push('`', quoted);
    }

    fn bare(&mut self, c: char) {
        match c {
            '$' => self.dollar(false),
            '`' => self.backquote(false),
            ';' | '&' | '|' | '<' | '>' => self.operator(c),
            '(' => {
                self.tell(Code::CommandSubshell, "a bare `(`", QUOTE_IT);
                self.parentheses += 1;
                self.skip(1);
            }
            ')' => {
                if self.parentheses == 0 {
                    self.tell(Code::CommandSubshell, "a bare `)`", QUOTE_IT);
                }
                self.parentheses = self.parentheses.saturating_sub(1);
                self.skip(1);
            }
            '*' | '?' | '[' => {
                self.tell(Code::CommandGlob, "a bare file name pattern", QUOTE_IT);
                self.push(c, false);
            }
            '~' if self.tilde_expands() => {
                let hint = "write a path below /in or /out";
                self.tell(Code::CommandExpansion, "`~` asks a shell for a home directory", hint);
                self.push(c, false);
            }
            _ if is_lookalike(c) => {
                let what = format!("U+{:04X} looks like a quote or a space", u32::from(c));
                self.tell(Code::TextConfusable, &what, "use plain quotes and spaces");
                self.push(c, false);
            }
            _ => self.push(c, false),
        }
    }

    /// At the start of a word, and after `=` or `:` where bash sees an assignment.
    fn tilde_expands(&self) -> bool {
        match self.word.last() {
            None => self.started.is_none(),
            Some((last, quoted)) => !quoted && (*last == '=' || *last == ':'),
        }
    }

    fn operator(&mut self, c: char) {
        let next = self.peek(1);
        let one = "a request runs exactly one command";
        let (code, what, length) = match (c, next) {
            (';', _) => (Code::CommandChaining, "`;` chains commands", 1),
            ('&', Some('&')) => (Code::CommandChaining, "`&&` chains commands", 2),
            ('|', Some('|')) => (Code::CommandChaining, "`||` chains commands", 2),
            ('|', Some('&')) => (Code::CommandPipeline, "`|&` makes a pipeline", 2),
            ('|', _) => (Code::CommandPipeline, "`|` makes a pipeline", 1),
            ('&', Some('>')) => (Code::CommandRedirection, "`&>` redirects output", 2),
            ('&', _) => (Code::CommandBackground, "`&` runs it in the background", 1),
            ('<', Some('<')) if self.peek(2) == Some('<') => {
                (Code::CommandHeredoc, "`<<<` begins a here-string", 3)
            }
            ('<', Some('<')) => (Code::CommandHeredoc, "`<<` begins a here-document", 2),
            ('<' | '>', Some('(')) => (Code::CommandSubstitution, "a process substitution", 2),
            (_, Some('&' | '|' | '>')) => (Code::CommandRedirection, "a redirection", 2),
            _ => (Code::CommandRedirection, "a redirection", 1),
        };
        if c == '<' && self.peek(1) == Some('!') && self.peek(2) == Some('-') {
            let hint = "write the command as plain text, without comments";
            self.tell(Code::CommandMarkup, "an HTML comment", hint);
        }
        let hint = match code {
            Code::CommandChaining | Code::CommandPipeline | Code::CommandBackground => one,
            Code::CommandRedirection => "stdout and stderr are kept anyway; name files by options",
            _ => QUOTE_IT,
        };
        self.tell(code, what, hint);
        if code == Code::CommandSubstitution {
            self.parentheses += 1;
        }
        self.skip(length);
    }

    /// Passes over an operator, which ends a word.
    fn skip(&mut self, length: usize) {
        self.at += length;
        self.end_word();
    }

    fn end_word(&mut self) {
        let Some(start) = self.started.take() else { return };
        let marked = std::mem::take(&mut self.word);
        let quoted = marked.iter().any(|(_, quoted)| *quoted);
        if braces::expansion(&marked) {
            self.tell_at(start, Code::CommandExpansion, "braces that bash would expand", QUOTE_IT);
        }
        if self.words.is_empty() && is_assignment(&marked) {
            let hint = "leave it out; the environment is the policy's";
            let what = "an assignment before the command name";
            self.tell_at(start, Code::CommandAssignment, what, hint);
            return;
        }
        let text: String = marked.iter().filter(|m| **m != QUOTE_SEEN).map(|(c, _)| *c).collect();
        if text.len() > WORD_BYTES_MAX {
            let what = format!("a word is longer than {WORD_BYTES_MAX} bytes");
            self.tell_at(start, Code::TextTooLarge, &what, "put the data in an input file");
        }
        if has_invisible(&text) {
            let what = "a word holds an invisible character";
            self.tell_at(start, Code::TextConfusable, what, "remove it");
        }
        let column = self.before + start + 1;
        self.words.push(Word { text, column, quoted });
    }
}

const QUOTE_IT: &str = "put it in single quotes if the tool shall get it as it is";

/// Marks that a quoted part ended here; NUL cannot be part of an accepted text.
const QUOTE_SEEN: Marked = ('\0', true);

/// `NAME=`, `NAME+=` or `NAME[…]=` with nothing of it quoted.
fn is_assignment(word: &[Marked]) -> bool {
    let mut name = word.iter().take_while(|(c, quoted)| !quoted && *c != '=');
    let Some((first, _)) = name.next() else { return false };
    let length = 1 + name.clone().count();
    let valid = first.is_ascii_alphabetic() || *first == '_';
    let rest = name.take_while(|(c, _)| *c != '[').enumerate().all(|(index, (c, _))| {
        c.is_ascii_alphanumeric() || *c == '_' || (*c == '+' && index + 2 == length)
    });
    valid && rest && word.get(length) == Some(&('=', false))
}

/// Characters that a reader takes for a quote or a space, and a shell does not.
fn is_lookalike(c: char) -> bool {
    matches!(
        c,
        '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{2018}'..='\u{201f}'
            | '\u{ff02}'
            | '\u{ff07}'
    )
}
