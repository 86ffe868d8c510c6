//! Classifies a phrase of prose as an instruction, a denial or a mention. The classification uses a
//! few English words around the phrase, never the meaning; an unclear case counts as a mention.
//!
//! An instruction in a request tries to have the forbidden action done, by the operator or by an
//! agent that reads the text. So it is refused. A sentence that merely names `/etc/passwd` or
//! `pip install` does nothing, and refusing it would teach authors to write less about a request.
//! So it is a warning for the approver.

mod words;

pub(crate) use words::{Start, Word, read};

use crate::table::Table;

/// The way in which prose speaks of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Speech {
    /// The text instructs its reader to do it.
    Instruction,
    /// The text states that it is not done, or forbids it.
    Denial,
    /// The text only names it.
    Mention,
}

/// The number of words to look back in a sentence; it bounds the work for each word.
const BACK: usize = 8;

/// Words after which a verb is an instruction.
const TELLING: Table = Table::new(&[
    "also", "always", "finally", "first", "just", "must", "next", "now", "once", "please", "shall",
    "should", "simply", "then", "you",
]);

/// Words that may appear between the cue and the verb: `run the following command`.
const PASSED: Table = Table::new(&[
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
const SUBJECTS: Table = Table::new(&[
    "a", "all", "an", "both", "each", "he", "i", "it", "its", "many", "most", "one", "our", "she",
    "some", "that", "the", "these", "they", "this", "those", "users", "we", "what", "who",
]);

const OBLIGED: Table = Table::new(&[
    "ask", "asked", "has", "have", "is", "need", "needed", "needs", "remember", "required", "sure",
    "want", "wants",
]);

const LETTING: Table =
    Table::new(&["allow", "ask", "enable", "have", "instruct", "let", "make", "permit", "tell"]);

const DENYING: Table = Table::new(&[
    "avoid", "avoids", "cannot", "forbid", "forbids", "neither", "never", "no", "nobody", "none",
    "nor", "not", "nothing", "refuse", "refuses", "without",
]);

/// Verbs that turn the words before them into the subject of a statement.
const FINITE: Table = Table::new(&[
    "are", "can", "cannot", "could", "did", "does", "fails", "had", "happens", "has", "is", "may",
    "means", "never", "was", "were", "will", "would",
]);

const WANTED: Table = Table::new(&["mandatory", "necessary", "needed", "required"]);

/// Returns the word in lower case; empty past the end.
pub(crate) fn lower<'w>(words: &'w [Word<'_>], index: usize) -> &'w str {
    words.get(index).map_or("", |word| &word.lower)
}

/// Returns true if the word continues the sentence of the one before it.
pub(crate) fn continues(words: &[Word<'_>], index: usize) -> bool {
    words.get(index).is_some_and(|word| word.start != Start::Sentence)
}

/// Classifies the verb or command at this word.
pub(crate) fn of_verb(words: &[Word<'_>], index: usize) -> Speech {
    if denied(words, index) {
        Speech::Denial
    } else if told(words, index) {
        Speech::Instruction
    } else {
        Speech::Mention
    }
}

/// Returns true if the words before this one make it an instruction.
fn told(words: &[Word<'_>], index: usize) -> bool {
    let mut at = index;
    for _ in 0..BACK {
        if words.get(at).is_some_and(|word| word.start != Start::Inside) {
            return !is_subject(words, index);
        }
        let Some(before) = at.checked_sub(1) else { return true };
        match lower(words, before) {
            "and" | "or" => return !states(words, before),
            "to" => return before.checked_sub(1).is_some_and(|it| OBLIGED.has(lower(words, it))),
            "it" | "them" | "us" | "script" | "tool" | "program" => {
                let from = before.saturating_sub(3);
                return (from..before).any(|it| LETTING.has(lower(words, it)));
            }
            word if TELLING.has(word) => return !asks(words, before),
            word if PASSED.has(word) => at = before,
            _ => return false,
        }
    }
    false
}

/// Returns true for a statement such as `pip install is forbidden`; `pip install x is required` is
/// a demand.
fn is_subject(words: &[Word<'_>], index: usize) -> bool {
    let ahead = (index + 1..index + 5).take_while(|it| continues(words, *it));
    let mut finite = ahead.filter(|it| FINITE.has(lower(words, *it)));
    finite.next().is_some_and(|it| !WANTED.has(lower(words, it + 1)))
}

/// Returns true if the sentence up to this word has a subject and so is a statement.
fn states(words: &[Word<'_>], index: usize) -> bool {
    sentence(words, index).last().is_some_and(|it| {
        let begins = words.get(it).is_some_and(|word| word.start == Start::Sentence);
        let first = lower(words, it);
        // The beginning of the sentence is out of range, so this counts as a mention.
        !begins || SUBJECTS.has(first) || first.ends_with("ing")
    })
}

/// Returns true for a condition such as `when you run it` or `if you must`, which instructs
/// nothing.
fn asks(words: &[Word<'_>], you: usize) -> bool {
    lower(words, you) == "you"
        && you.checked_sub(1).is_some_and(|it| {
            words.get(you).is_some_and(|word| word.start == Start::Inside)
                && !["that", "and", "then", "so"].contains(&lower(words, it))
        })
}

/// Returns this word and those before it in its sentence, nearest first.
pub(crate) fn sentence(words: &[Word<'_>], index: usize) -> impl Iterator<Item = usize> {
    let mut over = false;
    (index.saturating_sub(2 * BACK)..=index).rev().take_while(move |it| {
        let inside = !over;
        over = words.get(*it).is_some_and(|word| word.start == Start::Sentence);
        inside
    })
}

/// Returns true if a word before this one in its sentence denies it.
pub(crate) fn denied(words: &[Word<'_>], index: usize) -> bool {
    let mut clauses = 0;
    for it in sentence(words, index).take(BACK + 4) {
        let word = lower(words, it);
        let denies = DENYING.has(word) || word.ends_with("n't") || word.ends_with("n\u{2019}t");
        // `No problem, do it` is not a denial; `do not, whatever happens, do it` is.
        let answer = word == "no" && clauses > 0;
        let only = word == "not" && lower(words, it + 1) == "only";
        if it < index && denies && !answer && !only && !conditional(words, it) {
            return true;
        }
        clauses += usize::from(words.get(it).is_some_and(|word| word.start == Start::Clause));
    }
    false
}

/// Returns true for `if numpy is not there, …`.
fn conditional(words: &[Word<'_>], index: usize) -> bool {
    let from = index.saturating_sub(4);
    (from..index).any(|it| ["if", "when", "unless", "where"].contains(&lower(words, it)))
}
