//! Finds paths of the host in prose: `read /etc/passwd` instructs, `unlike /etc/passwd` mentions.

use super::{
    PathKind, has_file_url, has_traversal, host_kind, is_windows, kind_of_absolute, scheme_end,
};
use crate::prose_analysis::{self, MentionKind, ProseToken, lower};
use crate::table::WordTable;

/// Imperative verbs for access to a file or a device.
const ACCESS_VERBS: WordTable = WordTable::new(&[
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
const DEMAND_VERBS: WordTable = WordTable::new(&["need", "needs", "require", "requires"]);

/// Words between a verb and a path that turn the path into a comparison or start another clause.
const COMPARISON_WORDS: WordTable = WordTable::new(&[
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
const NAME_NOUNS: WordTable = WordTable::new(&[
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
pub(crate) struct PathMention<'a> {
    pub(crate) kind: PathKind,
    pub(crate) path: &'a str,
    pub(crate) mention: MentionKind,
}

/// Returns the path in this word if it is not allowed. In a list of files (`listing`) every
/// absolute path counts, elsewhere only paths known to be on the host.
pub(crate) fn find_mention<'a>(
    words: &[ProseToken<'a>],
    index: usize,
    listing: bool,
) -> Option<PathMention<'a>> {
    let path = words.get(index)?.text;
    if !path.contains(['/', '\\']) && path != ".." {
        return None;
    }
    let kind = kind_of_word(words, index, listing)?;
    Some(PathMention { kind, path, mention: classify(words, index) })
}

fn kind_of_word(words: &[ProseToken<'_>], index: usize, listing: bool) -> Option<PathKind> {
    let word = words.get(index)?;
    let text = word.text;
    if has_traversal(text) && !text.contains("://") || (text == ".." && word.in_code) {
        return Some(PathKind::Traversal);
    }
    if has_file_url(text) || is_windows(text) {
        return Some(PathKind::Host);
    }
    let end = scheme_end(text).unwrap_or(text.len());
    let mut pieces = text.get(..end)?.split(['=', ':', '@']);
    pieces.find_map(|piece| host_kind(piece).or_else(|| kind_of_file(piece, listing)))
}

/// Classifies an absolute path of unknown root: it counts with a suffix, or in a list of files.
fn kind_of_file(path: &str, listing: bool) -> Option<PathKind> {
    let rest = path.strip_prefix('/')?;
    let named = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let (folder, name) = rest.rsplit_once('/').unwrap_or(("", rest));
    let ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    let counts = (ending && !folder.is_empty()) || (listing && (ending || !folder.is_empty()));
    (named && counts && kind_of_absolute(path) == PathKind::Host).then_some(PathKind::Host)
}

fn classify(words: &[ProseToken<'_>], index: usize) -> MentionKind {
    const VERB_AWAY: usize = 7;
    if prose_analysis::is_denied(words, index) {
        return MentionKind::Denial;
    }
    if prose_analysis::continues(words, index + 1) && NAME_NOUNS.has(lower(words, index + 1)) {
        return MentionKind::Mention;
    }
    for it in prose_analysis::sentence(words, index).skip(1).take(VERB_AWAY) {
        let word = lower(words, it);
        if COMPARISON_WORDS.has(word) {
            return MentionKind::Mention;
        }
        let demanded = DEMAND_VERBS.has(word)
            || ACCESS_VERBS.has(word)
                && is_verb(word, lower(words, it + 1))
                && prose_analysis::classify_verb(words, it) == MentionKind::Instruction;
        if demanded {
            return MentionKind::Instruction;
        }
    }
    MentionKind::Mention
}

/// Returns false for nouns: `List of files` and `Access to files` are not instructions.
fn is_verb(word: &str, next: &str) -> bool {
    match next {
        "of" | "is" | "was" | "are" | "were" => false,
        "to" => word != "access",
        _ => true,
    }
}
