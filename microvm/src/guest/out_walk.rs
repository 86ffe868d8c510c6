//! Walks through `/out` and archives its files. Objects that the sandbox's collector would reject
//! are left out and reported, with the collector's reasons.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use model::RejectReason;

use crate::archive::{PAGE_BYTES, TarWriter};
use crate::protocol::GuestMessage;

/// The most objects that are reported by name.
const LEFT_OUT_MAX: usize = 100;
/// The unit in which the kernel states the space of a file.
const SPACE_UNIT_BYTES: u64 = 512;

/// The archive of a directory, while it is written.
pub(super) struct OutArchiveWalk<'a, W> {
    root: &'a Path,
    writer: TarWriter<W>,
    /// The bytes of holes that the wrapper's `/out` still has space for.
    holes_left: u64,
    entries: u64,
    left_out: u64,
    messages: Vec<GuestMessage>,
}

impl<'a, W: Write> OutArchiveWalk<'a, W> {
    /// Begins an archive of `root`. `free` are the bytes that its file system has left: together
    /// with the space of its files they are the limit of the wrapper's `/out`. A file without holes
    /// therefore always fits.
    pub(super) fn new(root: &'a Path, free: u64, to: W) -> Self {
        Self {
            root,
            writer: TarWriter::new(to),
            holes_left: free,
            entries: 0,
            left_out: 0,
            messages: Vec::new(),
        }
    }

    /// Writes the archive. Returns its output and the messages about it.
    pub(super) fn archive(mut self) -> io::Result<(W, Vec<GuestMessage>)> {
        let mut todo = VecDeque::from([String::new()]);
        while let Some(directory) = todo.pop_front() {
            self.directory(&directory, &mut todo)?;
        }
        let Self { writer, entries, left_out, mut messages, .. } = self;
        messages.push(GuestMessage::Written { entries, left_out });
        Ok((writer.finish()?, messages))
    }

