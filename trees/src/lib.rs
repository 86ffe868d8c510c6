//! Directory trees by digest: the digest of a directory, its stamp, and the store of environments.
//!
//! The *digest* ([`digest_tree`]) names the content of a directory on every host;
//! `docs/tree-digest.md` is its format. A *copy* ([`copy_tree`]) is digested while it is written;
//! the same walk digests a tree without a copy ([`digest_as_copy`]).
//! The *stamp* ([`stamp_tree`]) reads no file: a stamp that
//! equals an earlier one of the same host means that the tree did not change. The *store*
//! ([`EnvironmentStore`]) holds each environment under its digest.
//!
//! Times and random names are arguments. This crate must never read an archive, start a program,
//! follow a link of a tree, or open a path through a directory that others may write to.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod beneath;
mod content;
mod copy;
mod digest;
mod entry;
mod error;
mod index;
mod indexed_stamp;
mod limits;
mod links;
mod name;
mod stamp;
mod store;
mod two_threads;
mod walk;

pub use beneath::open_beneath;
pub use content::{EnvironmentContent, EnvironmentKind, NotAnEnvironment};
pub use copy::{copy_tree, digest_as_copy};
pub use digest::{TreeFile, TreeSummary, digest_content, digest_tree};
pub use error::TreeError;
pub use limits::TreeLimits;
pub use links::LinkRule;
pub use model::{EnvironmentName, EnvironmentReference};
pub use stamp::stamp_tree;
pub use store::{
    BuildFacts, DamagedEnvironment, Environment, EnvironmentDraft, EnvironmentStore,
    ListedEnvironments, OpenEnvironment, SourceFacts, StoreError, SweptFiles,
};
