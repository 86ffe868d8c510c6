//! `toolexec submit`: checks what the daemon would check, then submits the inputs and signatures
//! before the request. A queued request receives only the signatures that it lacks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::Args;
use model::Sha256;
use policies::AisFile;
use spool::{SpoolError, SubmissionFiles, SubmitOutcome};
use validator::{Code, Draft, DraftCheck, FileLocation, OwnerUid, Request, Violation};

use crate::args::Format;
use crate::args::files::{named_directory, open_document};
use crate::clock;
use crate::commands::approve::review::{self, inputs};
use crate::failure::Failure;
use crate::output::{self, human};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec submit TR-20260209-160501Z-python-stats.md --spool /var/spool/toolexec

The request is checked first. Inputs are written first, then signatures, and the request last. If
the same request is already queued, only its missing signatures and AIS bundle are added.
Exit status: 0 submitted; 2 the request would be refused, and nothing is submitted; 3 usage or
internal error.")]
pub(crate) struct SubmitCommand {
    /// Submit this approved request with the signatures beside it
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
    /// Read input files from this directory [default: <stem>.inputs/ beside the request]
    #[arg(long, value_name = "DIR")]
    pub(crate) inputs: Option<PathBuf>,
    /// Submit to this spool, which contains approved/
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(crate) spool: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

pub(in crate::commands) fn submit(args: &SubmitCommand) -> Result<ExitCode, Failure> {
    submit_bytes(args, None)
}

/// Submits exactly the approved bytes: another user may have replaced the file.
pub(crate) fn submit_if_unchanged(
    args: &SubmitCommand,
    approved: &Sha256,
) -> Result<ExitCode, Failure> {
    submit_bytes(args, Some(approved))
}

fn submit_bytes(args: &SubmitCommand, only: Option<&Sha256>) -> Result<ExitCode, Failure> {
    let approved = approved_directory(&args.spool)?;
    open_document(&args.request)?;
    let inputs = args.inputs.as_deref().map(|dir| named_directory("--inputs", dir)).transpose()?;
    let submission = match SubmissionFiles::read(&args.request, inputs.as_deref()) {
        Ok(submission) => submission,
        Err(SpoolError::TooLarge { path, bytes_max }) if path == args.request => {
            return report_not_submitted(args, b"", &[human::too_large(bytes_max)]);
        }
        Err(error) => return Err(error.into()),
    };
    if only.is_some_and(|only| *only != Sha256::of(submission.bytes())) {
        let name = human::name(&args.request);
        output::note(format_args!(
            "{name}: changed since it was approved; not submitted; help: approve it again"
        ));
        return Ok(ExitCode::from(2));
    }
    let DraftCheck { violations, verdict } = check(args, &submission)?;
    let request = match verdict {
        Ok(request) if !human::has_error(&violations) => request,
        _ => return report_not_submitted(args, submission.bytes(), &violations),
    };
    print_violations(&args.request, submission.bytes(), &violations);
    for file in submission.signatures().iter().filter(|file| review::is_rejection(file)) {
        output::note(format_args!("{}: a rejection of this request, submitted with it", file.name));
    }
    let declared: Vec<&str> = request.inputs().iter().map(validator::Input::name).collect();
    let dropped = submission.submit_to(&approved, &declared)?;
    print_submitted(args.format, &request, &dropped)?;
    Ok(ExitCode::SUCCESS)
}

fn print_submitted(
    format: Format,
    request: &Request,
    dropped: &SubmitOutcome,
) -> Result<(), Failure> {
    let (path, added) = match dropped {
        SubmitOutcome::Request(path) => (path, None),
        SubmitOutcome::Signatures { request, names } => (request, Some(names)),
    };
    match (format, added) {
        (Format::Human, None) => {
            output::line(format_args!("{}: submitted to {}", request.id(), path.display()))
        }
        (Format::Human, Some(names)) => output::line(format_args!(
            "{}: already waiting at {}; added {}",
            request.id(),
            path.display(),
            names.join(", ")
        )),
        (Format::Json, added) => output::line(serde_json::json!({
            "request_id": request.id().as_str(),
            "sha256": request.sha256().to_string(),
            "path": output::path(path),
            "added_signatures": added,
        })),
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

fn print_violations(request: &Path, bytes: &[u8], violations: &[Violation]) {
    human::print_to_stderr(request, bytes, violations);
}

fn report_not_submitted(
    args: &SubmitCommand,
    bytes: &[u8],
    violations: &[Violation],
) -> Result<ExitCode, Failure> {
    print_violations(&args.request, bytes, violations);
    let why = format!("{}: not submitted", human::name(&args.request));
    if args.format == Format::Json {
        output::line(output::refusal(&args.request, &why, violations))?;
    }
    output::note(format_args!("{why}; help: correct the errors above"));
    Ok(ExitCode::from(2))
}

fn check(args: &SubmitCommand, submission: &SubmissionFiles) -> Result<DraftCheck, Failure> {
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(submission.bytes().to_vec(), submission.file_name(), owner)
        .map_err(|error| Failure::Message(format!("{}: {error}", args.request.display())))?;
    let mut checked = draft.check(FileLocation::Spool, clock::now());
    let bundle = match submission.ais() {
        AisFile::Unread(why) => Some(why),
        AisFile::Missing | AisFile::Read { .. } => None,
    };
    let unread = submission.unread_signatures().iter().chain(bundle);
    checked.violations.extend(unread.map(|why| {
        Violation::error(Code::SpoolFileKind, why.as_str())
            .hint("replace it with a readable regular file, or remove it")
    }));
    if let Ok(request) = &checked.verdict {
        let bytes_max = review::host_policy()?.ceilings().input_bytes;
        let seen = inputs::hash_inputs(submission, request, bytes_max, 0)?;
        checked.violations.extend(seen.iter().filter_map(inputs::DeclaredInput::violation));
    }
    Ok(checked)
}
