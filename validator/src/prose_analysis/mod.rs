//! Classifies a phrase of prose as an instruction, a denial or a mention, by a few English words
//! around it, never the meaning; an unclear case counts as a mention. An instruction tries to have
//! the forbidden action done, by the operator or an agent that reads the text, so it is refused. A
//! sentence that merely names `/etc/passwd` or `pip install` does nothing, and refusing it would
//! teach authors to write less about a request. So it is a warning for the approver.

mod tokens;

pub(crate) use tokens::{ProseToken, TokenStart, read};

use crate::table::WordTable;

/// The way in which prose speaks of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MentionKind {
    /// The text instructs its reader to do it.
    Instruction,
    /// The text states that it is not done, or forbids it.
    Denial,
    /// The text only names it.
    Mention,
}

/// The number of words to look back in a sentence; it bounds the work for each word.
const WORDS_BACK_MAX: usize = 8;

/// Words after which a verb is an instruction.
const INSTRUCTION_CUES: WordTable = WordTable::new(&[
    "also", "always", "finally", "first", "just", "must", "next", "now", "once", "please", "shall",
    "should", "simply", "then", "you",
]);

/// Words that may appear between the cue and the verb: `run the following command`.
const SKIPPED_WORDS: WordTable = WordTable::new(&[
    "-m",
    "a",
    "call",
    "command",
    "commands",
    "do",
    "doas",
    "enter",
    "env",
    "exec",
    "execute",
    "following",
    "invoke",
    "issue",
    "py",
    "python",
    "python3",
    "run",
    "start",
    "sudo",
    "the",
    "this",
    "type",
    "use",
    "uv",
]);

/// First words of statements, whose later verbs are not instructions.
const SUBJECT_WORDS: WordTable = WordTable::new(&[
    "a", "all", "an", "both", "each", "he", "i", "it", "its", "many", "most", "one", "our", "she",
    "some", "that", "the", "these", "they", "this", "those", "users", "we", "what", "who",
]);

const OBLIGATION_WORDS: WordTable = WordTable::new(&[
    "ask", "asked", "has", "have", "is", "need", "needed", "needs", "remember", "required", "sure",
    "want", "wants",
]);

const CAUSATIVE_VERBS: WordTable = WordTable::new(&[
    "allow", "ask", "enable", "have", "instruct", "let", "make", "permit", "tell",
]);

const DENIAL_WORDS: WordTable = WordTable::new(&[
    "avoid", "avoids", "cannot", "forbid", "forbids", "neither", "never", "no", "nobody", "none",
    "nor", "not", "nothing", "refuse", "refuses", "without",
]);

/// Verbs that turn the words before them into the subject of a statement.
const FINITE_VERBS: WordTable = WordTable::new(&[
    "are", "can", "cannot", "could", "did", "does", "fails", "had", "happens", "has", "is", "may",
    "means", "never", "was", "were", "will", "would",
]);

const DEMAND_WORDS: WordTable = WordTable::new(&["mandatory", "necessary", "needed", "required"]);

