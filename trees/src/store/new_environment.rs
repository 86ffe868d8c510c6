//! An environment of a draft before it has its place: modes, shared files, digest and stamp. The
//! digest must be computed from the files as they are stored, after all else is done to them.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use model::Sha256;
use rustix::io::Errno;

use super::build_file::{StatedBuild, StoredBuild};
use super::check::{STORED_LIMITS, bytes_of, digest_shared, tree_totals};
use super::directory::{
    BUILD_JSON, CONTENT, ENVIRONMENT_JSON, EnvironmentStore, FILES, PUBLIC_FILE, STAMP, TREE,
};
use super::draft::{ENVIRONMENT, EnvironmentDraft};
use super::error::StoreError;
use super::handle::{open_directory, write_new};
use super::modes::{file_mode, normalize_tree, seal_tree};
use super::shared_files::{FileFacts, FilesByPath, SharedFiles};
use crate::content::{EnvironmentContent, EnvironmentKind};
use crate::digest::{TreeSummary, digest_content};
use crate::error::TreeError;
use crate::limits::TreeLimits;
use crate::links::LinkRule;
use crate::stamp::stamp_tree;

/// Writes the files of the environment of a draft, and returns its digest. Nothing of it is
/// necessarily on the disk yet.
pub(super) fn finish_draft(
    store: &EnvironmentStore,
    draft: &EnvironmentDraft,
    content: &EnvironmentContent,
    stated: StatedBuild<'_>,
    limits: &TreeLimits,
) -> Result<Sha256, StoreError> {
    let text = content.render();
    EnvironmentContent::parse(text.as_bytes()).map_err(StoreError::Content)?;
    let new = NewEnvironment::open(draft)?;
    new.fill(&text, limits)?;
    let rule = link_rule(content.kind);
    let (summary, stamp) = new.share_and_seal(store, rule, &wider(limits, &text))?;
    new.write_facts(&stamp, &StoredBuild::new(stated, &tree_totals(&summary, &text)))?;
    Ok(summary.sha256)
}

/// The open directories of an environment that is not stored yet.
struct NewEnvironment<'a> {
    draft: &'a EnvironmentDraft,
    path: PathBuf,
    directory: OwnedFd,
    content: OwnedFd,
    tree: OwnedFd,
}

impl<'a> NewEnvironment<'a> {
    fn open(draft: &'a EnvironmentDraft) -> Result<Self, StoreError> {
        let path = draft.path().join(ENVIRONMENT);
        let open = || {
            let directory = open_directory(draft.handle(), ENVIRONMENT)?;
            let content = open_directory(&directory, CONTENT)?;
            let tree = open_directory(&content, TREE)?;
            Ok::<_, Errno>((directory, content, tree))
        };
        let (directory, content, tree) = open().map_err(StoreError::io(draft.tree(), "open"))?;
        Ok(Self { draft, path, directory, content, tree })
    }

    /// Sets the modes of the tree, and writes `environment.json`.
    fn fill(&self, text: &str, limits: &TreeLimits) -> Result<(), StoreError> {
        let (tree, spare) = (self.tree.as_fd(), self.draft.handle());
        normalize_tree(tree, self.draft.tree(), spare, limits.depth())?;
        let path = self.path.join(CONTENT).join(ENVIRONMENT_JSON);
        write_new(&self.content, ENVIRONMENT_JSON, text.as_bytes(), file_mode(false))
            .map_err(StoreError::io(&path, "write"))?;
        Ok(())
    }

    /// Links the files to the shared ones, makes the directories read-only, and computes the
    /// digest and the stamp of the result.
    fn share_and_seal(
        &self,
        store: &EnvironmentStore,
        rule: LinkRule,
        limits: &TreeLimits,
    ) -> Result<(TreeSummary, Sha256), StoreError> {
        let (content, path) = (self.content.as_fd(), self.path.join(CONTENT));
        let mut files = FilesByPath::new();
        let before = digest_content(content, rule, limits, &mut |file| {
            files.insert(file.path.to_owned(), FileFacts::of(file));
        });
        let before = before.map_err(StoreError::tree(&path))?;
        let shared = SharedFiles { directory: store.part(FILES)?, spare: self.draft.handle() };
        shared.share(content, &path, &files)?;
        seal_tree(content, &path)?;
        // The stamp first: a change while the files are read makes the next stamp differ.
        let stamp = stamp_tree(content, &STORED_LIMITS).map_err(StoreError::tree(&path))?;
        let mut damaged = None;
        let after = digest_shared(content, rule, limits, &mut |file| {
            let wanted = files.get(file.path).copied();
            if wanted != Some(FileFacts::of(file)) {
                damaged = wanted.or(damaged);
            }
        });
        let after = after.map_err(StoreError::tree(&path))?;
        match damaged {
            Some(facts) => Err(shared.remove_damaged(store.path(), &facts)),
            None if after != before => {
                Err(StoreError::tree(&path)(TreeError::Changed { path: TREE.to_owned() }))
            }
            None => Ok((after, stamp)),
        }
    }

    /// Writes the stamp and the facts of the build.
    fn write_facts(&self, stamp: &Sha256, build: &StoredBuild) -> Result<(), StoreError> {
        for (name, text) in [(STAMP, format!("{stamp}\n")), (BUILD_JSON, build.render())] {
            write_new(&self.directory, name, text.as_bytes(), PUBLIC_FILE)
                .map_err(StoreError::io(&self.path.join(name), "write"))?;
        }
        Ok(())
    }
}

/// Returns the rule for the links of an environment.
fn link_rule(kind: EnvironmentKind) -> LinkRule {
    match kind {
        EnvironmentKind::Libraries => LinkRule::Inside,
        EnvironmentKind::Root => LinkRule::Root,
    }
}

/// Returns the limits of `content/`, which has `environment.json` and `tree` beside the tree.
fn wider(limits: &TreeLimits, text: &str) -> TreeLimits {
    TreeLimits {
        entries_max: limits.entries_max.saturating_add(2),
        bytes_max: limits.bytes_max.saturating_add(bytes_of(text)),
        depth_max: limits.depth_max.saturating_add(1),
    }
}
