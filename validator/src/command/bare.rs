//! Reports characters outside single quotes that a shell would interpret: operators, expansions,
//! patterns. It continues, so that one pass shows every violation; it must never expand anything.

use std::ops::Range;

use super::expansions::{CharQuoting, begins_name, is_of_name};
use super::operators::{self, QUOTE_IT};
use super::words::Splitter;
use crate::code::Code;

impl Splitter<'_, '_> {
    pub(super) fn dollar(&mut self, how: CharQuoting) {
        if self.peek(1) == Some('(') {
            let hint = "put `$(` in single quotes to pass it to the tool unchanged";
            let what = "a command substitution `$(`";
            self.report_once(self.next(2), Code::CommandSubstitution, what, hint);
            self.push('$', how);
            if how == CharQuoting::Bare {
                self.parentheses += 1;
            }
            return self.push('(', CharQuoting::Quoted);
        }
        let hint = "write the value itself, or put `$` in single quotes";
        let name = self.rest().iter().skip(1).take_while(|c| is_of_name(**c)).count();
        let what = "`$` begins an expansion of a shell";
        self.report_once(self.next(1 + name), Code::CommandExpansion, what, hint);
        self.push('$', how);
        if self.peek(0) == Some('{') {
            self.push('{', CharQuoting::Quoted);
        }
    }

    pub(super) fn backquote(&mut self, how: CharQuoting) {
        let inside = self.rest().iter().skip(1).take_while(|c| **c != '`').count();
        let length = (inside + 2).min(self.chars.len() - self.at);
        let what = "a backquote substitutes a command";
        self.report_once(self.next(length), Code::CommandSubstitution, what, QUOTE_IT);
        self.push('`', how);
    }

    pub(super) fn bare(&mut self, c: char) {
        match c {
            '$' => return self.dollar(CharQuoting::Bare),
            '`' => return self.backquote(CharQuoting::Bare),
            ';' | '&' | '|' | '<' | '>' | '(' | ')' => return self.operator(),
            '*' | '?' => self.pattern(self.next(1)),
            '[' if self.named && self.words.is_empty() => return self.subscript(),
            '[' => self.bracket = self.bracket.or(Some(self.at)),
            '/' => self.bracket = None,
            ']' => {
                if let Some(open) = self.bracket {
                    self.pattern(open..self.at + 1);
                }
            }
            _ if is_lookalike(c) => {
                let what = format!("U+{:04X} looks like a quote or a space", u32::from(c));
                let hint = "use plain quotes and spaces";
                self.report_once(self.next(1), Code::TextConfusable, &what, hint);
            }
            _ => {}
        }
        self.push(c, CharQuoting::Bare);
    }

    fn pattern(&mut self, at: Range<usize>) {
        self.report_once(at, Code::CommandGlob, "an unquoted file name pattern", QUOTE_IT);
    }

    /// Handles `NAME[` in the position of a command name: bash reads on to the `]`, across blanks
    /// and operators. No reader sees such a word as bash does, so it is refused. An assignment has
    /// its own code.
    fn subscript(&mut self) {
        let length = subscript_length(self.rest());
        let after = self.rest().get(length..).unwrap_or_default();
        if after.starts_with(&['=']) || after.starts_with(&['+', '=']) {
            for c in self.chars.get(self.next(length)).unwrap_or_default() {
                self.push(*c, CharQuoting::Bare);
            }
            return;
        }
        self.pattern(self.next(1));
        self.push('[', CharQuoting::Bare);
    }

    fn operator(&mut self) {
        let Some(operator) = operators::first(self.rest()) else { return };
        let mut at = self.next(operator.length);
        if matches!(self.peek(0), Some('<' | '>'))
            && operator.code != Code::CommandSubstitution
            && self.names_a_stream()
        {
            at.start = self.started.take().unwrap_or(at.start);
            self.word.clear();
        }
        if self.rest().starts_with(&['<', '!', '-']) {
            let hint = "write the command as plain text, without comments";
            self.report_once(at.clone(), Code::CommandMarkup, "an HTML comment", hint);
        }
        let ends_an_inner = self.peek(0) == Some(')') && self.parentheses > 0;
        if !ends_an_inner {
            self.report_once(at.clone(), operator.code, operator.what, operator.hint);
        }
        let opened = self.chars.get(at.clone()).unwrap_or_default();
        self.parentheses += opened.iter().filter(|c| **c == '(').count();
        if self.peek(0) == Some(')') {
            self.parentheses = self.parentheses.saturating_sub(1);
        }
        self.end_word();
        self.at = at.end;
    }

    /// Returns true if the word so far is `2` or `{name}`, part of a redirection right after it.
    fn names_a_stream(&self) -> bool {
        let all_bare = self.word.iter().all(|(_, how)| *how == CharQuoting::Bare);
        let text: String = self.word.iter().map(|(c, _)| *c).collect();
        let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let number = text.chars().all(|c| c.is_ascii_digit());
        let name =
            inner.is_some_and(|name| name.starts_with(begins_name) && name.chars().all(is_of_name));
        all_bare && !text.is_empty() && (number || name)
    }
}

/// Returns the length of the leading bracket with its content, in characters.
fn subscript_length(chars: &[char]) -> usize {
    let mut depth = 0_usize;
    let end = chars.iter().position(|c| {
        depth = match c {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0
    });
    end.map_or(chars.len(), |end| end + 1)
}

/// Returns true for characters that a reader takes for a quote or a space, but a shell does not.
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
