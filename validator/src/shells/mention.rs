//! Instructions in prose to run a shell: `run bash setup.sh first`, `pipe it through sh`. They are
//! errors, because the seed forbids the shell anywhere in a request. A mere mention is not even a
//! warning: it does nothing forbidden, and such warnings would hide important ones.

use crate::prose_analysis::{self, MentionKind, ProseToken, TokenStart, lower};
use crate::table::WordTable;

/// Shells whose names are not English words.
const UNAMBIGUOUS: WordTable = WordTable::new(&[
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
const AMBIGUOUS: WordTable = WordTable::new(&["ash", "cmd", "dash", "fish"]);

const RUNNING: WordTable = WordTable::new(&[
    "call", "exec", "execute", "feed", "invoke", "launch", "open", "pass", "pipe", "run", "send",
    "source", "spawn", "start", "use", "wrap",
]);

/// Words that may directly precede the shell after a running verb.
const BEFORE_SHELL: WordTable = WordTable::new(&[
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
const AFTER_SHELL: WordTable = WordTable::new(&[
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
const PIPED_COMMANDS: WordTable =
    WordTable::new(&["base64", "cat", "curl", "echo", "fetch", "printf", "python", "wget"]);

const SCRIPTS: [&str; 6] = [".sh", ".bash", ".zsh", ".ps1", ".bat", ".cmd"];

const VERB_DISTANCE_MAX: usize = 6;

/// Returns true if the name is a shell's and not another word.
pub(crate) fn is_unambiguous(name: &str) -> bool {
    UNAMBIGUOUS.has(name)
}

/// Returns the number of words, from this one on, of an instruction to run a shell.
pub(crate) fn find_instruction(words: &[ProseToken<'_>], index: usize) -> Option<usize> {
    let word = words.get(index)?;
    let name = word.lower.rsplit('/').next().unwrap_or("");
    if UNAMBIGUOUS.has(name) || (AMBIGUOUS.has(name) && has_argument(words, index)) {
        let by_itself = has_argument(words, index)
            && prose_analysis::classify_verb(words, index) == MentionKind::Instruction;
        let fed = word.piped && is_piped_into(words, index);
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

fn has_argument(words: &[ProseToken<'_>], index: usize) -> bool {
    let next = lower(words, index + 1);
    let option = next.starts_with('-') && next.len() > 1;
    prose_analysis::continues(words, index + 1)
        && (option || next.contains('/') || SCRIPTS.iter().any(|ending| next.ends_with(ending)))
}

/// Returns true for `curl https://… | sh`, but not for the columns of a Markdown table.
fn is_piped_into(words: &[ProseToken<'_>], index: usize) -> bool {
    let line = words.get(index).map(|word| word.line);
    let from = index.saturating_sub(VERB_DISTANCE_MAX);
    (from..index).any(|it| {
        words.get(it).map(|word| word.line) == line
            && !words.get(it).is_some_and(|word| word.piped)
            && PIPED_COMMANDS.has(lower(words, it))
    })
}

/// Returns true if a running verb reaches the shell and the next word does not change its meaning.
fn is_run(words: &[ProseToken<'_>], index: usize) -> bool {
    let next = lower(words, index + 1);
    let ends = words.get(index + 1).is_none_or(|word| word.start != TokenStart::Inside)
        || AFTER_SHELL.has(next)
        || has_argument(words, index);
    let before = index.checked_sub(1).map_or("", |it| lower(words, it));
    ends && (BEFORE_SHELL.has(before) || RUNNING.has(before))
        && has_verb(words, index, VERB_DISTANCE_MAX)
}

fn has_verb(words: &[ProseToken<'_>], index: usize, away: usize) -> bool {
    prose_analysis::sentence(words, index).skip(1).take(away).any(|it| {
        RUNNING.has(lower(words, it))
            && prose_analysis::classify_verb(words, it) == MentionKind::Instruction
    })
}
