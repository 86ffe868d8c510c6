//! The stamp of a tree whose names an index states: only the top directory is opened and listed. It
//! equals the stamp of `stamp.rs` if the tree has exactly these names. An added or removed name
//! changes the times of its directory, which are part of the stamp. The times of the top are not,
//! so its names are listed. An index must never lead to another stamp than that of its names.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd};

use model::{Sha256, Sha256Stream};
use rustix::fs::{AtFlags, Stat, statat};

use crate::index::{IndexedName, IndexedNames};
use crate::limits::TreeLimits;
use crate::stamp::{is_directory, stamp_line};
use crate::two_threads::{StampsByPosition, in_two_threads};
use crate::walk::{NameStack, open_top};

/// Computes the stamp of a directory with the names of an index. Returns `None` if the index does
/// not fit, or an entry cannot be examined.
pub(crate) fn stamp_indexed(
    top: BorrowedFd<'_>,
    index: &[u8],
    limits: &TreeLimits,
) -> Option<Sha256> {
    let top = open_top(top).ok()?;
    let names = IndexedNames::of_top(index);
    if !has_names(top.as_fd(), names, limits.entries_max) {
        return None;
    }
    let depth_max = limits.depth();
    let mut walk = IndexedStamp { top: top.as_fd(), depth_max, path: Vec::new(), line: Vec::new() };
    walk.split(names, 0)
}

/// Returns whether a directory has exactly these names.
fn has_names(directory: BorrowedFd<'_>, names: IndexedNames<'_>, entries_max: u64) -> bool {
    let mut stack = NameStack::new();
    let Ok(Some(listed)) = stack.list(directory, entries_max) else { return false };
    listed.indices().map(|index| stack.name(index)).eq(names.map(|it| it.name))
}

/// A walk of one thread.
struct IndexedStamp<'a> {
    top: BorrowedFd<'a>,
    depth_max: u32,
    /// The path of the present entry below the top.
    path: Vec<u8>,
    line: Vec<u8>,
}

