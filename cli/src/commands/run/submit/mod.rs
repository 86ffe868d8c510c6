//! `toolexec submit`: checks what the daemon would check, then submits the inputs and signatures
//! before the request. A queued request receives only the signatures that it lacks. A standing
//! approval is submitted like a request without inputs. Several files are submitted in their order.
//! None is submitted before each has passed the checks. A fleet receives the same files as a spool.

mod args;
mod check;
mod document;
mod fleet_submission;
mod report;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use model::Sha256;

use crate::args::Format;
use crate::commands::approve::review;
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output::{self, human};

pub(crate) use args::SubmitCommand;
use document::CheckedSubmission;

pub(in crate::commands) fn submit(args: &SubmitCommand) -> Result<ExitCode, Failure> {
    submit_files(args, None)
}

/// Submits exactly the approved bytes: another user may have replaced the file.
pub(crate) fn submit_if_unchanged(
    args: &SubmitCommand,
    approved: &Sha256,
) -> Result<ExitCode, Failure> {
    submit_files(args, Some(approved))
}

/// The place to which documents are submitted.
enum SubmitPlace {
    /// `approved/` of a spool.
    Spool(PathBuf),
    Fleet(FleetClient),
}

impl SubmitPlace {
    fn of(args: &SubmitCommand) -> Result<Self, Failure> {
        match args.fleet.client_with(&args.store)? {
            Some(client) => Ok(Self::Fleet(client)),
            None => approved_directory(&args.spool).map(Self::Spool),
        }
    }
}

fn submit_files(args: &SubmitCommand, only: Option<&Sha256>) -> Result<ExitCode, Failure> {
    let place = SubmitPlace::of(args)?;
    let named = std::iter::once(&args.request).chain(&args.more);
    let paths: Vec<&Path> = named.map(PathBuf::as_path).collect();
    if let Some(path) = repeated_name(&paths) {
        return report::repeated_name(args.format, path);
    }
    let mut checked = Vec::new();
    for path in &paths {
        checked.extend(check::read(args, path, only)?);
    }
    if checked.len() < paths.len() {
        report::none_submitted(paths.len());
        return Ok(ExitCode::from(2));
    }
    submit_checked(args.format, &checked, &place)
}

/// Returns the first path whose file name an earlier path has too. The spool has no place for both.
fn repeated_name<'p>(paths: &[&'p Path]) -> Option<&'p Path> {
    let mut seen = BTreeSet::new();
    paths.iter().copied().find(|path| !seen.insert(path.file_name()))
}

/// Submits the files in order, up to the first that fails.
fn submit_checked(
    format: Format,
    checked: &[CheckedSubmission<'_>],
    place: &SubmitPlace,
) -> Result<ExitCode, Failure> {
    for (at, submission) in checked.iter().enumerate() {
        submit_one(format, submission, place).map_err(|failure| {
            let rest: Vec<&Path> = checked.iter().skip(at + 1).map(|it| it.path).collect();
            report::with_rest(failure, &rest)
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn submit_one(
    format: Format,
    submission: &CheckedSubmission<'_>,
    place: &SubmitPlace,
) -> Result<(), Failure> {
    let CheckedSubmission { path, files, document, warnings } = submission;
    human::print_to_stderr(path, files.bytes(), warnings);
    for file in files.signatures().iter().filter(|file| review::is_rejection(file)) {
        let (name, kind) = (&file.name, document.kind);
        output::note(format_args!("{name}: a rejection of this {kind}, submitted with it"));
    }
    let declared: Vec<&str> = document.inputs.iter().map(String::as_str).collect();
    match place {
        SubmitPlace::Spool(approved) => {
            let outcome = files.submit_to(approved, &declared)?;
            report::submitted(format, document, &outcome)
        }
        SubmitPlace::Fleet(client) => {
            fleet_submission::submit(format, submission, &declared, client)
        }
    }
}

/// Returns the submission directory of a spool.
pub(super) fn approved_directory(spool: &Path) -> Result<PathBuf, Failure> {
    let approved = spool.join("approved");
    match fs::metadata(&approved) {
        Ok(found) if found.is_dir() => Ok(approved),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Failure::Io(approved, error))
        }
        _ => Err(Failure::Message(format!(
            "{}: not a spool: it has no approved/ directory; help: name one with --spool",
            spool.display()
        ))),
    }
}
