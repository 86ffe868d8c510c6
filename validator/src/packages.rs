//! Who installs packages, in a command or in prose. A tool request must never install anything:
//! what it needs is part of the runtime or a declared input (seed 002, "Forbidden Content").

const INSTALLERS: [&str; 45] = [
    "pip",
    "pip3",
    "pipx",
    "pipenv",
    "uv",
    "uvx",
    "poetry",
    "pdm",
    "conda",
    "mamba",
    "micromamba",
    "easy_install",
    "npm",
    "npx",
    "pnpm",
    "pnpx",
    "yarn",
    "corepack",
    "gem",
    "bundle",
    "bundler",
    "cargo",
    "apt",
    "apt-get",
    "aptitude",
    "dpkg",
    "apk",
    "dnf",
    "yum",
    "rpm",
    "brew",
    "snap",
    "flatpak",
    "zypper",
    "pacman",
    "emerge",
    "nix-env",
    "composer",
    "rustup",
    "virtualenv",
    "nvm",
    "asdf",
    "rbenv",
    "pyenv",
    "cpan",
];

const VERBS: [&str; 9] = ["install", "add", "i", "ci", "get", "update", "upgrade", "sync", "dlx"];

const PYTHON_MODULES: [&str; 8] =
    ["pip", "ensurepip", "pipx", "uv", "conda", "easy_install", "pipenv", "poetry"];

/// The installer that a command runs, as it is called.
pub(crate) fn installer(argv: &[&str]) -> Option<String> {
    let name = base_name(argv.first()?);
    // pip3.12 is pip.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if INSTALLERS.contains(&name) || INSTALLERS.contains(&plain) {
        return Some(name.to_owned());
    }
    let second = argv.get(1).copied().unwrap_or("");
    let both = |first: &str, second: &str| Some(format!("{first} {second}"));
    match plain {
        "go" if ["get", "install", "mod"].contains(&second) => both("go", second),
        "bun" | "deno" if ["add", "install", "i", "x"].contains(&second) => both(plain, second),
        "python" | "pypy" => python_module(argv).and_then(|module| both("python -m", module)),
        _ => None,
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The installing module that `-m` names, among Python's own options.
fn python_module<'a>(argv: &[&'a str]) -> Option<&'a str> {
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        let letters = word.strip_prefix('-')?;
        let module = letters.find(['m', 'c', 'W', 'X']).map(|at| letters.split_at(at));
        match module.map(|(_, rest)| (rest.get(..1).unwrap_or(""), rest.get(1..).unwrap_or(""))) {
            Some(("m", "")) => return words.next().copied().filter(|name| is_module(name)),
            Some(("m", attached)) => return Some(attached).filter(|name| is_module(name)),
            Some(("c", _)) => return None,
            Some((_, "")) => {
                words.next();
            }
            _ => {}
        }
    }
    None
}

fn is_module(name: &str) -> bool {
    PYTHON_MODULES.contains(&name.split('.').next().unwrap_or(name))
}

/// How a piece of prose speaks of an installation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Speech {
    /// It tells somebody to do it.
    Imperative,
    /// It only names it.
    Mention,
}

/// The first installation that the line speaks of and its byte offset; an instruction before a
/// mere mention.
pub(crate) fn in_prose(line: &str) -> Option<(usize, Speech)> {
    let words = prose_words(line);
    let mut mention = None;
    for (index, word) in words.iter().enumerate() {
        let installs = is_install(&words, index);
        let told = instruction(&words, index);
        if told && (installs || plain_install(&words, index)) {
            return Some((word.at, Speech::Imperative));
        }
        if installs && mention.is_none() {
            mention = Some((word.at, Speech::Mention));
        }
    }
    mention
}

/// Whether program text holds an installation such as `pip install x`.
pub(crate) fn mentions_install(code: &str) -> bool {
    let words = prose_words(code);
    (0..words.len()).any(|index| is_install(&words, index))
}

struct ProseWord {
    at: usize,
    lower: String,
    /// Whether a sentence, a list item or a clause begins with it.
    begins: bool,
}

fn prose_words(line: &str) -> Vec<ProseWord> {
    let decoration = |c: char| "`*_\"'()[]{}<>|,;:.!?#$-+>".contains(c);
    let mut words = Vec::new();
    let mut begins = true;
    let mut from = 0;
    for raw in line.split(|c: char| c.is_whitespace() || "\"'`,".contains(c)) {
        let at = from;
        from += raw.len()
            + line.get(at + raw.len()..).and_then(|r| r.chars().next()).map_or(0, char::len_utf8);
        let ends = raw.ends_with(['.', ':', ';', '!', '?']);
        let bare = raw.trim_matches(decoration);
        if bare.is_empty() {
            begins |= ends;
            continue;
        }
        let numbered = begins && bare.bytes().all(|b| b.is_ascii_digit());
        words.push(ProseWord { at, lower: bare.to_ascii_lowercase(), begins });
        begins = ends || numbered;
    }
    words
}

/// `pip install`, `go get`, `uv pip install`, `apt-get -y install`, `python -m pip install`.
fn is_install(words: &[ProseWord], index: usize) -> bool {
    let word = |ahead: usize| words.get(index + ahead).map_or("", |word| word.lower.as_str());
    let name = word(0);
    let known = INSTALLERS.contains(&name) || ["go", "bun", "deno"].contains(&name);
    let verb = |word: &str| VERBS.contains(&word);
    match name {
        "npx" | "uvx" | "pipx" => !word(1).is_empty() && (name != "pipx" || verb(word(1))),
        "go" | "bun" | "deno" => {
            ["get", "install", "add"].contains(&word(1)) && !word(2).is_empty()
        }
        _ if !known => false,
        _ => verb(word(1)) || (word(1).len() <= 3 && verb(word(2))),
    }
}

/// `Install numpy with pip`, `install the package foo`.
fn plain_install(words: &[ProseWord], index: usize) -> bool {
    const OBJECTS: [&str; 7] =
        ["package", "packages", "dependencies", "requirements", "module", "modules", "library"];
    let starts = words.get(index).is_some_and(|word| word.lower == "install");
    starts
        && words.iter().skip(index + 1).take(12).any(|word| {
            OBJECTS.contains(&word.lower.as_str()) || INSTALLERS.contains(&word.lower.as_str())
        })
}

/// Whether the words up to this one tell somebody to do it, and nobody says not to.
fn instruction(words: &[ProseWord], index: usize) -> bool {
    const TELLING: [&str; 16] = [
        "run", "execute", "please", "then", "first", "must", "use", "type", "call", "now", "just",
        "sudo", "do", "should", "and", "m",
    ];
    const NEGATING: [&str; 11] =
        ["not", "never", "no", "without", "don", "don't", "cannot", "avoid", "forbid", "nor", "t"];
    let before = words.get(index.saturating_sub(5)..index).unwrap_or_default();
    if before.iter().any(|word| NEGATING.contains(&word.lower.as_str())) {
        return false;
    }
    words.get(index).is_some_and(|word| word.begins)
        || before.last().is_some_and(|word| TELLING.contains(&word.lower.as_str()))
}
