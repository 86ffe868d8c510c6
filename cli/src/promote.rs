//! `toolexec promote`: check what the daemon would check, then drop the request in the right order.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use spool::{SpoolError, Submission};
use validator::{Checked, Code, Draft, OwnerUid, Place, Request, Sha256, Sha256Stream, Violation};

use crate::failure::Failure;
use crate::options::{Format, Promote};
use crate::output;
use crate::show;
use crate::state::{named_directory, open_document};

pub(crate) fn promote(asked: &Promote) -> Result<ExitCode, Failure> {
    let approved = approved_of(&asked.spool)?;
    open_document(&asked.request)?;
    let inputs = asked.inputs.as_deref().map(|dir| named_directory("--inputs", dir)).transpose()?;
    let submission = match Submission::read(&asked.request, inputs.as_deref()) {
        Ok(submission) => submission,
        Err(SpoolError::TooLarge { path, bytes_max }) if path == asked.request => {
            return Ok(not_promoted(&asked.request, b"", &[show::too_large(bytes_max)]));
        }
        Err(error) => return Err(error.into()),
    };
    let Checked { violations, verdict } = check(asked, &submission)?;
    let request = match verdict {
        Ok(request) if !show::has_error(&violations) => request,
        _ => return Ok(not_promoted(&asked.request, submission.bytes(), &violations)),
    };
    tell(&asked.request, submission.bytes(), &violations);
    let declared: Vec<&str> = request.inputs().iter().map(validator::Input::name).collect();
    let dropped = submission.drop_into(&approved, &declared)?;
    match asked.format {
        Format::Human => {
            output::line(format_args!("{}: promoted to {}", request.id(), dropped.display()))?;
        }
        Format::Json => output::line(serde_json::json!({
            "request_id": request.id().as_str(),
            "sha256": request.sha256().to_string(),
            "path": output::path(&dropped),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn approved_of(spool: &Path) -> Result<PathBuf, Failure> {
    let approved = spool.join("approved");
    match fs::metadata(&approved) {
        Ok(found) if found.is_dir() => Ok(approved),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Failure::Io(approved, error))
        }
        _ => Err(Failure::Said(format!(
            "{}: is no spool: it has no approved/ directory; name one with --spool",
            spool.display()
        ))),
    }
}

fn tell(request: &Path, bytes: &[u8], violations: &[Violation]) {
    show::aside(request, bytes, violations);
}

fn not_promoted(request: &Path, bytes: &[u8], violations: &[Violation]) -> ExitCode {
    tell(request, bytes, violations);
    output::note(format_args!("{}: not promoted", show::name(request)));
    ExitCode::from(2)
}

fn check(asked: &Promote, submission: &Submission) -> Result<Checked, Failure> {
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(submission.bytes().to_vec(), submission.file_name(), owner)
        .map_err(|error| Failure::Said(format!("{}: {error}", asked.request.display())))?;
    let mut checked = draft.check(Place::Spool, show::now());
    let unread = submission.unread_signatures().iter();
    checked.violations.extend(unread.map(|why| {
        Violation::error(Code::SpoolFileKind, why.as_str())
            .hint("let it be a regular file that can be read, or take it away")
    }));
    if let Ok(request) = &checked.verdict {
        checked.violations.extend(check_inputs(request, submission)?);
    }
    Ok(checked)
}

/// A wrong input is told here, where a person can still mend it; the daemon checks again.
fn check_inputs(request: &Request, submission: &Submission) -> Result<Vec<Violation>, Failure> {
    let mut violations = Vec::new();
    for input in request.inputs() {
        let (name, stated) = (input.name(), input.sha256());
        let path = submission.inputs().join(name);
        let file = match submission.open_input(name) {
            Ok(file) => file,
            Err(error) => {
                violations.push(unusable_input(name, &path, error)?);
                continue;
            }
        };
        let found = digest(file).map_err(Failure::io(&path))?;
        if found != *stated {
            let message = format!("input {name}: sha256 is {found}, the request says {stated}");
            violations.push(Violation::error(Code::InputsMismatch, message));
        }
    }
    Ok(violations)
}

fn unusable_input(name: &str, path: &Path, error: SpoolError) -> Result<Violation, Failure> {
    let path = path.display();
    if error.is_missing() {
        let message = format!("input {name}: {path}: not there");
        return Ok(Violation::error(Code::InputsMissing, message));
    }
    match error {
        SpoolError::FileKind { kind, .. } => {
            let message = format!("input {name}: {path}: is {kind}, not a file");
            Ok(Violation::error(Code::SpoolFileKind, message))
        }
        error => Err(error.into()),
    }
}

fn digest(mut file: impl Read) -> io::Result<Sha256> {
    let mut hash = Sha256Stream::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finish()),
            len => hash.update(&buffer[..len]),
        }
    }
}
