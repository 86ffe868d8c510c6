//! Instructions in prose to run with more rights than a tool has: `use sudo`, `run it as root`,
//! `pass --privileged`, `disable seccomp`. They are errors: no approval may grant a weaker sandbox.
//! Many honest sentences mention roots and rights, so a mere mention is not even a warning.

use crate::prose_analysis::{self, MentionKind, ProseToken, lower};
use crate::table::WordTable;

/// Programs that grant another user's rights.
const PROGRAMS: WordTable =
    WordTable::new(&["doas", "gosu", "kdesu", "pkexec", "run0", "su-exec", "sudo", "sudoedit"]);

/// Options of container runtimes and browsers that remove a confinement.
const OPTIONS: WordTable = WordTable::new(&[
    "--cap-add",
    "--disable-sandbox",
    "--ipc=host",
    "--net=host",
    "--network=host",
    "--no-sandbox",
    "--pid=host",
    "--privileged",
    "--security-opt",
    "--userns=host",
    "--uts=host",
]);

const RUNNING: WordTable = WordTable::new(&[
    "call", "execute", "invoke", "launch", "login", "rerun", "restart", "run", "start",
]);

const USING: WordTable = WordTable::new(&[
    "add", "append", "apply", "enable", "give", "grant", "pass", "prefix", "prepend", "set",
    "specify", "supply", "try", "use",
]);

const NEEDING: WordTable = WordTable::new(&["need", "needs", "require", "requires"]);

/// Verbs that remove a confinement.
const DISABLING: WordTable = WordTable::new(&[
    "bypass",
    "circumvent",
    "deactivate",
    "defeat",
    "disable",
    "escape",
    "evade",
    "kill",
    "unload",
]);

const CONFINEMENTS: WordTable = WordTable::new(&[
    "apparmor",
    "cgroup",
    "cgroups",
    "confinement",
    "firewall",
    "landlock",
    "namespaces",
    "sandbox",
    "sandboxing",
    "seccomp",
    "selinux",
]);

const SUPERUSERS: WordTable = WordTable::new(&["administrator", "root", "superuser"]);

/// Terms for the rights of a superuser.
const RIGHTS: WordTable = WordTable::new(&[
    "access",
    "capabilities",
    "permission",
    "permissions",
    "privilege",
    "privileges",
    "rights",
]);

/// The maximum distance of an object from its verb, in words.
const DISTANCE_MAX: usize = 5;

