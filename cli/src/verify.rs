//! `toolexec verify`: signature and every digest of a result, or of a directory of results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use records::{Fault, PublicResultKey, Trust, Verified};

use crate::failure::Failure;
use crate::options::{Format, Verify};
use crate::state::read_file;

const SIGNERS_BYTES_MAX: usize = 1024 * 1024;

pub(crate) fn verify(asked: &Verify) -> Result<ExitCode, Failure> {
    let trust = trust(asked)?;
    let results = results_at(&asked.path)?;
    let mut all = true;
    for result in &results {
        let verified = records::verify(result, &trust);
        all &= verified.is_ok();
        match asked.format {
            Format::Human => print_human(result, &verified),
            Format::Json => print_json(result, &verified),
        }
    }
    Ok(ExitCode::from(u8::from(!all)))
}

fn trust(asked: &Verify) -> Result<Trust, Failure> {
    if let Some(file) = &asked.allowed_signers {
        let bytes = read_file(file, SIGNERS_BYTES_MAX)?;
        let text = String::from_utf8_lossy(&bytes);
        return Trust::from_allowed_signers(&text)
            .map_err(|error| Failure::Said(format!("{}: {error}", file.display())));
    }
    let keys = asked.state.path()?.join("keys");
    match PublicResultKey::open(&keys) {
        Ok(key) => Ok(Trust::from_key(&key)),
        Err(error) => Err(Failure::Said(format!(
            "no key to trust: {error}; name the signer's keys with --allowed-signers, or the state \
             that signed with --state"
        ))),
    }
}

/// The result directories that a path means.
fn results_at(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let real = fs::canonicalize(path).map_err(Failure::io(path))?;
    if real.is_file() {
        let parent = real.parent().unwrap_or(&real);
        return Ok(vec![parent.to_owned()]);
    }
    let is_result = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.join(format!("{name}.md")).exists()
    };
    let mut children = Vec::new();
    for entry in fs::read_dir(&real).map_err(Failure::io(path))? {
        let child = entry.map_err(Failure::io(path))?.path();
        if child.is_dir() && is_result(&child) {
            children.push(child);
        }
    }
    children.sort();
    // A directory without results in it is one itself, or is told as what it lacks.
    Ok(if children.is_empty() || is_result(&real) { vec![real] } else { children })
}

fn print_human(path: &Path, verified: &Result<Verified, Vec<Fault>>) {
    match verified {
        Ok(verified) => println!(
            "{}: verified: {}, {} files re-hashed, signed by {} {}",
            verified.result_id(),
            verified.outcome(),
            verified.files_rehashed(),
            verified.signer_principal(),
            verified.signer_fingerprint()
        ),
        Err(faults) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            println!("{name}: NOT VERIFIED");
            for fault in faults {
                println!("  {}", validator::escape_line(&fault.to_string()));
            }
        }
    }
}

fn print_json(path: &Path, verified: &Result<Verified, Vec<Fault>>) {
    let object = match verified {
        Ok(verified) => serde_json::json!({
            "path": path,
            "verified": true,
            "result_id": verified.result_id().as_str(),
            "outcome": verified.outcome(),
            "exit_code": verified.exit_code(),
            "files": verified.files_rehashed(),
            "signer": verified.signer_fingerprint(),
            "faults": [],
        }),
        Err(faults) => {
            let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
            serde_json::json!({ "path": path, "verified": false, "faults": faults })
        }
    };
    println!("{object}");
}