    /// Archives the objects of a directory. Its own directories follow later.
    fn directory(&mut self, name: &str, todo: &mut VecDeque<String>) -> io::Result<()> {
        for child in sorted(&self.root.join(name))? {
            let Some(text) = child.to_str() else {
                let shown = below(name, &child.to_string_lossy());
                self.leave_out(RejectReason::NameNotUtf8, shown);
                continue;
            };
            let path = below(name, text);
            let facts = fs::symlink_metadata(self.root.join(&path))?;
            if let Some(reason) = self.fault(&path, &facts) {
                self.leave_out(reason, path);
            } else if facts.is_dir() {
                self.writer.directory(&path)?;
                self.entries += 1;
                todo.push_back(path);
            } else {
                self.file(&path, &facts)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &str, facts: &Metadata) -> io::Result<()> {
        let mut content = File::open(self.root.join(name))?;
        let executable = facts.permissions().mode() & 0o111 != 0;
        self.writer.file(name, facts.len(), executable, &mut content)?;
        self.holes_left = self.holes_left.saturating_sub(hole_bytes(facts));
        self.entries += 1;
        Ok(())
    }

    fn fault(&self, name: &str, facts: &Metadata) -> Option<RejectReason> {
        let kind = facts.file_type();
        if !TarWriter::<W>::fits(name) {
            Some(RejectReason::NameTooLong)
        } else if kind.is_dir() {
            None
        } else if kind.is_symlink() {
            Some(RejectReason::Symlink)
        } else if kind.is_fifo() {
            Some(RejectReason::Fifo)
        } else if kind.is_socket() {
            Some(RejectReason::Socket)
        } else if !kind.is_file() {
            Some(RejectReason::Device)
        } else if facts.nlink() > 1 {
            Some(RejectReason::Hardlink)
        } else if hole_bytes(facts) > self.holes_left {
            Some(RejectReason::Sparse)
        } else {
            None
        }
    }

    fn leave_out(&mut self, reason: RejectReason, name: String) {
        self.left_out += 1;
        if self.messages.len() < LEFT_OUT_MAX {
            self.messages.push(GuestMessage::LeftOut { reason, name });
        }
    }
}

/// Returns the bytes that a copy of the file needs in whole pages, less those that it has now.
fn hole_bytes(facts: &Metadata) -> u64 {
    let whole = facts.len().div_ceil(PAGE_BYTES).saturating_mul(PAGE_BYTES);
    whole.saturating_sub(facts.blocks().saturating_mul(SPACE_UNIT_BYTES))
}

fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

fn sorted(directory: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(directory)?.map(|entry| entry.map(|it| it.file_name()));
    let mut names: Vec<OsString> = names.collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::io::Cursor;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;
    use crate::archive::{ArchiveEntryKind, ArchiveLimits, OutArchive};
    use crate::directory_for_tests::TestDirectory;

    fn archive(place: &TestDirectory, free: u64) -> (OutArchive, Vec<GuestMessage>) {
        let walk = OutArchiveWalk::new(place.path(), free, Vec::new());
        let (bytes, messages) = walk.archive().unwrap();
        let limits = ArchiveLimits { entries: 100, bytes: 1 << 22 };
        (OutArchive::read(&mut Cursor::new(bytes), limits).unwrap(), messages)
    }

    fn names(archive: &OutArchive) -> Vec<&str> {
        archive.entries().iter().map(|entry| entry.name.as_str()).collect()
    }

    /// Returns what is left out, and the numbers of the last message.
    fn left_out(mut messages: Vec<GuestMessage>) -> (Vec<(RejectReason, String)>, (u64, u64)) {
        let Some(GuestMessage::Written { entries, left_out }) = messages.pop() else {
            unreachable!("the last message")
        };
        let objects = messages.into_iter().map(|message| match message {
            GuestMessage::LeftOut { reason, name } => (reason, name),
            other => unreachable!("{other:?}"),
        });
        (objects.collect(), (entries, left_out))
    }

    #[test]
    fn files_are_archived_in_the_order_of_their_names() {
        let place = TestDirectory::new("walk-order");
        for directory in ["b", "b/d"] {
            fs::create_dir(place.path().join(directory)).unwrap();
        }
        for file in ["c", "a", "b/x", "b/d/y", "B"] {
            place.file(file, file.as_bytes());
        }
        fs::set_permissions(place.path().join("c"), PermissionsExt::from_mode(0o755)).unwrap();
        let (archive, messages) = archive(&place, 1 << 20);
        assert_eq!(names(&archive), ["B", "a", "b", "c", "b/d", "b/x", "b/d/y"]);
        let kinds: Vec<_> = archive.entries().iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds[2], ArchiveEntryKind::Directory);
        assert_eq!(kinds[3], ArchiveEntryKind::File { executable: true });
        assert_eq!(messages, [GuestMessage::Written { entries: 7, left_out: 0 }]);
    }

    #[test]
    fn each_object_that_is_left_out_has_its_reason() {
        let place = TestDirectory::new("walk-reasons");
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("d")).unwrap();
        place.file("good", b"x");
        place.file("hard", b"x");
        fs::hard_link(path("hard"), path("harder")).unwrap();
        symlink("/etc/passwd", path("link")).unwrap();
        mkfifo(&path("pipe"), Mode::S_IRWXU).unwrap();
        drop(UnixListener::bind(path("socket")).unwrap());
        let long = "x".repeat(101);
        place.file(&long, b"x");
        fs::create_dir(path("d").join(OsStr::from_bytes(b"a\xff"))).unwrap();
        let (archive, messages) = archive(&place, 1 << 20);
        assert_eq!(names(&archive), ["d", "good"]);
        let reasons = [
            (RejectReason::Hardlink, "hard"),
            (RejectReason::Hardlink, "harder"),
            (RejectReason::Symlink, "link"),
            (RejectReason::Fifo, "pipe"),
            (RejectReason::Socket, "socket"),
            (RejectReason::NameTooLong, long.as_str()),
            (RejectReason::NameNotUtf8, "d/a\u{fffd}"),
        ];
        let wanted = reasons.map(|(reason, name)| (reason, name.to_owned())).to_vec();
        assert_eq!(left_out(messages), (wanted, (2, 7)));
    }

    #[test]
    fn only_holes_use_the_free_space() {
        let place = TestDirectory::new("walk-holes");
        place.file("full", &[7; 8192]);
        for name in ["holes", "more-holes"] {
            place.file(name, b"").set_len(600 << 10).unwrap();
        }
        let sparse = |name: &str| (RejectReason::Sparse, name.to_owned());
        let (none, messages) = archive(&place, 0);
        assert_eq!(names(&none), ["full"]);
        let both = vec![sparse("holes"), sparse("more-holes")];
        assert_eq!(left_out(messages), (both, (1, 2)));
        let (one, messages) = archive(&place, 1 << 20);
        assert_eq!(names(&one), ["full", "holes"]);
        assert_eq!(left_out(messages), (vec![sparse("more-holes")], (2, 1)));
        assert_eq!(names(&archive(&place, 2 << 20).0), ["full", "holes", "more-holes"]);
    }

    #[test]
    fn only_the_first_objects_are_named() {
        let place = TestDirectory::new("walk-many");
        for number in 0..LEFT_OUT_MAX + 20 {
            symlink("x", place.path().join(number.to_string())).unwrap();
        }
        let (objects, numbers) = left_out(archive(&place, 0).1);
        assert_eq!((objects.len(), numbers), (LEFT_OUT_MAX, (0, 120)));
    }
}
