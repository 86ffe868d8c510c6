//! Installers among the words of a command. Only the program and the words that choose what it
//! does count: a file or an argument that is called like a tool must never be taken for one.

use super::{is_installer, plain_name};
use crate::table::Table;

/// Python modules that install, or make a place to install into.
const PYTHON_MODULES: Table = Table::new(&[
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
const BOOTSTRAPS: Table = Table::new(&["ez_setup.py", "get-pip.py", "get-poetry.py"]);

/// The installer that a command runs, as it is called.
pub(crate) fn installer(argv: &[&str]) -> Option<String> {
    let name = base_name(argv.first()?).to_ascii_lowercase();
    let plain = plain_name(&name);
    if is_installer(&name) || is_installer(plain) {
        return Some(name);
    }
    let second = argv.get(1).copied().unwrap_or("");
    let both = |first: &str, second: &str| Some(format!("{first} {second}"));
    match plain {
        "go" if ["get", "install", "mod"].contains(&second) => both("go", second),
        // `go run example.org/tool@v1` fetches what it runs.
        "go" if second == "run" => {
            let package = argv.iter().skip(2).find(|word| !word.starts_with('-'))?;
            package.contains('@').then(|| "go run …@version".to_owned())
        }
        // What stands in a registry or on a web server is fetched, then run.
        "bun" | "deno" | "node" if argv.iter().skip(1).take(16).any(|word| is_fetched(word)) => {
            Some(format!("{plain} of a registry or URL"))
        }
        "bun" | "deno" if ["add", "install", "i", "x", "create"].contains(&second) => {
            both(plain, second)
        }
        "python" | "pypy" => {
            let script = argv.iter().skip(1).find(|word| !word.starts_with('-'));
            let bootstrap = script.map(|word| base_name(word)).filter(|it| BOOTSTRAPS.has(it));
            match bootstrap {
                Some(script) => both("python", script),
                None => python_module(argv).and_then(|module| both("python -m", module)),
            }
        }
        "ruby" | "jruby" if argv.iter().any(|word| word.contains("bundler/inline")) => {
            both("ruby with", "bundler/inline")
        }
        "ruby" | "jruby" => {
            let at = argv.iter().take(8).position(|word| *word == "-S")?;
            let name = argv.get(at + 1)?;
            is_installer(name).then(|| format!("ruby -S {name}"))
        }
        _ => None,
    }
}

fn is_fetched(script: &str) -> bool {
    ["npm:", "jsr:"].iter().any(|scheme| script.starts_with(scheme))
}

fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
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
    PYTHON_MODULES.has(name.split('.').next().unwrap_or(name))
}
