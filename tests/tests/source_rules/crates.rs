//! The crates: each imports only what ARCHITECTURE.md allows, and links no forbidden library.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use toolexec_tests::workspace;

use crate::rust_text::has_word;
use crate::sources::{GRAPH, sources};

/// Returns the names in every `[…dependencies]` of a manifest.
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

/// Returns every package of the lock file and its dependencies.
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
    // Cargo.lock does not mark optional dependencies; `cargo tree` omits them.
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["tree", "-p", "daemon", "-e", "normal", "--prefix", "none", "--format", "{p}"]);
    let output = cargo.args(["--locked", "--offline"]).current_dir(workspace()).output().unwrap();
    let tree = String::from_utf8(output.stdout).unwrap();
    let linked: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(linked.contains("egress") && linked.len() > 20, "no tree: {error}");
    let network = ["hyper", "tokio", "http", "hickory", "mio", "rustls", "tls"];
    let wrong: Vec<_> =
        linked.iter().filter(|name| network.iter().any(|word| name.contains(word))).collect();
    // `notify` uses it to watch files.
    assert_eq!(wrong, [&"mio"]);
    // A workspace build gives the program's dependencies to the library, which must not use them.
    for source in sources() {
        let path = &source.path;
        if path.starts_with("egress/src") && !path.starts_with("egress/src/proxy") {
            let named = network.iter().find(|word| has_word(source.code(), word));
            assert_eq!(named, None, "{}", path.display());
        }
    }
}
