//! The script `tree_digest.py`, which shares no code with the crate.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use trees::LinkRule;

/// Returns the digest of each directory that the script does not refuse, or `None` without Python.
pub(crate) fn digests_by_script(
    directories: &[PathBuf],
    rule: LinkRule,
) -> Option<BTreeMap<PathBuf, String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tree_digest.py");
    let mut command = Command::new("python3");
    command.arg(script).args((rule == LinkRule::Root).then_some("--root")).args(directories);
    let Ok(output) = command.output() else {
        println!("SKIPPED trees: the script: no python3");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let found: BTreeMap<_, _> = text
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .map(|(sha256, directory)| (PathBuf::from(directory), sha256.to_owned()))
        .collect();
    let refused = String::from_utf8_lossy(&output.stderr).lines().count();
    assert_eq!(found.len() + refused, directories.len(), "{:?}", output.stderr);
    assert_eq!(output.status.code(), Some(i32::from(refused > 0)));
    Some(found)
}
