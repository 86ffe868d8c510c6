//! The Rust files of the workspace, read once for all tests of this program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use toolexec_tests::workspace;

use crate::rust_text::code_of;

/// The crates, each with the crates of ours that it imports.
pub(crate) const GRAPH: [(&str, &[&str]); 19] = [
    ("model", &[]),
    ("validator", &["model"]),
    ("sandbox", &["model"]),
    ("confinement", &[]),
    ("egress", &["confinement"]),
    ("policies", &["model", "validator"]),
    ("spool", &["model", "policies", "trees", "validator"]),
    ("records", &["model", "policies", "sandbox", "validator"]),
    (
        "daemon",
        &[
            "egress",
            "fleet",
            "model",
            "patches",
            "policies",
            "records",
            "sandbox",
            "spool",
            "trees",
            "validator",
        ],
    ),
    ("trees", &["model"]),
    ("patches", &["model"]),
    // Its library imports only `model`; the program imports the others.
    ("fleet", &["confinement", "model", "policies", "records", "spool", "validator"]),
    ("microvm", &["model"]),
    ("monty", &[]),
    ("environments", &["model", "trees"]),
    ("console", &["confinement", "model", "patches", "policies", "records", "spool", "validator"]),
    (
        "cli",
        &[
            "confinement",
            "daemon",
            "environments",
            "fleet",
            "model",
            "patches",
            "policies",
            "records",
            "sandbox",
            "spool",
            "trees",
            "validator",
        ],
    ),
    ("tests", &["model"]),
    ("xtask", &[]),
];

pub(crate) struct RustSource {
    /// Its path below the workspace.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    code: OnceLock<String>,
}

impl RustSource {
    /// The text without comments and string literals.
    pub(crate) fn code(&self) -> &str {
        self.code.get_or_init(|| code_of(&self.text))
    }

    /// Returns the path as the allowance files spell it.
    pub(crate) fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// Returns every Rust file of the workspace, sorted by path.
pub(crate) fn sources() -> &'static [RustSource] {
    static SOURCES: OnceLock<Vec<RustSource>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut found = Vec::new();
        for (member, _) in GRAPH {
            collect(&workspace().join(member), &mut found);
        }
        assert!(found.len() > 80, "only {} files: the search is broken", found.len());
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    })
}

fn collect(directory: &Path, found: &mut Vec<RustSource>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(workspace()).unwrap().to_owned();
            found.push(RustSource { path, text, code: OnceLock::new() });
        }
    }
}
