//! `env list`: lists the environments of a store. Read-only; no file of an environment is read.

use std::process::ExitCode;

use clap::Args;
use model::escape_line;
use trees::{DamagedEnvironment, Environment, ListedEnvironments};

use super::args::EnvironmentStoreOption;
use super::error::EnvironmentCommandError;
use super::row;
use crate::args::Format;
use crate::failure::Failure;
use crate::output;
use crate::output::figures::{count, size};

/// The digits of a digest that `list` shows; as many select an environment.
const DIGITS_SHOWN: usize = 12;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env list --store /var/lib/toolexec/environments

Prints name, the beginning of the digest, size, files, time of the build and source. Notes on
stderr name the environments whose facts cannot be read.
With --format json, each line of stdout is one object: {\"environment\",\"name\",\"sha256\",\"kind\",
\"needs\",\"source\":{\"kind\",\"file\",\"sha256\"},\"built_utc\",\"uid\",\"files\",\"directories\",
\"links\",\"bytes\"}.")]
pub(crate) struct EnvironmentListCommand {
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn list(args: &EnvironmentListCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let ListedEnvironments { environments, damaged } = match args.store.open_if_any()? {
        Some(store) => store.list_all()?,
        None => ListedEnvironments { environments: Vec::new(), damaged: Vec::new() },
    };
    for environment in &environments {
        match args.format {
            Format::Human => print_human(environment)?,
            Format::Json => output::line(row::json(environment))?,
        }
    }
    for DamagedEnvironment { sha256, error } in &damaged {
        output::note(format_args!("environment sha256:{sha256}: cannot be listed: {error}"));
    }
    if environments.is_empty() && damaged.is_empty() && args.format == Format::Human {
        output::line(format_args!("{}: no environments", args.store.path()?.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_human(environment: &Environment) -> Result<(), Failure> {
    let digits: String = environment.sha256.to_string().chars().take(DIGITS_SHOWN).collect();
    let build = &environment.build;
    output::line(format_args!(
        "{:<20}  {digits}  {:>8}  {:>14}  {}  {} {}",
        environment.name.as_str(),
        size(environment.bytes),
        count(environment.files, "file", "files"),
        build.built,
        escape_line(&build.source.kind),
        escape_line(&build.source.file),
    ))
}
