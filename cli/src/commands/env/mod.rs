//! `toolexec env`: builds environments, and lists, checks, copies and removes those of a store. It
//! must never run anything of an environment, nor use a package without a digest or a signature.

mod args;
mod build;
mod builder;
mod error;
mod export;
mod gc;
mod import;
mod list;
mod progress;
mod rm;
mod row;
mod show;
mod signals;
mod signer;
mod transfer;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use trees::{Environment, EnvironmentStore};

use self::build::EnvironmentBuildCommand;
use self::error::EnvironmentCommandError;
use self::export::EnvironmentExportCommand;
use self::gc::EnvironmentGcCommand;
use self::import::EnvironmentImportCommand;
use self::list::EnvironmentListCommand;
use self::rm::EnvironmentRmCommand;
use self::show::EnvironmentShowCommand;
use self::verify::EnvironmentVerifyCommand;
use crate::failure::Failure;

pub(in crate::commands) use self::builder::{BUILD_PYTHON, BUILD_TIME_SEC, EnvironmentBuild};
pub(in crate::commands) use self::signals::release_signals;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env build charts --from requirements.txt
         toolexec env list

An environment is a directory of programs and libraries under its digest, which the sandbox shows
to a tool read-only. `build` makes one from a lock file with hashes, an image, Debian packages or a
directory. Only `build` uses the network, and the sandbox of a run never does.
Exit status: 0 success; 1 a program or a check failed; 2 refused, or no such environment; 3 usage
or internal error.")]
pub(crate) struct EnvironmentCommand {
    #[command(subcommand)]
    subcommand: EnvironmentSubcommand,
}

#[derive(Subcommand)]
pub(crate) enum EnvironmentSubcommand {
    /// Build an environment from a lock file, an image, Debian packages or a directory
    Build(EnvironmentBuildCommand),
    /// List the environments of a store
    List(EnvironmentListCommand),
    /// Show an environment: programs, variables, source, size and age
    Show(EnvironmentShowCommand),
    /// Compare the files of environments with their digests
    Verify(EnvironmentVerifyCommand),
    /// Copy an environment to a directory, for another host
    Export(EnvironmentExportCommand),
    /// Store the environments of an exported directory after checking their digests
    Import(EnvironmentImportCommand),
    /// Remove an environment
    Rm(EnvironmentRmCommand),
    /// Remove interrupted builds and unused files
    Gc(EnvironmentGcCommand),
}

pub(in crate::commands) fn env(args: &EnvironmentCommand) -> Result<ExitCode, Failure> {
    let done = match &args.subcommand {
        EnvironmentSubcommand::Build(args) => build::build(args),
        EnvironmentSubcommand::List(args) => list::list(args),
        EnvironmentSubcommand::Show(args) => show::show(args),
        EnvironmentSubcommand::Verify(args) => verify::verify(args),
        EnvironmentSubcommand::Export(args) => export::export(args),
        EnvironmentSubcommand::Import(args) => import::import(args),
        EnvironmentSubcommand::Rm(args) => rm::rm(args),
        EnvironmentSubcommand::Gc(args) => gc::gc(args),
    };
    match done {
        Ok(code) => Ok(code),
        Err(error) => error.report(),
    }
}

/// Builds an environment in a store, which is created if it is missing. Reports the reason if it is
/// not built, and returns the exit status.
pub(in crate::commands) fn build_for_run(
    store: &Path,
    wanted: &EnvironmentBuild<'_>,
) -> Result<Result<Environment, ExitCode>, Failure> {
    let store = EnvironmentStore::create(store).map_err(EnvironmentCommandError::from);
    match store.and_then(|store| wanted.build(&store, None)) {
        Ok(built) => {
            built.note_facts();
            Ok(Ok(built.environment))
        }
        Err(error) => error.report().map(Err),
    }
}
