//! The policy in force, whole, as the daemon read it: `public/policy.yaml`. An agent learns from it what is
//! offered, and anybody may compare its digest with the one that a record names. It is never read for a
//! decision.

use std::path::Path;

use policies::{POLICY_BYTES_MAX, Policy};

use super::status::{ToldError, told_bytes};
use super::tell::tell_file;
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

impl Spool {
    /// Tells which policy is in force.
    ///
    /// # Errors
    /// The disk. Nobody but readers misses what was not told.
    pub fn tell_policy(&self, policy: &Policy) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        tell_file(&directory.join("policy.yaml"), policy.text().as_bytes())
    }
}

/// The policy that the last daemon told.
///
/// # Errors
/// Any [`ToldError`].
pub fn told_policy(spool: &Path) -> Result<Policy, ToldError> {
    let path = spool.join("public/policy.yaml");
    let bytes = told_bytes(&path, POLICY_BYTES_MAX)?;
    Policy::parse(&bytes, "public/policy.yaml")
        .map_err(|error| ToldError::Unsound(path, error.to_string()))
}
