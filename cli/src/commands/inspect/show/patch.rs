//! `toolexec show --patch`: prints the patch of a record, to a pipe or a file its exact bytes. It
//! must never print bytes that differ from the digest in the record, nor a patch of a record that
//! does not verify with a known key.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

use model::{Sha256, UtcTime, escape_line};
use serde_json::Value;
use validator::{Draft, OwnerUid, PastRequest, REQUEST_BYTES_MAX};

use crate::args::StateOption;
use crate::commands::records::verify;
use crate::failure::Failure;
use crate::output::screen::OutputScreen;
use crate::output::{self, figures, human};

/// Limit of a patch that is printed. A larger one can be read in the record.
const PATCH_BYTES_MAX: u64 = 256 << 20;

/// The patch that a record states.
struct RecordedPatch {
    /// The path in the directory of the record.
    path: String,
    sha256: String,
}

pub(super) fn print(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<ExitCode, Failure> {
    let shown = escape_line(&dir.to_string_lossy());
    let Some(facts) = facts(dir, allowed_signers, state)? else { return Ok(ExitCode::from(1)) };
    let patch = match recorded_patch(dir, &facts) {
        Ok(patch) => patch,
        Err(why) => return Ok(output::report_refusal(&format!("{shown}: {why}"))),
    };
    let path = dir.join(&patch.path);
    let read = records::read_claimed(dir, &patch.path, PATCH_BYTES_MAX);
    let Some(bytes) = read.map_err(Failure::io(&path))? else {
        let (path, most) = (path.display(), figures::size(PATCH_BYTES_MAX));
        return Err(Failure::Message(format!("{path}: larger than {most}; help: read it there")));
    };
    // The file may have changed since the record was verified.
    if Sha256::of(&bytes).to_string() != patch.sha256 {
        output::note(format_args!(
            "{}: differs from the digest in the record; help: run `toolexec verify {shown}`",
            path.display()
        ));
        return Ok(ExitCode::from(1));
    }
    print_bytes(&bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn print_bytes(patch: &[u8]) -> Result<(), Failure> {
    let stdout = io::stdout();
    if patch.is_empty() {
        output::stderr_line("no changes");
        return Ok(());
    }
    match stdout.is_terminal() {
        true => output::text(&human::patch_text(OutputScreen::of(&stdout), patch)),
        false => output::bytes(patch),
    }
}

/// Returns the facts of the record, or `None` if it does not verify or no key is known, which is
/// reported.
fn facts(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<Option<Value>, Failure> {
    let shown = dir.display();
    match verify::verify_directory(dir, allowed_signers, state) {
        Ok(Ok(verified)) => Ok(Some(verified.facts().clone())),
        Ok(Err(faults)) => {
            let help = match faults.iter().any(verify::names_unknown_key) {
                true => "name the keys of its host with --result-keys",
                false => "do not use the patch; ask the operator of the host",
            };
            output::note(format_args!("{shown}: does not verify; help: {help}"));
            faults.iter().for_each(output::note);
            Ok(None)
        }
        // Keys that were named must exist.
        Err(failure) if allowed_signers.is_some() => Err(failure),
        Err(failure) => {
            let help = "name the keys of its host with --result-keys";
            let problem = failure.problem();
            output::note(format_args!("{shown}: not verified: {problem}; help: {help}"));
            Ok(None)
        }
    }
}

/// Returns the patch that the recorded request asks for, or the reason why there is none.
fn recorded_patch(dir: &Path, facts: &Value) -> Result<RecordedPatch, &'static str> {
    let Some(started) = facts["started_utc"].as_str().and_then(|text| text.parse().ok()) else {
        return Err("no patch: nothing ran; help: name the record of a run");
    };
    let Some(request) = recorded_request(dir, facts, started) else {
        return Err("no patch: its request cannot be read; help: use a newer version of toolexec");
    };
    let Some(patch) = request.patch() else {
        return Err(
            "no patch: its request asks for none; help: use --patch of `toolexec exec` or `draft`",
        );
    };
    let mut artifacts = facts["artifacts"].as_array().into_iter().flatten();
    let row = artifacts.find(|row| row["path"].as_str() == Some(patch.path));
    match row.and_then(|row| row["sha256"].as_str()) {
        Some(sha256) => Ok(RecordedPatch {
            path: format!("artifacts/{}", patch.path),
            sha256: sha256.to_owned(),
        }),
        None => Err("no patch: the run left none; help: read the outcome with `toolexec show`"),
    }
}

fn recorded_request(dir: &Path, facts: &Value, started: UtcTime) -> Option<PastRequest> {
    let name = format!("{}.md", facts["request_id"].as_str()?);
    let bytes_max = u64::try_from(REQUEST_BYTES_MAX).unwrap_or(u64::MAX);
    let bytes = records::read_claimed(dir, &format!("request/{name}"), bytes_max).ok()??;
    let sha256 = Sha256::of(&bytes).to_string();
    let is_recorded = facts["request_sha256"].as_str() == Some(sha256.as_str());
    let draft = Draft::new(bytes, &name, OwnerUid::new(0)).ok()?;
    draft.read_recorded(started).ok().filter(|_| is_recorded)
}
