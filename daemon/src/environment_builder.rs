//! The signed record of an environment's build, for the decision. It must never count as an
//! approval: the policy decides whose signature it needs.

use std::path::Path;

use model::Sha256;
use policies::BuilderEvidence;
use records::{split_reason, verify_build_record};
use trees::EnvironmentStore;

/// Reads the record of the environment with this digest, and verifies its signature and subject.
pub(crate) fn builder(store: &Path, sha256: Sha256) -> BuilderEvidence {
    let record = EnvironmentStore::open(store).and_then(|store| store.build_record(sha256));
    match record {
        Ok(None) => BuilderEvidence::Unsigned,
        Ok(Some(record)) => match verify_build_record(&record, sha256) {
            Ok(record) => BuilderEvidence::Signed(record.key().clone()),
            Err(error) => BuilderEvidence::Unverified(error.to_string()),
        },
        // Records of runs state it, and their lint withholds help with a command.
        Err(error) => BuilderEvidence::Unverified(split_reason(&error.to_string()).0.to_owned()),
    }
}
