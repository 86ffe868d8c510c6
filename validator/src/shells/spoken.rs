//! Instructions in prose to run a shell: `run bash setup.sh first`, `pipe it through sh`. They are
//! errors, because the seed forbids the shell as a language anywhere in a request. A mere mention
//! is not even a warning: a sentence about a shell does nothing forbidden, and such warnings would
//! hide important ones.

use crate::speech::{self, Speech, Start, Word, lower};
use crate::table::Table;

/// Shells whose names are not English words.
const CERTAIN: Table = Table::new(&[
    "bash",
    "cmd.exe",
    "csh",
    "ksh",
    "mksh",
    "powershell",
    "pwsh",
    "rbash",
    "sh",
    "tcsh",
    "zsh",
]);

/// Shells whose names count only with an argument for a shell after them.
const ENGLISH: Table = Table::new(&["ash", "cmd", "dash", "fish"]);

const RUNNING: Table = Table::new(&[
    "call", "exec", "execute", "feed", "invoke", "launch", "open", "pass", "pipe", "run", "send",
    "source", "spawn", "start", "use", "wrap",
]);

/// Words that may directly precede the shell after a running verb.
const THROUGH: Table = Table::new(&[
    "a",
    "an",
    "by",
    "in",
    "inside",
    "interactive",
    "into",
    "it",
    "login",
    "reverse",
    "root",
    "the",
    "through",
    "to",
    "under",
    "using",
    "via",
    "with",
]);

/// Words that may follow a shell in an instruction.
const AFTER: Table = Table::new(&[
    "after",
    "afterwards",
    "and",
    "before",
    "command",
    "commands",
    "first",
    "for",
    "from",
    "now",
    "on",
    "or",
    "prompt",
    "script",
    "scripts",
    "session",
    "shell",
    "so",
    "then",
    "to",
    "with",
]);

/// Commands whose output is piped into a shell.
const FEEDING: Table =
    Table::new(&["base64", "cat", "curl", "echo", "fetch", "printf", "python", "wget"]);

const SCRIPTS: [&str; 6] = [".sh", ".bash", ".zsh", ".ps1", ".bat", ".cmd"];

const VERB_AWAY: usize = 6;

/// Returns true if the name is a shell's and not another word.
pub(crate) fn is_certain(name: &str) -> bool {
    CERTAIN.has(name)
}

/// Returns the number of words, from this one on, of an instruction to run a shell.
pub(crate) fn spoken(words: &[Word<'_>], index: usize) -> Option<usize> {
    let word = words.get(index)?;
    let name = word.lower.rsplit('/').next().unwrap_or("");
    if CERTAIN.has(name) || (ENGLISH.has(name) && has_argument(words, index)) {
        let by_itself =
            has_argument(words, index) && speech::of_verb(words, index) == Speech::Instruction;
        let fed = word.piped && is_fed(words, index);
        return (by_itself || fed || is_run(words, index)).then_some(1);
    }
    let script = SCRIPTS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending));
    let run = match name {
        "shell" => is_run(words, index),
        _ if script => has_verb(words, index, 3),
        _ => false,
    };
    run.then_some(1)
}

fn has_argument(words: &[Word<'_>], index: usize) -> bool {
    let next = lower(words, index + 1);
    let option = next.starts_with('-') && next.len() > 1;
    speech::continues(words, index + 1)
        && (option || next.contains('/') || SCRIPTS.iter().any(|ending| next.ends_with(ending)))
}

/// Returns true for `curl https://… | sh`, but not for the columns of a Markdown table.
fn is_fed(words: &[Word<'_>], index: usize) -> bool {
    let line = words.get(index).map(|word| word.line);
    let from = index.saturating_sub(VERB_AWAY);
    (from..index).any(|it| {
        words.get(it).map(|word| word.line) == line
            && !words.get(it).is_some_and(|word| word.piped)
            && FEEDING.has(lower(words, it))
    })
}

/// Returns true if a running verb before the shell reaches it and the next word does not change its
/// meaning.
fn is_run(words: &[Word<'_>], index: usize) -> bool {
    let next = lower(words, index + 1);
    let ends = words.get(index + 1).is_none_or(|word| word.start != Start::Inside)
        || AFTER.has(next)
        || has_argument(words, index);
    let before = index.checked_sub(1).map_or("", |it| lower(words, it));
    ends && (THROUGH.has(before) || RUNNING.has(before)) && has_verb(words, index, VERB_AWAY)
}

fn has_verb(words: &[Word<'_>], index: usize, away: usize) -> bool {
    speech::sentence(words, index).skip(1).take(away).any(|it| {
        RUNNING.has(lower(words, it)) && speech::of_verb(words, it) == Speech::Instruction
    })
}
