//! `toolexec policy`: check a policy file, print the ones that come with the program.

use std::process::ExitCode;

use daemon::config::{ConfigError, read_policy};

use crate::failure::Failure;
use crate::options::{Policy, PolicyAct};

pub(crate) fn policy(asked: &Policy) -> Result<ExitCode, Failure> {
    match &asked.act {
        PolicyAct::Check { file } => match read_policy(file) {
            Ok(policy) => {
                println!("{}: good: policy {} {}", file.display(), policy.name(), policy.sha256());
                Ok(ExitCode::SUCCESS)
            }
            Err(ConfigError::Policy(error)) => {
                println!("{error}");
                Ok(ExitCode::from(2))
            }
            Err(error) => Err(error.into()),
        },
        PolicyAct::Show { name } => match policies::Policy::shipped_text(name) {
            Some(text) => {
                print!("{text}");
                Ok(ExitCode::SUCCESS)
            }
            None => Err(Failure::Said(format!(
                "policy show: no policy '{name}' comes with this program; there are embedded and \
                 standard"
            ))),
        },
    }
}
