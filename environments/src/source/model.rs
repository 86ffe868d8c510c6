//! Types that the files of this module share: the tools of a build, its events and its result.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use trees::{EnvironmentContent, SourceFacts, TreeLimits};

use super::interrupt::BuildInterrupt;
use crate::UnpackLimits;

/// The tools and limits of a build.
pub struct SourceTools {
    /// The Python interpreter of the sandbox, as an absolute path.
    pub python: PathBuf,
    /// An empty directory for the programs' homes and temporary files. The caller removes it.
    pub scratch: PathBuf,
    /// The caller's environment variables. Programs get only the few that they need.
    pub variables: Vec<(OsString, OsString)>,
    /// The time that each program may take.
    pub time_max: Duration,
    /// The limits of the tree.
    pub limits: UnpackLimits,
    /// Ends a program when the operator interrupts the build.
    pub interrupt: BuildInterrupt,
}

impl SourceTools {
    /// The same limits, for a digest of the tree.
    pub(super) fn tree_limits(&self) -> TreeLimits {
        TreeLimits {
            entries_max: self.limits.entries_max,
            bytes_max: self.limits.bytes_max,
            depth_max: self.limits.depth_max,
        }
    }
}

model::closed_set! {
    /// A step of a build.
    pub enum SourceStep {
        /// The source is read and checked.
        Checking = "checking",
        /// The packages are fetched and installed.
        Installing = "installing",
        /// Byte code is compiled.
        Compiling = "compiling",
        /// An image is unpacked.
        Unpacking = "unpacking",
        /// A directory is copied.
        Copying = "copying",
    }
}

/// An event of a build, for a progress line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildEvent {
    /// A step has begun.
    Step(SourceStep),
    /// So many bytes were written since the step began.
    Bytes(u64),
    /// So many programs did not fit into the list of the environment.
    ProgramsLeftOut(usize),
    /// So many variables of the image were left out, because no environment may set them.
    VariablesLeftOut(usize),
}

/// A built tree, described.
#[derive(Debug)]
pub struct BuiltTree {
    /// The facts that matter to a run.
    pub content: EnvironmentContent,
    /// The facts about the source.
    pub source: SourceFacts,
    /// The program that installed the packages, if the source needs one.
    pub installer: Option<SourceInstaller>,
}

/// The program that installed the packages of a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceInstaller {
    /// Its name, such as `uv`.
    pub name: String,
    /// The version that it prints, or `unknown`.
    pub version: String,
}
