//! Finds paths of the host in prose: `read /etc/passwd` instructs, `unlike /etc/passwd` only
//! mentions.

use super::{Kind, climbs, has_file_url, is_windows, kind, known};
use crate::speech::{self, Speech, Word, lower};
use crate::table::Table;

/// Imperative verbs for access to a file or a device.
const ACCESS: Table = Table::new(&[
    "access",
    "analyse",
    "analyze",
    "append",
    "attach",
    "bind",
    "cat",
    "cd",
    "chmod",
    "chown",
    "copy",
    "cp",
    "create",
    "dd",
    "delete",
    "display",
    "dump",
    "edit",
    "enter",
    "examine",
    "execute",
    "expose",
    "extract",
    "fetch",
    "forward",
    "get",
    "give",
    "go",
    "grant",
    "grep",
    "hash",
    "head",
    "import",
    "include",
    "inspect",
    "less",
    "link",
    "list",
    "ln",
    "load",
    "look",
    "ls",
    "mkdir",
    "modify",
    "mount",
    "move",
    "mv",
    "open",
    "overwrite",
    "parse",
    "pass",
    "place",
    "print",
    "process",
    "put",
    "read",
    "remove",
    "replace",
    "rm",
    "run",
    "save",
    "scan",
    "search",
    "send",
    "show",
    "source",
    "steal",
    "store",
    "symlink",
    "tail",
    "take",
    "tee",
    "touch",
    "truncate",
    "unlink",
    "unpack",
    "upload",
    "use",
    "view",
    "visit",
    "write",
    "zip",
]);

/// Verbs that demand their object with any subject.
const DEMANDS: Table = Table::new(&["need", "needs", "require", "requires"]);

/// Words between a verb and a path that turn the path into a comparison or start another clause.
const EXCUSES: Table = Table::new(&[
    "avoid",
    "because",
    "but",
    "except",
    "format",
    "how",
    "instead",
    "layout",
    "like",
    "resembles",
    "resembling",
    "similar",
    "since",
    "structure",
    "style",
    "syntax",
    "than",
    "that",
    "unlike",
    "what",
    "when",
    "where",
    "whereas",
    "whether",
    "which",
    "while",
]);

/// Words after a path that make it part of another name.
const KINDS: Table = Table::new(&[
    "convention",
    "format",
    "layout",
    "like",
    "pattern",
    "prefix",
    "prefixes",
    "string",
    "style",
    "syntax",
]);

/// A path in prose: its kind, its text, and the way the text speaks of it.
pub(crate) struct Seen<'a> {
    pub(crate) kind: Kind,
    pub(crate) path: &'a str,
    pub(crate) speech: Speech,
}

/// Returns the path in this word if it is not allowed. In a list of files (`listing`) every
/// absolute path counts, elsewhere only paths known to be on the host.
pub(crate) fn spoken<'a>(words: &[Word<'a>], index: usize, listing: bool) -> Option<Seen<'a>> {
    let path = words.get(index)?.text;
    if !path.contains(['/', '\\']) && path != ".." {
        return None;
    }
    let kind = found(words, index, listing)?;
    Some(Seen { kind, path, speech: speech_of(words, index) })
}

fn found(words: &[Word<'_>], index: usize, listing: bool) -> Option<Kind> {
    let word = words.get(index)?;
    let text = word.text;
    if climbs(text) && !text.contains("://") || (text == ".." && word.in_code) {
        return Some(Kind::Climbs);
    }
    if has_file_url(text) || is_windows(text) {
        return Some(Kind::Host);
    }
    let end = text.find("://").unwrap_or(text.len());
    let mut pieces = text.get(..end)?.split(['=', ':', '@']);
    pieces.find_map(|piece| known(piece).or_else(|| file(piece, listing)))
}

/// Classifies an absolute path with an unknown root: it counts if it has a suffix, or if it is in a
/// list of files.
fn file(path: &str, listing: bool) -> Option<Kind> {
    let rest = path.strip_prefix('/')?;
    let named = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let (folder, name) = rest.rsplit_once('/').unwrap_or(("", rest));
    let ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    let counts = (ending && !folder.is_empty()) || (listing && (ending || !folder.is_empty()));
    (named && counts && kind(path) == Kind::Host).then_some(Kind::Host)
}

fn speech_of(words: &[Word<'_>], index: usize) -> Speech {
    const VERB_AWAY: usize = 7;
    if speech::denied(words, index) {
        return Speech::Denial;
    }
    if speech::continues(words, index + 1) && KINDS.has(lower(words, index + 1)) {
        return Speech::Mention;
    }
    for it in speech::sentence(words, index).skip(1).take(VERB_AWAY) {
        let word = lower(words, it);
        if EXCUSES.has(word) {
            return Speech::Mention;
        }
        let asked = DEMANDS.has(word)
            || ACCESS.has(word)
                && is_verb(word, lower(words, it + 1))
                && speech::of_verb(words, it) == Speech::Instruction;
        if asked {
            return Speech::Instruction;
        }
    }
    Speech::Mention
}

/// Returns false for nouns: `List of files` and `Access to files` are not instructions.
fn is_verb(word: &str, next: &str) -> bool {
    match next {
        "of" | "is" | "was" | "are" | "were" => false,
        "to" => word != "access",
        _ => true,
    }
}
