//! The published vectors: the crate and the script both compute the stated digest.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare fails")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trees::{LinkRule, TreeSummary};

use crate::scene::TreeScene;
use crate::script::digests_by_script;

/// Makes the tree of a vector.
fn make(entries: &Value) -> TreeScene {
    let scene = TreeScene::new();
    for entry in entries.as_array().unwrap() {
        let entry: Vec<&str> =
            entry.as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
        match entry.as_slice() {
            ["directory", path] => scene.directory(path),
            ["file", path, text] => scene.file(path, text.as_bytes(), 0o640),
            ["executable", path, text] => scene.file(path, text.as_bytes(), 0o750),
            ["link", path, target] => scene.link(path, target),
            other => panic!("{other:?}"),
        }
    }
    scene
}

fn count(entries: &Value, kinds: &[&str]) -> u64 {
    let is_one = |entry: &&Value| kinds.iter().any(|kind| entry.get(0).unwrap() == kind);
    u64::try_from(entries.as_array().unwrap().iter().filter(is_one).count()).unwrap()
}

fn check_vector(path: &Path) {
    let vector: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let entries = vector.get("entries").unwrap();
    let scene = make(entries);
    let found = scene.digest().unwrap();
    let TreeSummary { sha256, files, directories, links, .. } = found;
    let stated = vector.get("sha256").unwrap().as_str().unwrap();
    assert_eq!(sha256.to_string(), stated, "{}", path.display());
    assert_eq!(files, count(entries, &["file", "executable"]), "{}", path.display());
    assert_eq!(directories, count(entries, &["directory"]), "{}", path.display());
    assert_eq!(links, count(entries, &["link"]), "{}", path.display());
    let of_script = digests_by_script(std::slice::from_ref(&scene.top), LinkRule::Inside);
    if let Some(of_script) = of_script {
        assert_eq!(of_script.get(&scene.top).unwrap(), stated, "{}", path.display());
    }
}

fn vectors() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let vectors = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let vectors: Vec<PathBuf> = vectors.collect();
    assert!(vectors.len() >= 6, "{vectors:?}");
    vectors
}

#[test]
fn the_vectors_have_their_digests() {
    for vector in vectors() {
        check_vector(&vector);
    }
}

#[test]
fn the_page_lists_each_vector_with_its_digest() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tree-digest.md");
    let page = fs::read_to_string(page).unwrap();
    for path in vectors() {
        let vector: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let stated = vector.get("sha256").unwrap().as_str().unwrap();
        let row = format!("| `{name}` | `{stated}` |");
        assert!(page.contains(&row), "{row} is not in docs/tree-digest.md");
    }
}
