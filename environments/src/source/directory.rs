//! A directory that is copied: files, directories and symbolic links. Another process that changes
//! the directory meanwhile can add nothing from outside it, because no link is followed.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use model::Sha256;
use rustix::fs::{Mode, OFlags, open};
use trees::{LinkRule, TreeLimits, copy_tree};

use super::error::SourceError;

/// Copies a directory into an empty one, and returns the digest of the copy. `progress` gets the
/// bytes copied so far.
///
/// # Errors
/// An object of another kind, a set-user-ID file, a link that may leave the directory, a file that
/// changes, an exceeded limit, or an I/O error. The copy is incomplete then.
pub(super) fn copy_directory(
    source: &Path,
    into: &Path,
    rule: LinkRule,
    limits: &TreeLimits,
    progress: &mut dyn FnMut(u64),
) -> Result<Sha256, SourceError> {
    let (from, to) = (open_top(source)?, open_top(into)?);
    let mut bytes: u64 = 0;
    let mut add = |more| {
        bytes = bytes.saturating_add(more);
        progress(bytes);
    };
    let copied = copy_tree(from.as_fd(), to.as_fd(), rule, limits, &mut add);
    let summary = copied.map_err(|error| SourceError::Tree(source.to_owned(), error))?;
    Ok(summary.sha256)
}

/// Opens a directory. The caller typed its path, which may be a link.
fn open_top(path: &Path) -> Result<OwnedFd, SourceError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty());
    opened.map_err(|errno| SourceError::io(path)(errno.into()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test keeps none of its files")]

    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Returns the result of copying a directory that `fill` made.
    fn copied(
        name: &str,
        fill: impl Fn(&Path),
        check: impl Fn(&Path),
    ) -> Result<Sha256, SourceError> {
        let place = std::env::temp_dir().join(format!("copy-{name}-{}", std::process::id()));
        let (from, to) = (place.join("from"), place.join("to"));
        fs::create_dir_all(from.join("bin")).unwrap();
        fs::create_dir(&to).unwrap();
        fill(&from);
        let limits = TreeLimits { bytes_max: 1000, entries_max: 10, depth_max: 64 };
        let done = copy_directory(&from, &to, LinkRule::Inside, &limits, &mut |_| {});
        check(&to);
        fs::remove_dir_all(&place).unwrap();
        done
    }

    fn refusal(name: &str, fill: impl Fn(&Path)) -> String {
        copied(name, fill, |_| {}).unwrap_err().to_string()
    }

    #[test]
    fn files_directories_and_links_are_copied() {
        let fill = |from: &Path| {
            fs::write(from.join("bin/run"), "run").unwrap();
            fs::set_permissions(from.join("bin/run"), Permissions::from_mode(0o755)).unwrap();
            fs::write(from.join("data"), "data").unwrap();
            symlink("bin/run", from.join("link")).unwrap();
        };
        let check = |to: &Path| {
            let mode = |name: &str| fs::metadata(to.join(name)).unwrap().mode() & 0o111;
            assert_eq!(fs::read(to.join("bin/run")).unwrap(), b"run");
            assert!(mode("bin/run") != 0 && mode("data") == 0);
            assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("bin/run"));
        };
        copied("good", fill, check).unwrap();
    }

    #[test]
    fn other_objects_and_large_trees_are_refused() {
        let socket = refusal("socket", |from| {
            UnixListener::bind(from.join("s")).unwrap();
        });
        assert!(socket.contains("/from: s: a socket cannot be part of a tree; help: "), "{socket}");
        let set_id = refusal("set-id", |from| {
            fs::write(from.join("su"), "").unwrap();
            fs::set_permissions(from.join("su"), Permissions::from_mode(0o4755)).unwrap();
        });
        assert!(set_id.contains("/from: su: the file has a set-user-ID or "), "{set_id}");
        let link = refusal("link", |from| symlink("/etc/passwd", from.join("out")).unwrap());
        assert!(link.contains("/from: out: the link to `/etc/passwd` may leave"), "{link}");
        let large = refusal("large", |from| fs::write(from.join("a"), [0_u8; 1001]).unwrap());
        assert!(large.contains("more than 1000 bytes"), "{large}");
        let many = refusal("many", |from| {
            (0..10).for_each(|at| fs::write(from.join(at.to_string()), "").unwrap());
        });
        assert!(many.contains("more than 10 entries"), "{many}");
    }
}
