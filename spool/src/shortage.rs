//! Temporary shortages: a full disk, a used-up quota, too few file descriptors. A request waits for
//! these to end and is not refused. No other module classifies an errno in this way.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// The descriptors that one request and its sandbox need at the same time.
const DESCRIPTORS_MIN: usize = 32;

/// The resource that is lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Disk space: a full disk, no free inode, or a used-up quota (`ENOSPC`, `EDQUOT`).
    DiskSpace,
    /// File descriptors, of this process or of the host (`EMFILE`, `ENFILE`).
    Descriptors,
}

impl Shortage {
    /// Returns the resource that the call lacked, or `None` if waiting cannot fix the error.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            Errno::NOSPC | Errno::DQUOT => Some(Self::DiskSpace),
            Errno::MFILE | Errno::NFILE => Some(Self::Descriptors),
            _ => None,
        }
    }

    /// Returns the operator's remedy.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::DiskSpace => "free disk space (`toolexec gc`), or raise the quota",
            Self::Descriptors => {
                "raise the limit of open files (`LimitNOFILE=` in the unit), or fs.file-max"
            }
        }
    }
}

/// Names the event that the request waits for.
impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskSpace => "there is free disk space",
            Self::Descriptors => "there are free file descriptors",
        })
    }
}

/// Checks that this process can open as many descriptors as one request needs.
pub(crate) fn open_descriptors() -> io::Result<()> {
    let opened: rustix::io::Result<Vec<_>> = (0..DESCRIPTORS_MIN)
        .map(|_| rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC))
        .collect();
    Ok(opened.map(drop)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_errno_has_its_message() {
        for (errno, want) in [
            (Errno::NOSPC, Some(Shortage::DiskSpace)),
            (Errno::DQUOT, Some(Shortage::DiskSpace)),
            (Errno::MFILE, Some(Shortage::Descriptors)),
            (Errno::NFILE, Some(Shortage::Descriptors)),
            (Errno::IO, None),
            (Errno::ACCESS, None),
            (Errno::NOMEM, None),
        ] {
            assert_eq!(Shortage::of(&errno.into()), want, "{errno}");
        }
        assert_eq!(Shortage::of(&io::Error::other("no errno")), None);
    }
}
