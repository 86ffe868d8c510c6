//! The signed list of the hosts.

use std::fs;
use std::path::{Path, PathBuf};

use super::host::TestFleetHost;
use crate::bench::CliOutput;
use crate::ssh_keygen::sign_file;

/// The namespace in which an operator signs for a fleet.
pub const FLEET_NAMESPACE: &str = "fleet.tool-exec@threegate";

/// Returns the entry of a host, with the keys that its programs print.
pub(super) fn entry(host: &TestFleetHost<'_>, labels: &[&str]) -> String {
    let line = |words: &[&str]| host.keys(words).lines().next().unwrap().to_owned();
    let record_key = line(&["show", "--format", "allowed-signers"]);
    let log_key = line(&["show", "--format", "verifier"]);
    let checked = CliOutput::of(&mut host.agent_command("check"));
    let witness_key = checked.stdout.lines().find(|line| line.starts_with("witness_key: "));
    let witness_key = witness_key.unwrap_or_else(|| panic!("no key in {checked:#?}"));
    format!(
        "  - name: {}\n    labels: [{}]\n    record_keys: ['{record_key}']\n    log_key: \
         '{log_key}'\n    {witness_key}\n",
        host.name,
        labels.join(", ")
    )
}

/// Writes a list with its signature.
pub(super) fn write_signed(path: &Path, text: &str, key: &Path) {
    fs::write(path, text).unwrap();
    fs::remove_file(signature_of(path)).unwrap_or_default();
    sign_file(FLEET_NAMESPACE, key, path);
}

/// Copies a list with its signature. The signature is first: a reader of the list finds it.
pub(super) fn install(from: &Path, to: &Path) {
    for (from, to) in [(signature_of(from), signature_of(to)), (from.to_owned(), to.to_owned())] {
        let hidden = to.with_extension("new");
        fs::copy(from, &hidden).unwrap();
        fs::rename(hidden, to).unwrap();
    }
}

fn signature_of(path: &Path) -> PathBuf {
    path.with_extension("yaml.sig")
}
