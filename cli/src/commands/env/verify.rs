//! `env verify`: compares the files of environments with their digests. It reads every file, and
//! changes none of an environment. It writes `stamp` and `index` beside them if they are not right.

use std::process::ExitCode;

use clap::Args;
use model::Sha256;
use serde_json::json;
use trees::{Environment, EnvironmentStore, ListedEnvironments, StoreError};

use super::args::EnvironmentStoreOption;
use super::error::{EnvironmentCommandError, is_refusal};
use super::row;
use crate::args::{Format, SignedBuild};
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env verify charts

Computes the digest of each named environment from its files, or of every one of the store, and
verifies the signature of its build record, if it has one.
Exit status: 0 all verify; 1 at least one does not; 2 no such environment; 3 usage or
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

/// The digest of an environment, and the environment if its facts can be read.
type SelectedEnvironment = (Sha256, Option<Environment>);

pub(super) fn verify(args: &EnvironmentVerifyCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let store = match args.names.first() {
        None => args.store.open_if_any()?,
        Some(name) => Some(args.store.open_for(name)?),
    };
    let mut all_good = true;
    let mut found = 0;
    if let Some(store) = &store {
        for environment in &selected(store, &args.names)? {
            all_good &= verify_one(store, environment, args.format)?;
            found += 1;
        }
    }
    if found == 0 && args.format == Format::Human {
        output::line(format_args!("{}: no environments", args.store.path()?.display()))?;
    }
    Ok(if all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the environments to verify, also those whose facts cannot be read.
fn selected(
    store: &EnvironmentStore,
    names: &[String],
) -> Result<Vec<SelectedEnvironment>, EnvironmentCommandError> {
    if names.is_empty() {
        let ListedEnvironments { environments, damaged } = store.list_all()?;
        let known = environments.into_iter().map(|it| (it.sha256, Some(it)));
        return Ok(known.chain(damaged.into_iter().map(|it| (it.sha256, None))).collect());
    }
    let mut found = Vec::new();
    for name in names {
        found.push((store.digest_of(name)?, store.find(name).ok()));
    }
    Ok(found)
}

/// Prints the result for one environment, and returns whether its files have its digest and its
/// build record, if it has one, verifies.
fn verify_one(
    store: &EnvironmentStore,
    (sha256, environment): &SelectedEnvironment,
    format: Format,
) -> Result<bool, EnvironmentCommandError> {
    let problem = match store.verify_stored(*sha256) {
        Ok(_) => record_problem(store, *sha256, environment.as_ref()),
        Err(error) if is_refusal(&error) || is_unreadable(&error, environment.as_ref()) => {
            Some(error.to_string())
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(problem) = &problem {
        output::note(problem);
    }
    let label = row::label(*sha256, environment.as_ref());
    match format {
        Format::Human if problem.is_none() => {
            let shown = environment.as_ref().map_or(label, row::summary);
            output::line(format_args!("{shown}  verified"))?;
        }
        Format::Human => {}
        Format::Json => output::line(json!({
            "environment": label,
            "verified": problem.is_none(),
            "problem": problem,
        }))?,
    }
    Ok(problem.is_none())
}

/// Returns the reason why the signed record of the build does not verify, if there is one.
fn record_problem(
    store: &EnvironmentStore,
    sha256: Sha256,
    environment: Option<&Environment>,
) -> Option<String> {
    let SignedBuild::Unverified(why) = SignedBuild::read(store, sha256) else { return None };
    Some(format!(
        "environment {}: the build record does not verify: {why}; help: build or import it again",
        row::label(sha256, environment)
    ))
}

/// Returns whether a file of an environment is missing, so that its facts cannot be read.
fn is_unreadable(error: &StoreError, environment: Option<&Environment>) -> bool {
    environment.is_none() && error.is_missing()
}
