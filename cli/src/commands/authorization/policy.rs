//! `toolexec policy`: checks a policy file, and prints the built-in policies.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use daemon::config::{ConfigError, read_policy};
use serde_json::{Value, json};

use crate::args::Format;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "Example: toolexec policy show embedded > my-policy.yaml")]
pub(crate) struct PolicyCommand {
    #[command(subcommand)]
    subcommand: PolicySubcommand,
}

#[derive(Subcommand)]
pub(crate) enum PolicySubcommand {
    /// Check a policy file and report every problem
    Check(PolicyCheckCommand),
    /// Print a built-in policy: embedded, standard or strict
    #[command(after_help = "Example: toolexec policy show embedded > my-policy.yaml")]
    Show {
        /// Print this policy: embedded, standard or strict
        name: String,
    },
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec policy check my-policy.yaml

If the file does not have the form of a policy, only the first problem is reported.
Exit status: 0 valid; 2 invalid; 3 the file cannot be read, or a usage error.
With --format json, stdout is one object: {\"file\",\"good\",\"name\",\"sha256\",\"problems\":[{\"line\",\"key\",
\"problem\"}]}.")]
pub(crate) struct PolicyCheckCommand {
    /// Check this policy, a YAML file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(in crate::commands) fn policy(args: &PolicyCommand) -> Result<ExitCode, Failure> {
    match &args.subcommand {
        PolicySubcommand::Check(args) => check(args),
        PolicySubcommand::Show { name } => match policies::Policy::shipped_text(name) {
            Some(text) => {
                output::text(text)?;
                Ok(ExitCode::SUCCESS)
            }
            None => Err(Failure::Message(format!(
                "policy show: no policy '{name}'; help: name embedded, standard or strict"
            ))),
        },
    }
}

fn check(args: &PolicyCheckCommand) -> Result<ExitCode, Failure> {
    let file = args.file.display();
    match (read_policy(&args.file), args.format) {
        (Ok(policy), format) => {
            let (name, sha256) = (policy.name(), policy.sha256());
            match format {
                Format::Human => {
                    output::line(format_args!("{file}: good: policy {name} {sha256}"))?;
                }
                Format::Json => output::line(answer(args, Some(&policy), &[]))?,
            }
            Ok(ExitCode::SUCCESS)
        }
        (Err(ConfigError::Policy(error)), format) => {
            match format {
                Format::Human => output::line(error)?,
                Format::Json => output::line(answer(args, None, error.problems()))?,
            }
            Ok(ExitCode::from(2))
        }
        (Err(error), _) => Err(error.into()),
    }
}

fn answer(
    args: &PolicyCheckCommand,
    policy: Option<&policies::Policy>,
    problems: &[policies::PolicyProblem],
) -> Value {
    let problems = problems.iter().map(|problem| {
        let key = (!problem.key().is_empty()).then(|| problem.key());
        json!({"line": problem.line(), "key": key, "problem": problem.to_string()})
    });
    json!({
        "file": output::path(&args.file),
        "good": policy.is_some(),
        "name": policy.map(policies::Policy::name),
        "sha256": policy.map(|policy| policy.sha256().to_string()),
        "problems": problems.collect::<Vec<_>>(),
    })
}
