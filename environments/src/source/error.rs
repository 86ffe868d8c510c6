//! The errors of a build.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use trees::TreeError;

use crate::UnpackError;

/// The reason why no tree was built.
#[derive(Debug)]
pub enum SourceError {
    /// A file or directory cannot be read or written.
    Io(PathBuf, io::Error),
    /// The source is not acceptable. The message names its object and has help.
    Refused(String),
    /// A program that the source needs is not installed.
    Missing(String),
    /// A program failed or took too long. The message ends with help.
    Program(String),
    /// The image in this file or directory was refused.
    Unpack(PathBuf, UnpackError),
    /// The tree in this directory was refused.
    Tree(PathBuf, TreeError),
}

impl SourceError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io(path, error)
    }

    pub(super) fn unpack(source: &Path) -> impl FnOnce(UnpackError) -> Self + use<> {
        let source = source.to_owned();
        move |error| Self::Unpack(source, error)
    }

    pub(super) fn refused(what: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Refused(format!("{what}; help: {help}"))
    }

    pub(super) fn interrupted(what: &str) -> Self {
        Self::Program(format!(
            "{what}: interrupted; nothing was stored; help: repeat this to build the environment"
        ))
    }

    pub(super) fn missing(what: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Missing(format!("{what}; help: {help}"))
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => {
                write!(f, "{}: {error}; help: check the path and its owner", path.display())
            }
            Self::Refused(why) | Self::Missing(why) | Self::Program(why) => f.write_str(why),
            Self::Unpack(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Tree(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl Error for SourceError {}
