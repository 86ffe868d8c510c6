//! The rules that the source keeps: who may import whom, where `unsafe` may stand, how files begin,
//! what nothing is called, and that every invariant of ARCHITECTURE.md names a test that exists.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::workspace;

/// DESIGN section 3: a crate, and all of ours that it imports.
const GRAPH: [(&str, &[&str]); 10] = [
    ("model", &[]),
    ("validator", &["model"]),
    ("sandbox", &["model"]),
    ("egress", &[]),
    ("policies", &["model", "validator"]),
    ("spool", &["model", "policies", "validator"]),
    ("records", &["model", "policies", "sandbox", "validator"]),
    ("daemon", &["egress", "model", "policies", "records", "sandbox", "spool", "validator"]),
    ("cli", &["daemon", "model", "policies", "records", "sandbox", "spool", "validator"]),
    ("tests", &[]),
];

/// Every Rust file of the workspace, with its text.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for (member, _) in GRAPH {
        collect(&workspace().join(member), &mut found);
    }
    assert!(found.len() > 80, "only {} files: the search is broken", found.len());
    found
}

fn collect(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(workspace()).unwrap().to_owned(), text));
        }
    }
}

/// The text without comments and without what stands in quotes.
fn code_of(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw_string(&code, rest) {
            let close = format!("\"{}", "#".repeat(hashes));
            rest[hashes + 2..].find(&close).map_or(rest.len(), |end| end + 2 * hashes + 3)
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\''
            && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\''))
        {
            quoted(rest, '\'')
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        code.push(' ');
        rest = &rest[skipped..];
    }
    code
}

/// Whether a raw string begins here, and with how many hashes.
fn raw_string(before: &str, rest: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let inner = rest.strip_prefix('r')?;
    if before.ends_with(|c| word(c) && c != 'b') {
        return None;
    }
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    inner[hashes..].starts_with('"').then_some(hashes)
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\\' if !escaped => escaped = true,
            _ if c == quote && !escaped => return at + 1,
            _ => escaped = false,
        }
    }
    rest.len()
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[test]
fn the_reader_of_code_knows_words_from_texts() {
    let text = r##"/* unsafe */ let a = "unsafe \" unsafe"; // unsafe
        let b = r#"un"safe"#; let c = '"'; let d = '\''; fn e<'a>() { unsafe_code(); }"##;
    assert!(!has_word(&code_of(text), "unsafe"), "{}", code_of(text));
    assert!(has_word(&code_of(&format!("{text} unsafe {{}}")), "unsafe"));
}

/// The names under every `[…dependencies]` of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let (mut names, mut inside) = (BTreeSet::new(), false);
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies");
            if let Some((_, name)) = section.split_once("dependencies.") {
                names.insert(name.to_owned());
            }
        } else if inside && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            names.insert(line.split(['.', ' ', '=']).next().unwrap().to_owned());
        }
    }
    names
}

#[test]
fn the_import_graph_is_the_designs() {
    let root = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let members = root.lines().find_map(|line| line.strip_prefix("members = ")).unwrap();
    let members: BTreeSet<_> =
        members.split('"').filter(|it| it.starts_with(char::is_alphabetic)).collect();
    assert_eq!(
        members,
        GRAPH.map(|(name, _)| name).into(),
        "a crate that the design does not have"
    );
    for (name, imports) in GRAPH {
        let manifest = fs::read_to_string(workspace().join(name).join("Cargo.toml")).unwrap();
        let ours: BTreeSet<_> = dependencies(&manifest)
            .into_iter()
            .filter(|it| members.contains(it.as_str()))
            .collect();
        assert_eq!(ours, imports.iter().map(|it| (*it).to_owned()).collect(), "{name}");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name} has lints of its own");
    }
}

/// Every package of the lock file and what it depends on.
fn locked() -> BTreeMap<String, Vec<String>> {
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let name = package.split('"').nth(1).unwrap().to_owned();
        let needs =
            package.split_once("dependencies = [").map(|(_, needs)| needs).unwrap_or_default();
        let needs = needs.split('"').skip(1).step_by(2);
        let needs = needs.map(|it| it.split(' ').next().unwrap().to_owned());
        packages.entry(name).or_default().extend(needs);
    }
    packages
}

#[test]
fn the_launcher_links_neither_parser_nor_signer() {
    let packages = locked();
    let (mut todo, mut linked) = (vec!["sandbox".to_owned()], BTreeSet::new());
    while let Some(name) = todo.pop() {
        let needs = packages.get(&name).unwrap_or_else(|| panic!("{name} is not locked"));
        if linked.insert(name) {
            todo.extend(needs.iter().cloned());
        }
    }
    assert!(linked.contains("landlock"), "the search is broken: {linked:?}");
    let foreign = [
        "yaml",
        "saphyr",
        "cmark",
        "markdown",
        "ssh",
        "p256",
        "ecdsa",
        "ed25519",
        "signature",
        "toml",
        "json",
        "hyper",
        "tokio",
        "clap",
        "zbus",
    ];
    let wrong: Vec<_> =
        linked.iter().filter(|name| foreign.iter().any(|word| name.contains(word))).collect();
    assert_eq!(wrong, Vec::<&String>::new());
}

