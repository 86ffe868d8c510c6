//! `toolexec verify`: signature and every digest of a result, or of a directory of results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use records::{Fault, PublicResultKey, Trust, Verified};
use validator::{ResultId, escape_line};

use crate::failure::Failure;
use crate::options::{Format, StateOption, Verify};
use crate::output;
use crate::state::read_file;

const SIGNERS_BYTES_MAX: usize = 1024 * 1024;

pub(crate) fn verify(asked: &Verify) -> Result<ExitCode, Failure> {
    let trust = trust(asked.allowed_signers.as_deref(), &asked.state)?;
    let results = results_at(&asked.path)?;
    let mut all = !results.is_empty();
    if results.is_empty() {
        let fault = "no result is here: it has neither a result's name nor a record in it";
        match asked.format {
            Format::Human => print_faults(&asked.path.to_string_lossy(), &[fault.to_owned()])?,
            Format::Json => print_json_faults(&asked.path, &[fault.to_owned()])?,
        }
    }
    for result in &results {
        let verified = records::verify(result, &trust);
        all &= verified.is_ok();
        match asked.format {
            Format::Human => print_human(result, &verified)?,
            Format::Json => print_json(result, &verified)?,
        }
    }
    Ok(ExitCode::from(u8::from(!all)))
}

/// Whether a result directory verifies; what is wrong with it goes to stderr.
pub(crate) fn is_verified(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<bool, Failure> {
    let Err(faults) = records::verify(dir, &trust(allowed_signers, state)?) else {
        return Ok(true);
    };
    output::note(format_args!("{}: does not verify", dir.display()));
    faults.iter().for_each(output::note);
    Ok(false)
}

fn trust(allowed_signers: Option<&Path>, state: &StateOption) -> Result<Trust, Failure> {
    if let Some(file) = allowed_signers {
        let bytes = read_file(file, SIGNERS_BYTES_MAX)?;
        let text = String::from_utf8_lossy(&bytes);
        return Trust::from_allowed_signers(&text)
            .map_err(|error| Failure::Said(format!("{}: {error}", file.display())));
    }
    let keys = state.path()?.join("keys");
    match PublicResultKey::open(&keys) {
        Ok(key) => Ok(Trust::from_key(&key)),
        Err(error) => Err(Failure::Said(format!(
            "no key to trust: {error}; name the signer's keys with --allowed-signers, or the state \
             that signed with --state"
        ))),
    }
}

/// The result directories that a path means; none if there are none.
fn results_at(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut real = fs::canonicalize(path).map_err(Failure::io(path))?;
    let named_file = real.is_file();
    if named_file {
        real.pop();
    }
    if is_result(&real) {
        return Ok(vec![real]);
    }
    let mut children = Vec::new();
    if named_file {
        return Ok(children);
    }
    for entry in fs::read_dir(&real).map_err(Failure::io(path))? {
        let child = entry.map_err(Failure::io(path))?.path();
        if is_result(&child) {
            children.push(child);
        }
    }
    children.sort();
    Ok(children)
}

/// Whether a directory is to be looked at as a result: by its name, so that one whose record is gone
/// is told of, or by a record in it, so that one with another name is. A result that is still being
/// gathered has a hidden name and is none.
fn is_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with('.') || path.is_file() {
        return false;
    }
    let names_result = |name: &str| name.parse::<ResultId>().is_ok();
    if names_result(&name) || path.join(format!("{name}.md")).exists() {
        return true;
    }
    fs::read_dir(path).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let file = entry.file_name();
            let stem = file.to_str().and_then(|file| file.strip_suffix(".md"));
            stem.is_some_and(names_result)
        })
    })
}

fn print_human(path: &Path, verified: &Result<Verified, Vec<Fault>>) -> Result<(), Failure> {
    match verified {
        Ok(verified) => output::line(format_args!(
            "{}: verified: {}, {} files re-hashed, signed by {} {}",
            verified.result_id(),
            verified.outcome(),
            verified.files_rehashed(),
            verified.signer_principal(),
            verified.signer_fingerprint()
        )),
        Err(faults) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            print_faults(&name, &texts(faults))
        }
    }
}

fn texts(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(Fault::to_string).collect()
}

fn print_faults(name: &str, faults: &[String]) -> Result<(), Failure> {
    output::line(format_args!("{}: NOT VERIFIED", escape_line(name)))?;
    for fault in faults {
        output::line(format_args!("  {}", escape_line(fault)))?;
    }
    Ok(())
}

fn print_json(path: &Path, verified: &Result<Verified, Vec<Fault>>) -> Result<(), Failure> {
    match verified {
        Ok(verified) => output::line(serde_json::json!({
            "path": output::path(path),
            "verified": true,
            "result_id": verified.result_id().as_str(),
            "outcome": verified.outcome(),
            "exit_code": verified.exit_code(),
            "files": verified.files_rehashed(),
            "signer": verified.signer_fingerprint(),
            "faults": [],
        })),
        Err(faults) => print_json_faults(path, &texts(faults)),
    }
}

fn print_json_faults(path: &Path, faults: &[String]) -> Result<(), Failure> {
    output::line(serde_json::json!({
        "path": output::path(path),
        "verified": false,
        "faults": faults,
    }))
}
