//! Patches in the format of git: the differences between two versions of a folder, file by file.
//!
//! `git apply` makes the later version from the earlier one, and `git apply -R` the reverse. Equal
//! calls write equal bytes. The time that a patch takes is bounded: a file that differs in too many
//! lines is written as one replacement.
//!
//! The crate reads only its arguments. It must never open a path, start a program or read the
//! clock.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod binary;
mod blob;
mod error;
mod file;
mod hunk;
mod kind;
mod lines;
mod name;
mod output;
mod sides;
mod writer;

pub use error::PatchError;
pub use file::{PatchedFile, PatchedFileKind};
pub use kind::{PatchLineKind, PatchLineReader};
pub use writer::{PatchSummary, PatchWriter};
