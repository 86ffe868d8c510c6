//! `env gc`: removes interrupted builds and files that no environment has. It must never remove an
//! environment.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use trees::SweptFiles;

use super::args::EnvironmentStoreOption;
use super::error::EnvironmentCommandError;
use crate::args::Format;
use crate::output;
use crate::output::figures::{count, size};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env gc

Removes the drafts of interrupted builds, and files that no environment has. Environments stay:
`toolexec env rm` removes one. A build may run meanwhile.
With --format json, stdout is one object: {\"drafts\",\"files\",\"bytes\"}.")]
pub(crate) struct EnvironmentGcCommand {
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn gc(args: &EnvironmentGcCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let SweptFiles { drafts, files, bytes } = match args.store.open_if_any()? {
        Some(store) => store.sweep()?,
        None => SweptFiles { drafts: 0, files: 0, bytes: 0 },
    };
    match args.format {
        Format::Human => output::line(format_args!(
            "{}: removed {} and {}, {}",
            args.store.path()?.display(),
            count(drafts, "draft", "drafts"),
            count(files, "unused file", "unused files"),
            size(bytes)
        ))?,
        Format::Json => output::line(json!({"drafts": drafts, "files": files, "bytes": bytes}))?,
    }
    Ok(ExitCode::SUCCESS)
}