/// Returns the word in lower case; empty past the end.
pub(crate) fn lower<'w>(words: &'w [ProseToken<'_>], index: usize) -> &'w str {
    words.get(index).map_or("", |word| &word.lower)
}

/// Returns true if the word continues the sentence of the one before it.
pub(crate) fn continues(words: &[ProseToken<'_>], index: usize) -> bool {
    words.get(index).is_some_and(|word| word.start != TokenStart::Sentence)
}

/// Classifies the verb or command at this word.
pub(crate) fn classify_verb(words: &[ProseToken<'_>], index: usize) -> MentionKind {
    if is_denied(words, index) {
        MentionKind::Denial
    } else if is_instructed(words, index) {
        MentionKind::Instruction
    } else {
        MentionKind::Mention
    }
}

/// Returns true if the words before this one make it an instruction.
fn is_instructed(words: &[ProseToken<'_>], index: usize) -> bool {
    let mut at = index;
    for _ in 0..WORDS_BACK_MAX {
        if words.get(at).is_some_and(|word| word.start != TokenStart::Inside) {
            return !is_subject(words, index);
        }
        let Some(before) = at.checked_sub(1) else { return true };
        match lower(words, before) {
            "and" | "or" => return !has_subject(words, before),
            "to" => {
                return before
                    .checked_sub(1)
                    .is_some_and(|it| OBLIGATION_WORDS.has(lower(words, it)));
            }
            "it" | "them" | "us" | "script" | "tool" | "program" => {
                let from = before.saturating_sub(3);
                return (from..before).any(|it| CAUSATIVE_VERBS.has(lower(words, it)));
            }
            word if INSTRUCTION_CUES.has(word) => return !is_condition(words, before),
            word if SKIPPED_WORDS.has(word) => at = before,
            _ => return false,
        }
    }
    false
}

/// Returns true for a statement (`pip install is forbidden`), not for a demand (`… is required`).
fn is_subject(words: &[ProseToken<'_>], index: usize) -> bool {
    let ahead = (index + 1..index + 5).take_while(|it| continues(words, *it));
    let mut finite = ahead.filter(|it| FINITE_VERBS.has(lower(words, *it)));
    finite.next().is_some_and(|it| !DEMAND_WORDS.has(lower(words, it + 1)))
}

/// Returns true if the sentence up to this word has a subject and so is a statement.
fn has_subject(words: &[ProseToken<'_>], index: usize) -> bool {
    sentence(words, index).last().is_some_and(|it| {
        let begins = words.get(it).is_some_and(|word| word.start == TokenStart::Sentence);
        let first = lower(words, it);
        // The beginning of the sentence is out of range, so this counts as a mention.
        !begins || SUBJECT_WORDS.has(first) || first.ends_with("ing")
    })
}

/// Returns true for a condition (`when you run it`, `if you must`), which instructs nothing.
fn is_condition(words: &[ProseToken<'_>], you: usize) -> bool {
    lower(words, you) == "you"
        && you.checked_sub(1).is_some_and(|it| {
            words.get(you).is_some_and(|word| word.start == TokenStart::Inside)
                && !["that", "and", "then", "so"].contains(&lower(words, it))
        })
}

/// Returns this word and those before it in its sentence, nearest first.
pub(crate) fn sentence(words: &[ProseToken<'_>], index: usize) -> impl Iterator<Item = usize> {
    let mut over = false;
    (index.saturating_sub(2 * WORDS_BACK_MAX)..=index).rev().take_while(move |it| {
        let inside = !over;
        over = words.get(*it).is_some_and(|word| word.start == TokenStart::Sentence);
        inside
    })
}

/// Returns true if a word before this one in its sentence denies it.
pub(crate) fn is_denied(words: &[ProseToken<'_>], index: usize) -> bool {
    let mut clauses = 0;
    for it in sentence(words, index).take(WORDS_BACK_MAX + 4) {
        let word = lower(words, it);
        let denies =
            DENIAL_WORDS.has(word) || word.ends_with("n't") || word.ends_with("n\u{2019}t");
        // `No problem, do it` is not a denial; `do not, whatever happens, do it` is.
        let answer = word == "no" && clauses > 0;
        let only = word == "not" && lower(words, it + 1) == "only";
        if it < index && denies && !answer && !only && !is_after_condition(words, it) {
            return true;
        }
        clauses += usize::from(words.get(it).is_some_and(|word| word.start == TokenStart::Clause));
    }
    false
}

/// Returns true for `if numpy is not there, …`.
fn is_after_condition(words: &[ProseToken<'_>], index: usize) -> bool {
    let from = index.saturating_sub(4);
    (from..index).any(|it| ["if", "when", "unless", "where"].contains(&lower(words, it)))
}
