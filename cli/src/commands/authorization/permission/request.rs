//! `permission request`: files a permission request for tools that are not approved.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use policies::permissions::{PermissionRequestFile, PermissionTerms, ShownInputs};
use serde_json::json;
use spool::FilingOutcome;

use super::error::PermissionCommandError;
use super::store::{QuestionOptions, StoreOptions, terms};
use crate::args::Format;
use crate::failure::Failure;
use crate::output::{self, human};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission request --agent core --subject wf-1 toolexec.run.python \\
           --drafts ./drafts

Writes <drafts>/permissions/[<domain>/]PR-<now>-<random>.json. Approved tools are omitted, denied
tools are never requested again, and an open request is not repeated.
Exit status: 0 the request is filed or already open; 2 nothing can be requested; 3 usage or
internal error.
With --format json, stdout is one object: {\"id\",\"sha256\",\"files\",\"new\",\"data\",\"traceparent\"}.
`data` is that of the contract, null if the same request is already open.")]
pub(crate) struct PermissionRequestCommand {
    #[command(flatten)]
    question: QuestionOptions,
    /// Write the request to permissions/ in this drafts directory
    /// [default: drafts/ in the state directory]
    #[arg(long, value_name = "DIR")]
    drafts: Option<PathBuf>,
    /// File the request for this domain; can be repeated [default: permissions/ itself]
    #[arg(long = "domain", value_name = "NAME")]
    domains: Vec<String>,
    /// Omit the inputs of the calls from the file
    #[arg(long)]
    withhold_inputs: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(super) fn request(args: &PermissionRequestCommand) -> Result<ExitCode, PermissionCommandError> {
    let (source, calls) = args.question.read()?;
    let moment = args.store.moment()?;
    let shown = match args.withhold_inputs {
        true => ShownInputs::Withheld,
        false => ShownInputs::Whole,
    };
    let terms = PermissionTerms { shown, ..terms(&args.domains)? };
    let drafts = match &args.drafts {
        Some(drafts) => drafts.clone(),
        None => args.store.state.path()?.join("drafts"),
    };
    let mut store = args.store.open(terms)?;
    let filed = store.file_request(&source, &calls, &moment, &drafts)?;
    let (filed_request, paths) = filed.parts();
    match args.store.format {
        Format::Human => {
            let what = match &filed {
                FilingOutcome::New(..) => "waiting for an answer",
                FilingOutcome::Waiting(..) => "already requested, waiting for an answer",
            };
            for path in paths {
                output::line(format_args!("{}: {what}", human::name(path)))?;
            }
        }
        Format::Json => {
            let data = filed_request.file.as_deref().map(PermissionRequestFile::read).transpose();
            let bug = |why: String| Failure::with_help(&why, "report this as a bug");
            let data = data.map_err(bug)?.map(|file| file.data);
            output::line(json!({
                "id": filed_request.ask.id,
                "sha256": filed_request.ask.sha256.to_string(),
                "files": paths.iter().map(|path| output::path(path)).collect::<Vec<_>>(),
                "new": filed_request.file.is_some(),
                "data": data,
                "traceparent": moment.traceparent.to_string(),
            }))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
