//! `env import`: stores the environments of an exported directory. Each must have its digest.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trees::{EnvironmentStore, ListedEnvironments};

use super::args::EnvironmentStoreOption;
use super::error::EnvironmentCommandError;
use super::row;
use super::transfer::transfer;
use crate::args::Format;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env import ./exported --store /var/lib/toolexec/environments

Stores each environment of a directory that `toolexec env export` wrote. The digest is computed
from the files; an environment with another one is refused. A name that the store already has then
means the imported environment. `toolexec exec --env auto` uses no imported environment; name it.
The signed build record of the original builder is stored too, unless the store has another one
that verifies. One that does not verify, or belongs to another environment, is refused.
Exit status: 0 stored; 2 refused; 3 usage or internal error.
With --format json, each line of stdout is one object: that of `toolexec env list`.")]
pub(crate) struct EnvironmentImportCommand {
    /// Read this directory
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn import(args: &EnvironmentImportCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let directory = std::path::absolute(&args.directory).map_err(Failure::io(&args.directory))?;
    let from = EnvironmentStore::open(&directory)?;
    let ListedEnvironments { environments, damaged } = from.list_all()?;
    if let Some(first) = damaged.into_iter().next() {
        return Err(first.error.into());
    }
    if environments.is_empty() {
        return Err(EnvironmentCommandError::Refused(format!(
            "{}: has no environments; help: name a directory that `toolexec env export` wrote",
            directory.display()
        )));
    }
    let store = args.store.create()?;
    for environment in &environments {
        let stored = transfer(&from, environment, &store)?;
        match args.format {
            Format::Human => output::line(row::summary(&stored))?,
            Format::Json => output::line(row::json(&stored))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}
