//! `env export`: copies an environment into a directory, which is a store too. `env import` reads
//! it on another host.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trees::EnvironmentStore;

use super::args::EnvironmentStoreOption;
use super::error::EnvironmentCommandError;
use super::row;
use super::transfer::transfer;
use crate::args::Format;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env export charts ./exported

Copies the environment to DIRECTORY/sha256-DIGEST/, after it computed the digest from the files,
with its signed build record.
Copy DIRECTORY to another host, and run `toolexec env import DIRECTORY` there.
Exit status: 0 copied; 2 no such environment, or its files changed; 3 usage or internal error.
With --format json, stdout is one object: that of `toolexec env list` with \"path\".")]
pub(crate) struct EnvironmentExportCommand {
    /// Select it by name, NAME@sha256:DIGEST, sha256:DIGEST, or 12 or more digits of the digest
    #[arg(value_name = "NAME")]
    name: String,
    /// Copy it to this directory, creating it if missing
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn export(args: &EnvironmentExportCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let store = args.store.open_for(&args.name)?;
    let environment = store.find(&args.name)?;
    let directory = std::path::absolute(&args.directory).map_err(Failure::io(&args.directory))?;
    let exported = transfer(&store, &environment, &EnvironmentStore::create(&directory)?)?;
    match args.format {
        Format::Human => output::line(format_args!(
            "{}: copied to {}",
            environment.reference(),
            exported.path.display()
        ))?,
        Format::Json => {
            let mut object = row::json(&exported);
            object["path"] = output::path(&exported.path).into();
            output::line(object)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
