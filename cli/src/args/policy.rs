//! The `--policy` option.

use std::path::Path;

use daemon::config::read_policy;
use policies::Policy;

use crate::failure::Failure;

/// Reads the policy file, or returns the built-in `embedded` policy if no file is given.
pub(crate) fn named_or_embedded(file: Option<&Path>) -> Result<Policy, Failure> {
    match file {
        Some(file) => Ok(read_policy(file)?),
        None => Policy::shipped("embedded").ok_or_else(|| {
            let why = "policy `embedded`: missing in this build; help: report this as a bug";
            Failure::Message(why.into())
        }),
    }
}
