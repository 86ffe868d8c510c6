//! `env verify`: compares the files of environments with their digests. It reads every file, and
//! changes nothing.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use trees::{Environment, EnvironmentStore};

use super::args::{EnvironmentStoreOption, TREE_LIMITS};
use super::error::{EnvironmentCommandError, is_refusal};
use super::row;
use crate::args::Format;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env verify charts

Computes the digest of each named environment from its files, or of every one of the store.
Exit status: 0 all have their digest; 1 at least one differs; 2 no such environment; 3 usage or
internal error.
With --format json, each line of stdout is one object: {\"environment\",\"verified\",\"problem\"}.")]
pub(crate) struct EnvironmentVerifyCommand {
    /// Verify these environments [default: every one of the store]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn verify(args: &EnvironmentVerifyCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let store = args.store.open()?;
    let environments = match args.names.is_empty() {
        true => store.list()?,
        false => {
            let found = args.names.iter().map(|name| store.find(name));
            found.collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut all_good = true;
    for environment in &environments {
        all_good &= verify_one(&store, environment, args.format)?;
    }
    if environments.is_empty() && args.format == Format::Human {
        output::line(format_args!("{}: no environments", store.path().display()))?;
    }
    Ok(if all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the result for one environment, and returns whether its files have its digest.
fn verify_one(
    store: &EnvironmentStore,
    environment: &Environment,
    format: Format,
) -> Result<bool, EnvironmentCommandError> {
    let problem = match store.verify(environment.sha256, &TREE_LIMITS) {
        Ok(_) => None,
        Err(error) if is_refusal(&error) => Some(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    if let Some(problem) = &problem {
        output::note(problem);
    }
    match format {
        Format::Human if problem.is_none() => {
            output::line(format_args!("{}  verified", row::summary(environment)))?;
        }
        Format::Human => {}
        Format::Json => output::line(json!({
            "environment": environment.reference().to_string(),
            "verified": problem.is_none(),
            "problem": problem,
        }))?,
    }
    Ok(problem.is_none())
}
