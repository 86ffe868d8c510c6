//! The active policy, whole, as the daemon read it: `public/policy.yaml`. An agent reads it to see
//! the available tools, and its digest can be compared with the one in a record. It is never read
//! for a decision.

use std::path::Path;

use policies::{POLICY_BYTES_MAX, Policy};

use super::status::{ToldError, told_bytes};
use super::tell::tell_file;
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

impl Spool {
    /// Publishes the active policy.
    ///
    /// # Errors
    /// An I/O error. It only affects readers.
    pub fn tell_policy(&self, policy: &Policy) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        tell_file(&directory.join("policy.yaml"), policy.text().as_bytes())
    }
}

/// Reads the policy that the last daemon published.
///
/// # Errors
/// Any [`ToldError`].
pub fn told_policy(spool: &Path) -> Result<Policy, ToldError> {
    let path = spool.join("public/policy.yaml");
    let bytes = told_bytes(&path, POLICY_BYTES_MAX)?;
    Policy::parse(&bytes, "public/policy.yaml")
        .map_err(|error| ToldError::Unsound(path, error.to_string()))
}