/// Returns the number of words, from this one on, of an instruction to run with more rights.
pub(crate) fn find_instruction(words: &[ProseToken<'_>], index: usize) -> Option<usize> {
    let word = words.get(index)?;
    let name = word.lower.rsplit('/').next().unwrap_or("");
    let option = word.lower.split_once('=').map_or(&*word.lower, |(option, _)| option);
    let is_option = OPTIONS.has(&word.lower) || OPTIONS.has(option);
    let next = lower(words, index + 1);
    let joined = prose_analysis::continues(words, index + 1);
    let instructed = match name {
        // The command after it may have its own rule.
        _ if PROGRAMS.has(name) => {
            return (is_used(words, index)
                || joined
                    && prose_analysis::classify_verb(words, index) == MentionKind::Instruction)
                .then_some(1)
                .filter(|_| crate::packages::find_mention(words, index + 1).is_none());
        }
        // A lone dash is not a word: `su - root`.
        "su" => {
            (joined && next.starts_with('-') || SUPERUSERS.has(next))
                && prose_analysis::classify_verb(words, index) == MentionKind::Instruction
        }
        _ if is_option => is_used(words, index),
        _ if SUPERUSERS.has(name) => is_superuser(words, index),
        _ if name.starts_with("cap_") => is_used(words, index),
        "privileged" => {
            ["container", "mode", "user"].contains(&next)
                && (is_used(words, index) || has_verb(words, index, &RUNNING, DISTANCE_MAX))
        }
        "setuid" | "suid" | "setgid" => makes_setuid(words, index),
        "setcap" | "setenforce" | "aa-disable" | "aa-teardown" | "aa-complain" => {
            joined && prose_analysis::classify_verb(words, index) == MentionKind::Instruction
        }
        "u+s" | "g+s" | "4755" | "04755" | "4711" => index.checked_sub(1).is_some_and(|it| {
            lower(words, it) == "chmod"
                && prose_analysis::classify_verb(words, it) == MentionKind::Instruction
        }),
        _ if CONFINEMENTS.has(name) => is_disabled(words, index),
        _ => false,
    };
    instructed.then_some(1)
}

/// Returns true for `use it`, `run with it` or `the tool needs it`.
fn is_used(words: &[ProseToken<'_>], index: usize) -> bool {
    has_verb(words, index, &USING, DISTANCE_MAX)
        || (has_verb(words, index, &RUNNING, DISTANCE_MAX) && is_with(words, index))
        || is_needed(words, index)
}

/// Returns true for `with x`, `via x` or `under x`.
fn is_with(words: &[ProseToken<'_>], index: usize) -> bool {
    (1..=2).any(|back| {
        let before = index.checked_sub(back).map_or("", |it| lower(words, it));
        ["through", "under", "using", "via", "with"].contains(&before)
    })
}

fn is_needed(words: &[ProseToken<'_>], index: usize) -> bool {
    let needs = |it: usize| NEEDING.has(lower(words, it));
    let near = prose_analysis::sentence(words, index).skip(1).take(3).any(needs);
    near && !prose_analysis::is_denied(words, index)
}

/// Returns true for `run it as root`, `become root` or `it needs root access`.
fn is_superuser(words: &[ProseToken<'_>], index: usize) -> bool {
    let before = |back: usize| index.checked_sub(back).map_or("", |it| lower(words, it));
    let rights = RIGHTS.has(lower(words, index + 1)) && prose_analysis::continues(words, index + 1);
    if rights {
        return is_used(words, index);
    }
    // `as root`, `as the root user`, `as the superuser`
    let as_user = before(1) == "as" || before(1) == "the" && before(2) == "as";
    let end = !prose_analysis::continues(words, index + 1)
        || ["and", "first", "in", "inside", "instead", "now", "on", "so", "user", "when"]
            .contains(&lower(words, index + 1));
    let became = before(1) == "become"
        && prose_analysis::classify_verb(words, index - 1) == MentionKind::Instruction;
    end && (as_user && has_verb(words, index, &RUNNING, DISTANCE_MAX) || became)
}

/// Returns true for `make it setuid root` or `set the setuid bit`.
fn makes_setuid(words: &[ProseToken<'_>], index: usize) -> bool {
    const MAKING: WordTable = WordTable::new(&["install", "make", "mark", "set", "use"]);
    has_verb(words, index, &MAKING, DISTANCE_MAX)
}

/// Returns true for `disable seccomp`, `turn the sandbox off` or `run it without apparmor`.
fn is_disabled(words: &[ProseToken<'_>], index: usize) -> bool {
    const TURNING: WordTable = WordTable::new(&["shut", "switch", "turn"]);
    let near = index.saturating_sub(3)..index + 3;
    let off = near.clone().any(|it| lower(words, it) == "off");
    let without = (index.saturating_sub(3)..index)
        .any(|it| ["outside", "without"].contains(&lower(words, it)));
    has_verb(words, index, &DISABLING, DISTANCE_MAX)
        || off && has_verb(words, index, &TURNING, DISTANCE_MAX)
        || without && has_verb(words, index, &RUNNING, DISTANCE_MAX)
}

/// Returns true if a verb of the table precedes this word closely and is an instruction.
fn has_verb(words: &[ProseToken<'_>], index: usize, verbs: &WordTable, away: usize) -> bool {
    prose_analysis::sentence(words, index).skip(1).take(away).any(|it| {
        verbs.has(lower(words, it))
            && prose_analysis::classify_verb(words, it) == MentionKind::Instruction
    })
}
