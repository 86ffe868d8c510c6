//! Sources of environments: image archives, lock files and the ecosystems' own tools. Only the
//! command line uses this crate. It fills a directory that the caller made, and must never write
//! outside it, run anything of an archive, or store an environment: `trees` does that.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod error;
mod fault;
mod image;
mod source;
mod unpack;

pub use error::UnpackError;
pub use fault::{EntryFault, ExceededLimit, ImageFault};
pub use image::{ImageFacts, unpack_docker_archive, unpack_oci_layout};
pub use source::{
    BuildEvent, BuildInterrupt, BuiltTree, SourceError, SourceInstaller, SourceKind, SourceStep,
    SourceTools, build_tree,
};
pub use unpack::UnpackLimits;
