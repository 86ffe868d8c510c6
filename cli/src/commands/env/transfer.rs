//! Copies an environment from one store into another. The digest of the copy is computed from its
//! files and must be the one that the environment has, so a changed environment is never stored.

use environments::copy_directory;
use trees::{Environment, EnvironmentStore};

use super::args::{TREE_LIMITS, copy_limits, draft_name};
use super::error::EnvironmentCommandError;

/// The tree of an environment in its directory.
const TREE: &str = "content/tree";

/// Copies an environment, and returns it as it is stored in `to`.
pub(super) fn transfer(
    environment: &Environment,
    to: &EnvironmentStore,
) -> Result<Environment, EnvironmentCommandError> {
    let before = to.list()?;
    let draft = to.draft(draft_name()?)?;
    let tree = environment.path.join(TREE);
    copy_directory(&tree, draft.tree(), &copy_limits(), &mut |_| {})?;
    let stored = to.add(draft, &environment.content, &environment.build, &TREE_LIMITS)?;
    if stored.sha256 == environment.sha256 {
        return Ok(stored);
    }
    if !before.iter().any(|it| it.sha256 == stored.sha256) {
        to.remove(stored.sha256)?;
    }
    Err(EnvironmentCommandError::Refused(format!(
        "{}: its files have another digest, sha256:{}; help: build the environment again, then \
         export it again",
        environment.reference(),
        stored.sha256
    )))
}
