//! Finds installations in prose. Many tools have the name of a thing (a gem, a bundle, yarn), so a
//! name alone never counts: the tool's own verb must be in the same clause.

use super::{AMBIGUOUS, UNAMBIGUOUS};
use crate::prose_analysis::{self, MentionKind, ProseToken, TokenStart, lower};
use crate::table::WordTable;

const VERBS: WordTable = WordTable::new(&[
    "add", "ci", "create", "dlx", "download", "i", "install", "sync", "update", "upgrade",
]);

/// Words that follow when the word before them was a noun, not a verb.
const FUNCTION_WORDS: WordTable = WordTable::new(&[
    "a", "an", "and", "are", "as", "at", "by", "can", "for", "from", "had", "has", "in", "is",
    "it", "may", "of", "on", "or", "that", "the", "then", "to", "up", "was", "were", "will",
    "with",
]);

/// Objects of an installation that names no tool.
const OBJECTS: WordTable = WordTable::new(&[
    "dependencies",
    "dependency",
    "libraries",
    "library",
    "module",
    "modules",
    "package",
    "package.json",
    "packages",
    "requirements",
    "requirements.txt",
]);

/// Well-known packages, so that `install numpy` is recognized.
const KNOWN_PACKAGES: WordTable = WordTable::new(&[
    "beautifulsoup4",
    "bs4",
    "curl",
    "docker",
    "ffmpeg",
    "gcc",
    "git",
    "imagemagick",
    "jq",
    "lodash",
    "lxml",
    "matplotlib",
    "nodejs",
    "numpy",
    "openpyxl",
    "pandas",
    "pillow",
    "pyarrow",
    "python3",
    "pytorch",
    "pyyaml",
    "requests",
    "scikit-learn",
    "scipy",
    "seaborn",
    "sklearn",
    "sqlite3",
    "tensorflow",
    "torch",
    "typescript",
    "wget",
]);

/// Sources of packages.
const REGISTRIES: WordTable = WordTable::new(&[
    "conda-forge",
    "cpan",
    "cran",
    "crates.io",
    "dockerhub",
    "ghcr.io",
    "github",
    "gitlab",
    "hackage",
    "homebrew",
    "maven",
    "npmjs",
    "nuget",
    "pypi",
    "pypi.org",
    "quay.io",
    "rubygems",
    "source",
    "testpypi",
]);

/// Tools that install their arguments without a verb.
const VERBLESS_TOOLS: WordTable =
    WordTable::new(&["cpanm", "easy_install", "gdebi", "pip-sync", "xbps-install"]);

/// Words between a tool and its verb: `uv tool install`, `yarn global add`.
const SUBCOMMANDS: WordTable = WordTable::new(&[
    "component",
    "env",
    "extension",
    "global",
    "package",
    "pip",
    "pkg",
    "plugin",
    "profile",
    "self",
    "target",
    "tool",
    "toolchain",
]);

/// Tools whose verb is an option, with the prefixes of that option.
const OPTIONS: [(&str, &[&str]); 10] = [
    ("pacman", &["-S", "-U", "--sync"]),
    ("yay", &["-S"]),
    ("paru", &["-S"]),
    ("dpkg", &["-i", "--install"]),
    ("rpm", &["-i", "-U", "--install", "--upgrade"]),
    ("nix-env", &["-i", "--install"]),
    ("nix-shell", &["-p", "--packages"]),
    ("npm", &["-g"]),
    ("perl", &["-MCPAN"]),
    ("cpan", &["-i"]),
];

/// The distance in words within which the installed object is searched.
const WORDS_AHEAD_MAX: usize = 12;

