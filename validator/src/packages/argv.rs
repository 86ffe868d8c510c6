//! Finds installers among the words of a command. Only the program and the words that select its
//! action count: a file or an argument with the name of a tool must never be taken for the tool.

use model::Language;

use super::{is_installer, plain_name};
use crate::table::WordTable;

/// Python modules that install packages or create an environment for them.
const PYTHON_MODULES: WordTable = WordTable::new(&[
    "conda",
    "easy_install",
    "ensurepip",
    "hatch",
    "micropip",
    "pdm",
    "pip",
    "pipenv",
    "pipx",
    "poetry",
    "uv",
    "venv",
    "virtualenv",
]);

/// Scripts that only install: the bootstraps of pip and setuptools.
const BOOTSTRAPS: WordTable = WordTable::new(&["ez_setup.py", "get-pip.py", "get-poetry.py"]);

/// Returns the installer that a command runs, as written.
pub(crate) fn installer(argv: &[&str]) -> Option<String> {
    let name = base_name(argv.first()?).to_ascii_lowercase();
    let plain = plain_name(&name);
    if is_installer(&name) || is_installer(plain) {
        return (!is_local_action(plain, argv)).then_some(name);
    }
    match Language::of_program(plain) {
        Some(language) => of_language(language, plain, argv),
        None if ["bun", "deno"].contains(&plain) => fetching_program(plain, argv)
            .or_else(|| second_of(plain, argv, &["add", "install", "i", "x", "create"])),
        None => None,
    }
}

/// Returns whether a tool that can install is asked only to use files that it has: to compile and
/// test a crate with `--offline` or `--frozen`, or to run a script of package.json.
fn is_local_action(plain: &str, argv: &[&str]) -> bool {
    let Some(action) = argv.get(1) else { return false };
    match plain {
        "cargo" => {
            let is_local = ["bench", "build", "check", "clippy", "doc", "run", "test"];
            let before_tool = argv.iter().skip(2).take_while(|word| **word != "--");
            is_local.contains(action)
                && before_tool.into_iter().any(|word| ["--offline", "--frozen"].contains(word))
        }
        "npm" => ["run", "run-script", "start", "test"].contains(action),
        _ => false,
    }
}

/// Returns the installation that a language's interpreter is asked to run.
fn of_language(language: Language, plain: &str, argv: &[&str]) -> Option<String> {
    match language {
        Language::Python => {
            let script = argv.iter().skip(1).find(|word| !word.starts_with('-'));
            let bootstrap = script.map(|word| base_name(word)).filter(|it| BOOTSTRAPS.has(it));
            bootstrap
                .map(|script| format!("python {script}"))
                .or_else(|| python_module(argv).map(|module| format!("python -m {module}")))
        }
        Language::Node => fetching_program(plain, argv),
        Language::Ts => None,
        Language::Go => second_of(plain, argv, &["get", "install", "mod"]).or_else(|| go_run(argv)),
        Language::Ruby if argv.iter().any(|word| word.contains("bundler/inline")) => {
            Some("ruby with bundler/inline".to_owned())
        }
        Language::Ruby => {
            let at = argv.iter().take(8).position(|word| *word == "-S")?;
            let name = argv.get(at + 1)?;
            is_installer(name).then(|| format!("ruby -S {name}"))
        }
    }
}

/// Returns the program with its second word if that word installs.
fn second_of(plain: &str, argv: &[&str], installing: &[&str]) -> Option<String> {
    let second = argv.get(1).filter(|second| installing.contains(second))?;
    Some(format!("{plain} {second}"))
}

/// Returns `go run` with a version (`go run example.org/tool@v1`), which fetches its program.
fn go_run(argv: &[&str]) -> Option<String> {
    argv.get(1).filter(|second| **second == "run")?;
    let package = argv.iter().skip(2).find(|word| !word.starts_with('-'))?;
    package.contains('@').then(|| "go run …@version".to_owned())
}

/// Returns the program if a word names a registry: it fetches from there, then runs the result.
fn fetching_program(plain: &str, argv: &[&str]) -> Option<String> {
    let named = argv.iter().skip(1).take(16).any(|word| is_fetched(word));
    named.then(|| format!("{plain} of a registry or URL"))
}

fn is_fetched(script: &str) -> bool {
    ["npm:", "jsr:"].iter().any(|scheme| script.starts_with(scheme))
}

fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// Returns the installing module after `-m`, skipping Python's own options.
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
    PYTHON_MODULES.has(name.split('.').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiling_and_testing_without_the_network_installs_nothing() {
        for local in ["cargo test --offline", "cargo build --release --frozen", "npm test"] {
            let words: Vec<&str> = local.split(' ').collect();
            assert_eq!(installer(&words), None, "{local}");
        }
        for installing in
            ["cargo test", "cargo run -- --offline", "cargo install --offline x", "npm ci", "cargo"]
        {
            let words: Vec<&str> = installing.split(' ').collect();
            assert!(installer(&words).is_some(), "{installing}");
        }
    }

    #[test]
    fn an_installer_of_each_language_is_known() {
        for language in Language::ALL {
            let words: &[&str] = match language {
                Language::Python => &["pip", "install", "x"],
                Language::Node | Language::Ts => &["npm", "install", "x"],
                Language::Go => &["go", "install", "example.org/x"],
                Language::Ruby => &["gem", "install", "x"],
            };
            assert!(installer(words).is_some(), "{language}: {words:?}");
        }
    }
}
