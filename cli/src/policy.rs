//! `toolexec policy`: check a policy file, print the ones that come with the program.

use std::path::Path;
use std::process::ExitCode;

use daemon::config::{ConfigError, read_policy};

use crate::failure::Failure;
use crate::options::{Policy, PolicyAct};
use crate::output;

pub(crate) fn policy(asked: &Policy) -> Result<ExitCode, Failure> {
    match &asked.act {
        PolicyAct::Check { file } => match read_policy(file) {
            Ok(policy) => {
                let (file, name, sha256) = (file.display(), policy.name(), policy.sha256());
                output::line(format_args!("{file}: good: policy {name} {sha256}"))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(ConfigError::Policy(error)) => {
                output::line(error)?;
                Ok(ExitCode::from(2))
            }
            Err(error) => Err(error.into()),
        },
        PolicyAct::Show { name } => match policies::Policy::shipped_text(name) {
            Some(text) => {
                output::text(text)?;
                Ok(ExitCode::SUCCESS)
            }
            None => Err(Failure::Said(format!(
                "policy show: no policy '{name}' comes with this program; there are embedded, \
                 standard and strict"
            ))),
        },
    }
}

/// The policy of this file, or the one that is compiled in for whoever names none.
pub(crate) fn named_or_embedded(file: Option<&Path>) -> Result<policies::Policy, Failure> {
    match file {
        Some(file) => Ok(read_policy(file)?),
        None => policies::Policy::shipped("embedded")
            .ok_or_else(|| Failure::Said("the policy `embedded` is not in this program".into())),
    }
}
