//! Signatures by `ssh-keygen`, as an approver makes them.

use std::path::Path;
use std::process::Command;

use crate::bench::CliOutput;

/// Signs a file as `<file>.sig`, which must not exist.
#[track_caller]
pub fn sign_file(namespace: &str, key: &Path, file: &Path) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(key).arg(file);
    CliOutput::of(&mut command).assert_code(0);
}
