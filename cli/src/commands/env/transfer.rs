//! Copies an environment from one store into another. The digest of the copy is computed from its
//! files and must be the one that the environment has, so a changed environment is never stored.

use environments::copy_directory;
use trees::{Environment, EnvironmentStore, LinkRule};

use super::args::{TREE_LIMITS, draft_name};
use super::error::EnvironmentCommandError;

/// The tree of an environment in its directory.
const TREE: &str = "content/tree";

/// Copies an environment, and returns it as it is stored in `to`.
pub(super) fn transfer(
    environment: &Environment,
    to: &EnvironmentStore,
) -> Result<Environment, EnvironmentCommandError> {
    let draft = to.draft(draft_name()?)?;
    let tree = environment.path.join(TREE);
    // The store refuses a link that the kind of the environment does not allow.
    copy_directory(&tree, draft.tree(), LinkRule::Root, &TREE_LIMITS, &mut |_| {})?;
    let Environment { sha256, content, build, .. } = environment;
    Ok(to.add_copy(draft, *sha256, content, build, &TREE_LIMITS)?)
}
