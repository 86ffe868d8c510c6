//! The reasons why a tree is refused or cannot be read. Each text names the path first; it must
//! never show a name of the tree unescaped.

use std::fmt;
use std::io;

use model::escape_line;
use rustix::io::Errno;

/// A tree without digest or stamp. Each `path` is relative to the top, which is empty itself.
#[derive(Debug)]
pub enum TreeError {
    /// A system call failed.
    Io {
        /// The file, directory or link.
        path: String,
        /// The operation as a verb phrase, such as `open`.
        act: &'static str,
        /// The error of the system call.
        error: io::Error,
    },
    /// Neither a file nor a directory nor a link.
    FileKind {
        /// The refused object.
        path: String,
        /// Its kind with the article, such as `a FIFO`.
        kind: &'static str,
    },
    /// A file with the set-user-ID or the set-group-ID bit.
    SetId {
        /// The file.
        path: String,
    },
    /// A name that is not UTF-8 or has a control character.
    Name {
        /// The path with the name, as far as it is text.
        path: String,
    },
    /// A link target that is not UTF-8 or has a control character.
    LinkTarget {
        /// The link.
        path: String,
    },
    /// A link that may lead out of the tree.
    LinkLeaves {
        /// The link.
        path: String,
        /// Its target.
        target: String,
    },
    /// The tree has more entries than the limit.
    TooManyEntries {
        /// The directory with the first entry beyond the limit.
        path: String,
        /// The limit.
        entries_max: u64,
    },
    /// The files of the tree have more bytes than the limit.
    TooManyBytes {
        /// The first file beyond the limit.
        path: String,
        /// The limit.
        bytes_max: u64,
    },
    /// A path of the tree has more components than the limit.
    TooDeep {
        /// The first path beyond the limit.
        path: String,
        /// The limit.
        depth_max: u32,
    },
    /// A file or directory on another mount than the top.
    OtherMount {
        /// The mounted file or directory.
        path: String,
    },
    /// The file changed while it was read, or another entry replaced it.
    Changed {
        /// The file.
        path: String,
    },
}

impl TreeError {
    /// Returns a function that makes the error of a system call on the entry of this name. Like
    /// every name of a walk, it is a path once [`Self::below`] has added the directories.
    pub(crate) fn failed<E: Into<io::Error>>(
        name: &str,
        act: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |error| Self::Io { path: name.to_owned(), act, error: error.into() }
    }

    /// Returns a function that makes the error of opening an entry whose kind was read before.
    pub(crate) fn unopened(name: &str) -> impl FnOnce(io::Error) -> Self {
        move |error| match Errno::from_io_error(&error) {
            // Another kind of entry has replaced it.
            Some(Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => {
                Self::Changed { path: name.to_owned() }
            }
            Some(Errno::XDEV) => Self::OtherMount { path: name.to_owned() },
            _ => Self::failed(name, "open")(error),
        }
    }

    /// Returns the error with its path below a directory of this name.
    pub(crate) fn below(mut self, directory: &str) -> Self {
        let path = self.path_mut();
        *path = match path.is_empty() {
            true => directory.to_owned(),
            false => format!("{directory}/{path}"),
        };
        self
    }

    /// The path of the refused or unreadable object.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Io { path, .. }
            | Self::FileKind { path, .. }
            | Self::SetId { path }
            | Self::Name { path }
            | Self::LinkTarget { path }
            | Self::LinkLeaves { path, .. }
            | Self::TooManyEntries { path, .. }
            | Self::TooManyBytes { path, .. }
            | Self::TooDeep { path, .. }
            | Self::OtherMount { path }
            | Self::Changed { path } => path,
        }
    }

    fn path_mut(&mut self) -> &mut String {
        match self {
            Self::Io { path, .. }
            | Self::FileKind { path, .. }
            | Self::SetId { path }
            | Self::Name { path }
            | Self::LinkTarget { path }
            | Self::LinkLeaves { path, .. }
            | Self::TooManyEntries { path, .. }
            | Self::TooManyBytes { path, .. }
            | Self::TooDeep { path, .. }
            | Self::OtherMount { path }
            | Self::Changed { path } => path,
        }
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path().is_empty() { "." } else { self.path() };
        write!(f, "{}: ", shown(path))?;
        match self {
            Self::Io { act, error, .. } => write!(f, "{act}: {error}"),
            Self::FileKind { kind, .. } => {
                write!(f, "{kind} cannot be part of a tree; help: remove it")
            }
            Self::SetId { .. } => f.write_str(
                "the file has a set-user-ID or set-group-ID bit; help: remove it with `chmod ug-s`",
            ),
            Self::Name { .. } => {
                f.write_str("the name is not UTF-8 or has a control character; help: rename it")
            }
            Self::LinkTarget { .. } => f.write_str(
                "the link's target is not UTF-8 or has a control character; help: replace the link",
            ),
            Self::LinkLeaves { target, .. } => write!(
                f,
                "the link to `{}` may leave the tree; help: use a relative target inside the tree, \
                 with `..` only at its beginning",
                shown(target)
            ),
            Self::TooManyEntries { entries_max, .. } => write!(
                f,
                "the tree has more than {entries_max} entries; help: leave out what is not needed"
            ),
            Self::TooManyBytes { bytes_max, .. } => write!(
                f,
                "with this file, the tree has more than {bytes_max} bytes; help: leave out what is \
                 not needed"
            ),
            Self::TooDeep { depth_max, .. } => write!(
                f,
                "the path has more than {depth_max} components; help: move the directory up"
            ),
            Self::OtherMount { .. } => f.write_str(
                "it is on another mount, which cannot be part of a tree; help: unmount it, or copy \
                 its content here",
            ),
            Self::Changed { .. } => f.write_str(
                "the file changed while it was read; help: end the program that writes to it, and \
                 try again",
            ),
        }
    }
}

impl std::error::Error for TreeError {}

/// Escapes a name or target; unlike in a line of text, a tab is escaped too.
fn shown(text: &str) -> String {
    escape_line(text).replace('\t', "\\t")
}