/// Returns the number of words of the installation at this word, and the way the text speaks of it.
pub(crate) fn find_mention(words: &[ProseToken<'_>], index: usize) -> Option<(usize, MentionKind)> {
    if let Some(count) = tool_install(words, index) {
        let before = index.checked_sub(1).map_or("", |it| lower(words, it));
        let needed = ["need", "needs", "require", "requires"].contains(&before);
        let speech = match prose_analysis::classify_verb(words, index) {
            MentionKind::Mention if needed => MentionKind::Instruction,
            speech => speech,
        };
        return Some((count, speech));
    }
    let count = match lower(words, index) {
        "install" => install_without_tool(words, index)?,
        "add" | "download" | "fetch" | "get" | "grab" | "update" | "upgrade" => {
            by_tool(words, index)?
        }
        "installed" => return is_required(words, index).then_some((1, MentionKind::Instruction)),
        _ => return None,
    };
    // `install` is a verb only in an instruction; `the install of packages` is not even a mention.
    let speech = prose_analysis::classify_verb(words, index);
    (speech == MentionKind::Instruction).then_some((count, speech))
}

/// Returns true for `numpy must be installed` or `it should be installed with pip`.
fn is_required(words: &[ProseToken<'_>], index: usize) -> bool {
    let before = |back: usize| index.checked_sub(back).map_or("", |it| lower(words, it));
    let demanded = before(1) == "be" && ["must", "should", "shall"].contains(&before(2));
    let named = |it: usize| KNOWN_PACKAGES.has(lower(words, it)) || OBJECTS.has(lower(words, it));
    demanded
        && !prose_analysis::is_denied(words, index)
        && (by_tool(words, index).is_some() || prose_analysis::sentence(words, index).any(named))
}

/// Returns the number of words up to the tool in `… with pip` or `… via conda`.
fn by_tool(words: &[ProseToken<'_>], index: usize) -> Option<usize> {
    let mut ahead =
        (index + 1..index + WORDS_AHEAD_MAX).take_while(|it| prose_analysis::continues(words, *it));
    ahead.find(|it| is_by_tool(words, *it)).map(|it| it + 1 - index)
}

fn is_by_tool(words: &[ProseToken<'_>], index: usize) -> bool {
    let tool = lower(words, index);
    let before = index.checked_sub(1).map_or("", |it| lower(words, it));
    (AMBIGUOUS.has(tool) || UNAMBIGUOUS.has(tool)) && ["with", "using", "via"].contains(&before)
}

/// Returns the number of words of `pip install`, `go get x/y`, `apt-get -y install` or `npx x`.
fn tool_install(words: &[ProseToken<'_>], index: usize) -> Option<usize> {
    let first = words.get(index)?;
    let name = super::plain_name(first.lower.rsplit('/').next().unwrap_or(""));
    let name = name.trim_end_matches('-');
    let word = |ahead: usize| {
        let joined = (index + 1..=index + ahead)
            .all(|it| words.get(it).is_some_and(|word| word.start == TokenStart::Inside));
        if joined { lower(words, index + ahead) } else { "" }
    };
    let (one, two, three) = (word(1), word(2), word(3));
    let verb = |word: &str| VERBS.has(word);
    let strong = |verb: &str, object: &str| match verb {
        "install" => true,
        "add" => !object.is_empty() && !FUNCTION_WORDS.has(object),
        _ => VERBS.has(verb) && (first.in_code || is_run(words, index)),
    };
    match name {
        "go" => (["get", "install"].contains(&one) && two.contains(['/', '.'])).then_some(3),
        "bun" | "deno" => {
            (one == "install" || one == "add" && !FUNCTION_WORDS.has(two)).then_some(2)
        }
        "npx" | "uvx" | "pnpx" => (!one.is_empty() && !FUNCTION_WORDS.has(one)).then_some(2),
        "pipx" if ["run", "inject"].contains(&one) => Some(2),
        "uv" if one == "run" && two == "--with" => Some(3),
        _ if VERBLESS_TOOLS.has(name) && !one.is_empty() && !FUNCTION_WORDS.has(one) => Some(2),
        _ if by_option(name, words, index) => Some(2),
        _ if (UNAMBIGUOUS.has(name) || AMBIGUOUS.has(name))
            && SUBCOMMANDS.has(one)
            && verb(two) =>
        {
            Some(3)
        }
        "uv" | "python" if one == "pip" && verb(two) => Some(3),
        _ if UNAMBIGUOUS.has(name) || UNAMBIGUOUS.has(&first.lower) => {
            if verb(one) {
                Some(2)
            } else {
                (one.starts_with('-') && (verb(two) || verb(three))).then_some(3)
            }
        }
        _ if AMBIGUOUS.has(name) => {
            if strong(one, two) {
                Some(2)
            } else {
                (one.starts_with('-') && strong(two, three)).then_some(3)
            }
        }
        _ => None,
    }
}

/// Returns true for `pacman -S foo` or `dpkg -i foo.deb`.
fn by_option(name: &str, words: &[ProseToken<'_>], index: usize) -> bool {
    let Some(next) = words.get(index + 1) else { return false };
    let options = OPTIONS.iter().find(|(tool, _)| *tool == name).map_or(&[][..], |it| it.1);
    prose_analysis::continues(words, index + 1)
        && options.iter().any(|it| next.text.starts_with(it))
}

/// Returns true for `download and install foo`, which means software of any name.
fn is_download(words: &[ProseToken<'_>], index: usize) -> bool {
    let before = |back: usize| index.checked_sub(back).map_or("", |it| lower(words, it));
    before(1) == "and" && ["download", "fetch", "get", "grab", "pull"].contains(&before(2))
}

fn is_run(words: &[ProseToken<'_>], index: usize) -> bool {
    let before = index.checked_sub(1).map_or("", |it| lower(words, it));
    ["run", "execute", "sudo", "call", "type"].contains(&before)
}

/// Returns the number of words of `Install numpy with pip`, `install the package foo`, or `install`
/// before a term in backquotes.
fn install_without_tool(words: &[ProseToken<'_>], index: usize) -> Option<usize> {
    let quoted = |it: usize| words.get(it).is_some_and(|word| word.in_code);
    if !quoted(index) && quoted(index + 1) && prose_analysis::continues(words, index + 1) {
        return Some(2);
    }
    if is_download(words, index) {
        return Some(1);
    }
    // `Install base` and similar nouns are not installations.
    if ["base", "count", "counts", "date", "rate", "size", "time"]
        .contains(&lower(words, index + 1))
    {
        return None;
    }
    (index + 1..index + WORDS_AHEAD_MAX)
        .take_while(|it| prose_analysis::continues(words, *it))
        .find_map(|it| {
            let word = lower(words, it);
            let known = OBJECTS.has(word) || KNOWN_PACKAGES.has(word) || UNAMBIGUOUS.has(word);
            let from = lower(words, it - 1) == "from";
            let tool =
                is_by_tool(words, it) || from && (AMBIGUOUS.has(word) || REGISTRIES.has(word));
            let pinned = word.contains("==") || word.contains(">=");
            (known || tool || pinned).then_some(it + 1 - index)
        })
}
