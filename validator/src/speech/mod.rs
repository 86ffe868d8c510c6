//! How prose speaks of a thing: it tells somebody to do it, it forbids it, or it only names it.
//! English is judged by a few words around the thing, never by its meaning; what is not clearly an
//! instruction counts as a mention.
//!
//! Why the difference: an instruction in a request is an attempt to have the forbidden thing done,
//! by the operator or by an agent that reads the text, so it is refused. A sentence that merely
//! names `/etc/passwd` or `pip install` does nothing; refusing it would teach people to write less
//! about what a request does. It is a warning, for the person who approves.

mod words;

pub(crate) use words::{Start, Word, read};

use crate::table::Table;

/// How a piece of prose speaks of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Speech {
    /// It tells somebody to do it.
    Instruction,
    /// It says that it is not done, or must not be.
    Denial,
    /// It only names it.
    Mention,
}

/// How far back a sentence is looked at, in words; it bounds the work for each word.
const BACK: usize = 8;

/// Words after which a verb is an instruction.
const TELLING: Table = Table::new(&[
    "also", "always", "finally", "first", "just", "must", "next", "now", "once", "please", "shall",
    "should", "simply", "then", "you",
]);

/// Words that may stand between what tells and what is told: `run the following command`.
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

/// Beginnings of sentences that tell what is, so that their later verbs are no instructions.
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

/// Verbs that make what stands before them the subject of a statement.
const FINITE: Table = Table::new(&[
    "are", "can", "cannot", "could", "did", "does", "fails", "had", "happens", "has", "is", "may",
    "means", "never", "was", "were", "will", "would",
]);

const WANTED: Table = Table::new(&["mandatory", "necessary", "needed", "required"]);

/// The word in lower case; empty past the end.
pub(crate) fn lower<'w>(words: &'w [Word<'_>], index: usize) -> &'w str {
    words.get(index).map_or("", |word| &word.lower)
}

/// Whether the word continues the sentence of the one before it.
pub(crate) fn continues(words: &[Word<'_>], index: usize) -> bool {
    words.get(index).is_some_and(|word| word.start != Start::Sentence)
}

/// How the text speaks of what the verb, or the command, at this word does.
pub(crate) fn of_verb(words: &[Word<'_>], index: usize) -> Speech {
    if denied(words, index) {
        Speech::Denial
    } else if told(words, index) {
        Speech::Instruction
    } else {
        Speech::Mention
    }
}

/// Whether the words before this one tell somebody to do it.
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

/// `pip install is forbidden` states something; `pip install x is required` asks for it.
fn is_subject(words: &[Word<'_>], index: usize) -> bool {
    let ahead = (index + 1..index + 5).take_while(|it| continues(words, *it));
    let mut finite = ahead.filter(|it| FINITE.has(lower(words, *it)));
    finite.next().is_some_and(|it| !WANTED.has(lower(words, it + 1)))
}

/// Whether the sentence up to this word has a subject and so tells what is.
fn states(words: &[Word<'_>], index: usize) -> bool {
    sentence(words, index).last().is_some_and(|it| {
        let begins = words.get(it).is_some_and(|word| word.start == Start::Sentence);
        let first = lower(words, it);
        // Too far from the sentence's beginning to know: a mention.
        !begins || SUBJECTS.has(first) || first.ends_with("ing")
    })
}

/// `when you run it` and `if you must` ask of a case and tell nothing.
fn asks(words: &[Word<'_>], you: usize) -> bool {
    lower(words, you) == "you"
        && you.checked_sub(1).is_some_and(|it| {
            words.get(you).is_some_and(|word| word.start == Start::Inside)
                && !["that", "and", "then", "so"].contains(&lower(words, it))
        })
}

/// The words before this one in its sentence, nearest first, and itself.
pub(crate) fn sentence(words: &[Word<'_>], index: usize) -> impl Iterator<Item = usize> {
    let mut over = false;
    (index.saturating_sub(2 * BACK)..=index).rev().take_while(move |it| {
        let inside = !over;
        over = words.get(*it).is_some_and(|word| word.start == Start::Sentence);
        inside
    })
}

/// Whether something before this word in its sentence denies it.
pub(crate) fn denied(words: &[Word<'_>], index: usize) -> bool {
    let mut clauses = 0;
    for it in sentence(words, index).take(BACK + 4) {
        let word = lower(words, it);
        let denies = DENYING.has(word) || word.ends_with("n't") || word.ends_with("n\u{2019}t");
        // `No problem, do it` denies nothing; `do not, whatever happens, do it` does.
        let answer = word == "no" && clauses > 0;
        let only = word == "not" && lower(words, it + 1) == "only";
        if it < index && denies && !answer && !only && !conditional(words, it) {
            return true;
        }
        clauses += usize::from(words.get(it).is_some_and(|word| word.start == Start::Clause));
    }
    false
}

/// `if numpy is not there, …`
fn conditional(words: &[Word<'_>], index: usize) -> bool {
    let from = index.saturating_sub(4);
    (from..index).any(|it| ["if", "when", "unless", "where"].contains(&lower(words, it)))
}
