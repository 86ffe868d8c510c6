//! Opens objects by handle beneath a directory that others may write to.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::path::Arg;

const WITHIN: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// Opens an existing object at a path beneath a directory. It follows no link, enters no other
/// mount, and waits for no FIFO.
///
/// # Errors
/// `ELOOP` for a link, `EXDEV` for a path out of the directory or on another mount, and the other
/// errors of openat2(2).
pub fn open_beneath(
    directory: impl AsFd,
    name: impl Arg,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    // openat2(2) refuses both with PATH, which opens neither a FIFO nor a terminal.
    let at_once = match flags.contains(OFlags::PATH) {
        true => OFlags::empty(),
        false => OFlags::NONBLOCK | OFlags::NOCTTY,
    };
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | at_once;
    openat2(directory, name, flags, Mode::empty(), WITHIN)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, mknodat};
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_path_leads_to_no_link_no_mount_and_not_out_of_the_directory() {
        let top = std::env::temp_dir().join(format!("toolexec-beneath-{}", std::process::id()));
        fs::create_dir_all(top.join("inner/below")).unwrap();
        File::create(top.join("outside")).unwrap();
        symlink("below", top.join("inner/link")).unwrap();
        let fifo = top.join("inner/fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let inner = File::open(top.join("inner")).unwrap();
        for flags in [OFlags::RDONLY, OFlags::PATH] {
            let open = |name: &str| open_beneath(&inner, name, flags).map(|_| ());
            assert_eq!(open("below"), Ok(()));
            // Without NONBLOCK this would wait for a writer.
            assert_eq!(open("fifo"), Ok(()));
            assert_eq!(open("../outside"), Err(Errno::XDEV));
            assert_eq!(open("link/x"), Err(Errno::LOOP));
            assert_eq!(open("missing"), Err(Errno::NOENT));
        }
        assert_eq!(open_beneath(&inner, "link", OFlags::RDONLY).err(), Some(Errno::LOOP));
        // `/proc` is a mount on every host.
        let root = File::open("/").unwrap();
        assert_eq!(open_beneath(&root, "proc", OFlags::PATH).err(), Some(Errno::XDEV));
        fs::remove_dir_all(&top).unwrap();
    }
}
