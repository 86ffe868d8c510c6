//! `toolexec promote`: check what the daemon would check, then drop the request in the right order.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use spool::Submission;
use validator::{Code, Draft, OwnerUid, Place, Request, Sha256, Sha256Stream, Violation};

use crate::failure::Failure;
use crate::options::{Format, Promote};
use crate::show;

pub(crate) fn promote(asked: &Promote) -> Result<ExitCode, Failure> {
    let approved = asked.spool.join("approved");
    if !approved.is_dir() {
        return Err(Failure::Said(format!(
            "{}: is no spool: it has no approved/ directory; name one with --spool",
            asked.spool.display()
        )));
    }
    let submission = Submission::read(&asked.request, asked.inputs.as_deref())?;
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(submission.bytes().to_vec(), submission.file_name(), owner)
        .map_err(|error| Failure::Said(format!("{}: {error}", asked.request.display())))?;
    let checked = draft.check(Place::Spool, show::now());
    let mut violations = checked.violations;
    if let Ok(request) = &checked.verdict {
        violations.extend(check_inputs(request, submission.inputs())?);
    }
    for violation in &violations {
        eprintln!("{}", show::violation(&asked.request, violation));
    }
    let request = match checked.verdict {
        Ok(request) if !show::has_error(&violations) => request,
        _ => {
            eprintln!("toolexec: {}: not promoted", asked.request.display());
            return Ok(ExitCode::from(2));
        }
    };
    let declared: Vec<&str> = request.inputs().iter().map(validator::Input::name).collect();
    let dropped = submission.drop_into(&approved, &declared)?;
    match asked.format {
        Format::Human => println!("{}: promoted to {}", request.id(), dropped.display()),
        Format::Json => {
            let object = serde_json::json!({
                "request_id": request.id().as_str(),
                "sha256": request.sha256().to_string(),
                "path": dropped,
            });
            println!("{object}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A wrong input is told here, where a person can still mend it; the daemon checks again.
fn check_inputs(request: &Request, directory: &Path) -> Result<Vec<Violation>, Failure> {
    let mut violations = Vec::new();
    for input in request.inputs() {
        let path = directory.join(input.name());
        match digest(&path) {
            Ok(found) if found == *input.sha256() => {}
            Ok(found) => {
                let message = format!(
                    "input {}: sha256 is {found}, the request says {}",
                    input.name(),
                    input.sha256()
                );
                violations.push(Violation::error(Code::InputsMismatch, message));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("input {}: {}: not there", input.name(), path.display());
                violations.push(Violation::error(Code::InputsMissing, message));
            }
            Err(error) => return Err(Failure::io(&path)(error)),
        }
    }
    Ok(violations)
}

fn digest(path: &Path) -> std::io::Result<Sha256> {
    let mut file = File::open(path)?;
    let mut hash = Sha256Stream::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finish()),
            len => hash.update(&buffer[..len]),
        }
    }
}
