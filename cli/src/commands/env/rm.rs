//! `env rm`: removes an environment. Requests that name it cannot run afterwards.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::args::EnvironmentStoreOption;
use super::error::EnvironmentCommandError;
use super::row;
use crate::args::Format;
use crate::output;
use crate::output::figures::size;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env rm charts

Removes the environment and the files that no other environment has. Requests that name its digest
cannot run until it is built again.
Exit status: 0 removed; 2 no such environment; 3 usage or internal error.
With --format json, stdout is one object: {\"environment\",\"freed_bytes\"}.")]
pub(crate) struct EnvironmentRmCommand {
    /// Select it by name, NAME@sha256:DIGEST, sha256:DIGEST, or 12 or more digits of the digest
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn rm(args: &EnvironmentRmCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let store = args.store.open_for(&args.name)?;
    // An environment whose facts cannot be read can be removed too.
    let sha256 = store.digest_of(&args.name)?;
    let reference = row::label(sha256, store.find(&args.name).ok().as_ref());
    let freed = store.remove(sha256)?;
    match args.format {
        Format::Human => {
            output::line(format_args!("{reference}: removed, {} freed", size(freed)))?;
        }
        Format::Json => output::line(json!({
            "environment": reference,
            "freed_bytes": freed,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}
