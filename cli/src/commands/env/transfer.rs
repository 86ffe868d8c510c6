//! Copies an environment from one store into another. The digest of the copy is computed from its
//! files and must be the one that the environment has, so a changed environment is never stored.
//! No digest covers the facts of the build: the copy is marked, and only people read its facts. The
//! signed record of the original builder is copied too, if its subject is this digest. It must
//! never replace another record that verifies.

use std::fs::File;
use std::os::fd::AsFd as _;

use records::{BuildRecord, verify_build_record};
use trees::{Environment, EnvironmentStore, LinkRule, StoreError, copy_tree};

use super::args::{TREE_LIMITS, draft_name};
use super::error::EnvironmentCommandError;
use crate::args::SignedBuild;
use crate::failure::Failure;
use crate::output;

/// The tree of an environment in its directory, for messages.
const TREE: &str = "content/tree";

/// Copies an environment of the store `from`, and returns it as it is stored in `to`.
pub(super) fn transfer(
    from: &EnvironmentStore,
    environment: &Environment,
    to: &EnvironmentStore,
) -> Result<Environment, EnvironmentCommandError> {
    let Environment { sha256, content, build, .. } = environment;
    let record = checked_record(from, environment)?;
    let draft = to.draft(draft_name()?)?;
    // By handle: the tree of an exported environment may be a link.
    let tree = from.open_unverified_tree(*sha256)?;
    let copy = File::open(draft.tree()).map_err(Failure::io(draft.tree()))?;
    // The store refuses a link that the kind of the environment does not allow.
    copy_tree(tree.as_fd(), copy.as_fd(), LinkRule::Root, &TREE_LIMITS, &mut |_| {})
        .map_err(|error| StoreError::Tree { path: environment.path.join(TREE), error })?;
    let stored = to.add_copy(draft, *sha256, content, build, &TREE_LIMITS)?;
    if let Some((bytes, record)) = record {
        match SignedBuild::read(to, *sha256) {
            SignedBuild::Verified(own) if *own != record => note_kept(to, &stored, &own, &record),
            SignedBuild::Verified(_) => {}
            SignedBuild::Unsigned | SignedBuild::Unverified(_) => {
                to.put_build_record(*sha256, &bytes)?;
            }
        }
    }
    Ok(stored)
}

/// Prints which of two records that verify the store keeps.
fn note_kept(
    store: &EnvironmentStore,
    stored: &Environment,
    own: &BuildRecord,
    other: &BuildRecord,
) {
    output::note(format_args!(
        "{}: the store keeps its build record, signed by {}, not the one signed by {}; help: to \
         replace it, run `toolexec env rm {} --store {}`, then repeat this",
        stored.reference(),
        own.key().fingerprint(),
        other.key().fingerprint(),
        stored.name,
        store.path().display()
    ));
}

/// Reads the signed record of the original builder, if there is one. It must be about this digest.
fn checked_record(
    from: &EnvironmentStore,
    environment: &Environment,
) -> Result<Option<(Vec<u8>, BuildRecord)>, EnvironmentCommandError> {
    let Some(bytes) = from.build_record(environment.sha256)? else { return Ok(None) };
    match verify_build_record(&bytes, environment.sha256) {
        Ok(record) => Ok(Some((bytes, record))),
        Err(error) => Err(EnvironmentCommandError::Refused(format!(
            "{}: the build record does not verify: {error}; help: get it from its builder again",
            environment.reference()
        ))),
    }
}