impl IndexedStamp<'_> {
    /// Stamps a directory in two threads: the first one below the top that has two or more
    /// subdirectories is divided by these.
    fn split(&mut self, names: IndexedNames<'_>, depth: u32) -> Option<Sha256> {
        if depth > self.depth_max {
            return None;
        }
        let entries: Vec<_> = names.collect();
        let below: Vec<_> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((at, entry.name, entry.below?)))
            .collect();
        let stamps = match below.as_slice() {
            [(at, name, below)] => {
                let parent = self.enter(name);
                let stamp = self.split(*below, depth.saturating_add(1))?;
                self.path.truncate(parent);
                StampsByPosition::from([(*at, stamp)])
            }
            below => self.divide(below, depth.saturating_add(1))?,
        };
        let mut stream = Sha256Stream::new();
        for (at, entry) in entries.iter().enumerate() {
            let parent = self.enter(entry.name);
            self.entry(entry, &mut stream)?;
            self.path.truncate(parent);
            if let Some(stamp) = stamps.get(&at) {
                stream.update(stamp.as_bytes());
            }
        }
        Some(stream.finish())
    }

    /// Stamps subdirectories of the present directory; each thread takes the next one.
    fn divide(
        &self,
        below: &[(usize, &CStr, IndexedNames<'_>)],
        depth: u32,
    ) -> Option<StampsByPosition> {
        let (top, depth_max, path) = (self.top, self.depth_max, &self.path);
        let work = |positions: &mut dyn Iterator<Item = usize>| -> Result<Vec<_>, ()> {
            let mut walk = IndexedStamp { top, depth_max, path: path.clone(), line: Vec::new() };
            let mut stamps = Vec::new();
            for (at, name, names) in positions.filter_map(|position| below.get(position)) {
                let parent = walk.enter(name);
                stamps.push((*at, walk.directory(*names, depth).ok_or(())?));
                walk.path.truncate(parent);
            }
            Ok(stamps)
        };
        in_two_threads(below.len(), work).ok()
    }

    /// Stamps a directory in this thread.
    fn directory(&mut self, names: IndexedNames<'_>, depth: u32) -> Option<Sha256> {
        if depth > self.depth_max {
            return None;
        }
        let mut stream = Sha256Stream::new();
        for entry in names {
            let parent = self.enter(entry.name);
            self.entry(&entry, &mut stream)?;
            if let Some(below) = entry.below {
                stream.update(self.directory(below, depth.saturating_add(1))?.as_bytes());
            }
            self.path.truncate(parent);
        }
        Some(stream.finish())
    }

    /// Appends a name to the path. Returns the length of the path before.
    fn enter(&mut self, name: &CStr) -> usize {
        let parent = self.path.len();
        if parent > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name.to_bytes());
        parent
    }

    /// Adds what the file system states about the present entry.
    fn entry(&mut self, entry: &IndexedName<'_>, stream: &mut Sha256Stream) -> Option<()> {
        let stat = self.stat()?;
        if is_directory(&stat) != entry.below.is_some() {
            return None;
        }
        stamp_line(&mut self.line, entry.name, &stat);
        stream.update(&self.line);
        Some(())
    }

    fn stat(&mut self) -> Option<Stat> {
        self.path.push(0);
        let path = CStr::from_bytes_with_nul(&self.path).ok()?;
        let stat = statat(self.top, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        self.path.pop();
        Some(stat)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::index::{INDEX_BYTES_MAX, index_tree};
    use crate::stamp::stamp_tree;

    const LIMITS: TreeLimits = TreeLimits { entries_max: 100, bytes_max: 0, depth_max: 5 };

    /// A directory with subdirectories for two threads, below the only one of the top.
    struct IndexScene(PathBuf);

    impl IndexScene {
        fn new(name: &str) -> Self {
            let unique = format!("toolexec-index-{name}-{}", std::process::id());
            let scene = Self(std::env::temp_dir().join(unique));
            for directory in ["tree/a/inner", "tree/b", "tree/empty"] {
                fs::create_dir_all(scene.0.join(directory)).unwrap();
            }
            for file in ["environment.json", "tree/f", "tree/a/f", "tree/a/inner/f", "tree/b/f"] {
                File::create(scene.0.join(file)).unwrap();
            }
            std::os::unix::fs::symlink("a", scene.0.join("tree/link")).unwrap();
            scene
        }

        fn index(&self) -> Vec<u8> {
            index_tree(File::open(&self.0).unwrap().as_fd(), &LIMITS, INDEX_BYTES_MAX).unwrap()
        }

        fn stamps(&self, index: &[u8]) -> (Option<Sha256>, Sha256) {
            let top = File::open(&self.0).unwrap();
            let full = stamp_tree(top.as_fd(), &LIMITS).unwrap();
            (stamp_indexed(top.as_fd(), index, &LIMITS), full)
        }
    }

    impl Drop for IndexScene {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    /// The name of a change, and the change.
    type TreeChange = (&'static str, fn(&Path));

    #[test]
    fn the_stamp_with_an_index_is_the_stamp() {
        let scene = IndexScene::new("same");
        let (indexed, full) = scene.stamps(&scene.index());
        assert_eq!(indexed, Some(full));
    }

    #[test]
    fn each_change_is_seen_with_the_index_of_before() {
        let changes: [TreeChange; 6] = [
            ("a new file", |top| drop(File::create(top.join("tree/a/new")).unwrap())),
            ("a new file at the top", |top| drop(File::create(top.join("new")).unwrap())),
            ("a new directory", |top| fs::create_dir(top.join("tree/empty/new")).unwrap()),
            ("no file", |top| fs::remove_file(top.join("tree/a/inner/f")).unwrap()),
            ("a longer file", |top| {
                let file = File::options().write(true).open(top.join("tree/b/f")).unwrap();
                file.set_len(1).unwrap();
            }),
            ("a file for a link", |top| {
                fs::remove_file(top.join("tree/link")).unwrap();
                File::create(top.join("tree/link")).unwrap();
            }),
        ];
        for (name, change) in changes {
            let scene = IndexScene::new("changed");
            let (index, (before, _)) = (scene.index(), scene.stamps(&scene.index()));
            // Older kernels count file times in ticks of up to 10 ms.
            thread::sleep(Duration::from_millis(20));
            change(&scene.0);
            assert_ne!(scene.stamps(&index).0, before, "{name}");
        }
    }

    /// The bytes of another writer lead to no stamp, or to another one.
    #[test]
    fn a_wrong_index_never_gives_the_stamp() {
        let scene = IndexScene::new("wrong");
        let index = scene.index();
        for length in 0..index.len() {
            let (indexed, full) = scene.stamps(&index[..length]);
            assert_ne!(indexed, Some(full), "{length}");
        }
        for at in 0..index.len() {
            let mut wrong = index.clone();
            wrong[at] ^= 1;
            let (indexed, full) = scene.stamps(&wrong);
            assert_ne!(indexed, Some(full), "{at}");
        }
    }

    #[test]
    fn an_index_beyond_its_limit_is_not_made() {
        let scene = IndexScene::new("size");
        let (top, length) = (File::open(&scene.0).unwrap(), scene.index().len());
        let index = |bytes_max| index_tree(top.as_fd(), &LIMITS, bytes_max);
        assert_eq!(index(length).map(|index| index.len()), Some(length));
        for bytes_max in 0..length {
            assert_eq!(index(bytes_max), None, "{bytes_max}");
        }
    }

    #[test]
    fn a_tree_beyond_a_limit_has_no_index() {
        let scene = IndexScene::new("limits");
        let top = File::open(&scene.0).unwrap();
        for limits in
            [TreeLimits { entries_max: 10, ..LIMITS }, TreeLimits { depth_max: 2, ..LIMITS }]
        {
            assert!(index_tree(top.as_fd(), &limits, INDEX_BYTES_MAX).is_none(), "{limits:?}");
        }
    }
}