#[test]
fn the_daemon_links_no_network() {
    // Cargo.lock does not know what is optional; cargo does.
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["tree", "-p", "daemon", "-e", "normal", "--prefix", "none", "--format", "{p}"]);
    let said = cargo.args(["--locked", "--offline"]).current_dir(workspace()).output().unwrap();
    let tree = String::from_utf8(said.stdout).unwrap();
    let linked: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    let error = String::from_utf8_lossy(&said.stderr);
    assert!(linked.contains("egress") && linked.len() > 20, "no tree: {error}");
    let network = ["hyper", "tokio", "http", "hickory", "mio", "rustls", "tls"];
    let wrong: Vec<_> =
        linked.iter().filter(|name| network.iter().any(|word| name.contains(word))).collect();
    // `notify` watches files with it.
    assert_eq!(wrong, [&"mio"]);
    // Where the whole workspace is built at once the program's dependencies are there for the library
    // as well; it must not name them.
    for (path, text) in sources() {
        if path.starts_with("egress/src") && !path.starts_with("egress/src/proxy") {
            let code = code_of(&text);
            let named = network.iter().find(|word| has_word(&code, word));
            assert_eq!(named, None, "{}", path.display());
        }
    }
}

#[test]
fn unsafe_stands_in_one_file() {
    let with: Vec<_> = sources()
        .into_iter()
        .filter(|(_, text)| has_word(&code_of(text), "unsafe"))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(with, [PathBuf::from("sandbox/src/sys.rs")]);
    let lifted: Vec<_> = sources()
        .into_iter()
        .filter(|(_, text)| code_of(text).contains("allow(unsafe_code"))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(lifted, [PathBuf::from("sandbox/src/sys.rs")]);
    let root = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    assert!(root.contains("unsafe_code = \"deny\"") || root.contains("unsafe_code = \"forbid\""));
    for (path, text) in sources() {
        let crate_root = ["src/lib.rs", "src/main.rs"].iter().any(|end| path.ends_with(end));
        if crate_root && !path.starts_with("sandbox") {
            assert!(text.contains("#![forbid(unsafe_code)]"), "{}", path.display());
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} does not open with `//!`", path.display());
    }
}

#[test]
fn every_program_says_what_it_may_do() {
    let mut programs = 0;
    for (path, text) in sources() {
        let program = path.ends_with("src/main.rs") || path.parent().unwrap().ends_with("src/bin");
        if program {
            programs += 1;
            let said = text.lines().take_while(|line| line.starts_with("//!"));
            let told = said.clone().any(|line| line.starts_with("//! SECURITY"));
            assert!(told, "{}: no SECURITY paragraph at its head", path.display());
        }
    }
    assert_eq!(programs, 4);
}

#[test]
fn nothing_is_called_by_a_name_that_says_nothing() {
    let nothing = ["common", "core", "util", "utils", "helper", "helpers", "types", "manager"];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for part in path.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()) {
            if nothing.contains(&part.as_str()) {
                wrong.push(format!("{}", path.display()));
            }
        }
        let code = code_of(&text);
        for line in code.lines().filter_map(|line| line.split_once("mod ")) {
            let name: String =
                line.1.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if nothing.contains(&name.as_str()) {
                wrong.push(format!("{}: mod {name}", path.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn nothing_is_left_to_do() {
    for (path, text) in sources() {
        let code = code_of(&text);
        for left in ["todo!", "unimplemented!", "#[ignore", "#[should_panic]", "dbg!("] {
            assert!(!code.contains(left), "{}: {left}", path.display());
        }
    }
}

/// The functions that `cargo test` runs: marked as tests, or run for both users by `as_both!`.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, text) in sources() {
        let code = code_of(&text);
        for marked in code.split("#[test]").skip(1) {
            let name = marked.split_once("fn ").unwrap().1;
            names.insert(name.split('(').next().unwrap().trim().to_owned());
        }
        for both in code.split("as_both!(").skip(1) {
            let listed = both.split(')').next().unwrap();
            names.extend(listed.split(',').map(|name| name.trim().to_owned()));
        }
    }
    names
}

#[test]
fn every_invariant_is_held_by_a_test() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md"));
    let text = text.expect("ARCHITECTURE.md is missing: no invariant can be checked");
    // The numbered lines, wrapped or not, of the part on invariants.
    let heading = |line: &str| line.starts_with('#') && line.to_lowercase().contains("invariant");
    let part = text.lines().skip_while(|line| !heading(line)).skip(1);
    let mut invariants: Vec<String> = Vec::new();
    for line in part.take_while(|line| !line.starts_with("## ")) {
        let (number, rest) = line.split_once(". ").unwrap_or_default();
        if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) {
            assert_eq!(number, (invariants.len() + 1).to_string(), "{line}");
            invariants.push(rest.to_owned());
        } else if let Some(last) = invariants.last_mut().filter(|_| !line.trim().is_empty()) {
            last.push(' ');
            last.push_str(line.trim());
        }
    }
    assert!(invariants.len() >= 5, "a numbered list below a heading with the word invariants");
    let tests = tests();
    for invariant in &invariants {
        let named = invariant.split("(test").nth(1).and_then(|rest| rest.split(')').next());
        let named = named.unwrap_or_else(|| panic!("names no test: {invariant}"));
        let named = named.trim_start_matches('s').trim_start_matches(':');
        for name in named.split(',').map(|name| name.trim().trim_matches('`')) {
            let name = name.rsplit("::").next().unwrap();
            assert!(tests.contains(name), "no test is called {name:?}: {invariant}");
        }
    }
}

/// A row that names no test, or none that there is, promises nothing.
#[test]
fn every_threat_names_its_test() {
    let page = fs::read_to_string(workspace().join("docs/threats.md")).unwrap();
    let (tests, mut rows) = (tests(), 0);
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |")) {
        let named = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for name in named.split(", ") {
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            let name = name.unwrap_or_else(|| panic!("names no test: {row}"));
            assert!(tests.contains(name), "no test is called {name:?}: {row}");
        }
        rows += 1;
    }
    assert!(rows > 20, "{rows} rows");
}
