//! Splits a line into words with the meanings from the lexicon, and decides from the context
//! whether a word is an order or only reported. Words before a line must never add meaning to it: a
//! line that passes alone must also pass after the words of a record.

use std::ops::Range;

use super::lexicon::{
    DIRECTIVE, NEED, NEGATION, NOT_REPORTED, REPORT, TO, WordMeanings, meanings_of,
};

struct ResultToken {
    at: usize,
    end: usize,
    kinds: WordMeanings,
}

pub(super) struct ResultTokens<'a> {
    line: &'a str,
    words: Vec<ResultToken>,
}

impl<'a> ResultTokens<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        let kinds = |range| line.get(range).map(meanings_of).unwrap_or_default();
        let mut words = Vec::new();
        let mut start = None;
        // The end of the last letter or digit of the word.
        let mut end = 0;
        for (at, c) in line.char_indices() {
            if c.is_alphanumeric() || c == '_' {
                start = start.or(Some(at));
                end = at + c.len_utf8();
                continue;
            }
            if let Some(from) = start
                && (at > end || !matches!(c, '-' | '\'' | '’'))
            {
                words.push(ResultToken { at: from, end, kinds: kinds(from..end) });
                start = None;
            }
        }
        if let Some(from) = start {
            words.push(ResultToken { at: from, end, kinds: kinds(from..end) });
        }
        Self { line, words }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn is(&self, index: usize, of: WordMeanings) -> bool {
        self.words.get(index).is_some_and(|word| word.kinds.any(of))
    }

    pub(super) fn text(&self, index: usize) -> &'a str {
        self.words.get(index).and_then(|word| self.line.get(word.at..word.end)).unwrap_or("")
    }

    /// Returns the bytes from the beginning of one word to the end of another.
    pub(super) fn range(&self, first: usize, last: usize) -> Range<usize> {
        let at = self.words.get(first).map_or(0, |word| word.at);
        at..self.words.get(last).map_or(self.line.len(), |word| word.end)
    }

    /// Returns the text between the previous word, or the beginning of the line, and this one.
    pub(super) fn gap(&self, index: usize) -> &'a str {
        let before = index.checked_sub(1).and_then(|index| self.words.get(index));
        let from = before.map_or(0, |word| word.end);
        let to = self.words.get(index).map_or(self.line.len(), |word| word.at);
        self.line.get(from..to).unwrap_or("")
    }

    /// Returns true if the phrase continues from the previous word to this one.
    pub(super) fn joined(&self, index: usize) -> bool {
        index > 0
            && index < self.len()
            && self.gap(index).chars().all(|c| c.is_whitespace() || is_quote(c) || "*_".contains(c))
    }

    /// Skips at most `most` joined words of these kinds, and returns the index of the next word if
    /// it is joined and of another kind.
    pub(super) fn skip(&self, mut index: usize, over: WordMeanings, most: usize) -> Option<usize> {
        for _ in 0..=most {
            if !self.joined(index) {
                return None;
            }
            if !self.is(index, over) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// Returns true if a clause, a list item or a quotation begins with this word.
    pub(super) fn begins_clause(&self, index: usize) -> bool {
        const MARKS: &str = ":,;!?()[]{}<>|#—–•·=\t";
        let gap = self.gap(index);
        index == 0
            || gap.contains(|c| MARKS.contains(c))
            || gap.contains("  ")
            || gap.contains("- ")
            || gap.contains(". ")
            || gap.chars().next_back().is_some_and(is_quote)
    }

    /// Returns true if the word is an order to the reader, neither reported nor negated.
    pub(super) fn is_order(&self, index: usize) -> bool {
        let before = |back: usize| index.checked_sub(back);
        let demanded = before(1).is_some_and(|last| {
            let needed = self.is(last, TO)
                && self.joined(last)
                && before(2).is_some_and(|verb| self.is(verb, NEED));
            self.joined(index) && (self.is(last, DIRECTIVE) || needed)
        });
        (self.begins_clause(index) || demanded) && self.is_asserted(index)
    }

    /// Returns true if the word is neither negated nor reported.
    pub(super) fn is_asserted(&self, index: usize) -> bool {
        !self.is_negated(index) && !self.is_reported(index)
    }

    fn is_negated(&self, index: usize) -> bool {
        const BACK: usize = 4;
        let mut at = index;
        for _ in 0..BACK {
            if at == 0 || self.gap(at).contains([',', ';', ':', '.', '!', '?']) {
                return false;
            }
            at -= 1;
            if self.is(at, NEGATION) {
                return true;
            }
        }
        false
    }

    /// Returns true if the same sentence reports that something asked for it.
    fn is_reported(&self, index: usize) -> bool {
        const BACK: usize = 12;
        (index.saturating_sub(BACK)..index).any(|verb| {
            let addressed = verb
                .checked_sub(1)
                .is_some_and(|last| self.is(last, NOT_REPORTED) && self.joined(verb));
            self.is(verb, REPORT) && !addressed && self.same_sentence(verb, index)
        })
    }

    /// Returns true if no sentence ends between two words, except within an open quotation.
    fn same_sentence(&self, first: usize, last: usize) -> bool {
        let between = (self.words.get(first), self.words.get(last));
        let (Some(from), Some(to)) = between else { return false };
        let text = self.line.get(from.end..to.at).unwrap_or("");
        let quotes =
            |text: &str| text.chars().filter(|c| matches!(c, '"' | '`' | '“' | '”')).count();
        match end_of_sentence(text) {
            None => true,
            Some(end) => {
                let open = |text: &str| quotes(text) % 2 == 1;
                open(text.get(..end).unwrap_or("")) && open(text)
            }
        }
    }
}

fn end_of_sentence(text: &str) -> Option<usize> {
    let mut ending = None;
    for (at, c) in text.char_indices() {
        match ending {
            _ if c == ';' => return Some(at),
            Some(end) if c.is_whitespace() => return Some(end),
            _ => ending = matches!(c, '.' | '!' | '?').then_some(at),
        }
    }
    None
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»')
}
