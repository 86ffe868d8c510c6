//! The policy that an option names.

use std::path::Path;

use daemon::config::read_policy;
use policies::Policy;

use crate::failure::Failure;

/// The policy of this file, or the built-in one where no file is named.
pub(crate) fn named_or_embedded(file: Option<&Path>) -> Result<Policy, Failure> {
    match file {
        Some(file) => Ok(read_policy(file)?),
        None => Policy::shipped("embedded")
            .ok_or_else(|| Failure::Said("the policy `embedded` is not in this program".into())),
    }
}
