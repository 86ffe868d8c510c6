//! The active policy as the daemon read it, `public/policy.yaml`. It shows agents the available
//! tools, and its digest can be compared with a record's. It is never read for a decision.

use std::path::Path;

use policies::{POLICY_BYTES_MAX, Policy};

use super::published_file::publish_file;
use super::status::{PublishedFileError, read_bytes};
use crate::error::SpoolError;
use crate::paths::{Spool, make_dir};

impl Spool {
    /// Publishes the active policy.
    ///
    /// # Errors
    /// An I/O error. It only affects readers.
    pub fn publish_policy(&self, policy: &Policy) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        publish_file(&directory.join("policy.yaml"), policy.text().as_bytes())
    }
}

/// Reads the policy that the last daemon published.
///
/// # Errors
/// Any [`PublishedFileError`].
pub fn published_policy(spool: &Path) -> Result<Policy, PublishedFileError> {
    let path = spool.join("public/policy.yaml");
    let bytes = read_bytes(&path, POLICY_BYTES_MAX)?;
    Policy::parse(&bytes, "public/policy.yaml")
        .map_err(|error| PublishedFileError::Invalid(path, error.to_string()))
}
