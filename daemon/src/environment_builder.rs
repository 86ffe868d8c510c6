//! The signed record of an environment's build, for the decision and for people. It must never
//! count as an approval: the policy decides whose signature it needs.

use std::path::Path;

use model::Sha256;
use policies::BuilderEvidence;
use records::{BuildRecord, split_reason, verify_build_record};
use trees::{EnvironmentStore, StoreError};

/// Reads the record of the environment with this digest, and verifies its signature and subject.
/// Returns `None` if the build is not signed.
///
/// # Errors
/// The reason why the record cannot be read or does not verify.
pub fn verified_build(
    store: &EnvironmentStore,
    sha256: Sha256,
) -> Result<Option<BuildRecord>, String> {
    let Some(record) = store.build_record(sha256).map_err(unread)? else { return Ok(None) };
    verify_build_record(&record, sha256).map(Some).map_err(|error| error.to_string())
}

/// Returns what the record of the environment with this digest says about its builder.
pub(crate) fn builder(store: &Path, sha256: Sha256) -> BuilderEvidence {
    let opened = EnvironmentStore::open(store).map_err(unread);
    match opened.and_then(|store| verified_build(&store, sha256)) {
        Ok(None) => BuilderEvidence::Unsigned,
        Ok(Some(record)) => BuilderEvidence::Signed(record.key().clone()),
        Err(why) => BuilderEvidence::Unverified(why),
    }
}

/// Records of runs state the reason, and their lint withholds help with a command.
fn unread(error: StoreError) -> String {
    split_reason(&error.to_string()).0.to_owned()
}
