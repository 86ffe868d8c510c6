//! Shortages that pass: a full disk, a used-up quota, too few file descriptors. Requests wait for these and are not
//! refused. No other module classifies an errno in this way.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// How many descriptors one request needs at the same time, its own and those of its sandbox.
const DESCRIPTORS_MIN: usize = 32;

/// What was lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Room on a disk: it is full, has no more inodes, or the user's quota is used up (`ENOSPC`, `EDQUOT`).
    Room,
    /// File descriptors, of this process or of the host (`EMFILE`, `ENFILE`).
    Descriptors,
}

impl Want {
    /// What the call that failed lacked; `None` for an error that waiting does not mend.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            Errno::NOSPC | Errno::DQUOT => Some(Self::Room),
            Errno::MFILE | Errno::NFILE => Some(Self::Descriptors),
            _ => None,
        }
    }

    /// What an operator can do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Room => "remove what is no longer needed (`toolexec gc`), or raise the quota",
            Self::Descriptors => {
                "raise the limit of open files (`LimitNOFILE=` of the unit), or fs.file-max"
            }
        }
    }
}

/// What is waited for.
impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Room => "there is room",
            Self::Descriptors => "there are free file descriptors",
        })
    }
}

/// Whether this process can open as many descriptors as one request needs.
pub(crate) fn try_descriptors() -> io::Result<()> {
    let opened: rustix::io::Result<Vec<_>> = (0..DESCRIPTORS_MIN)
        .map(|_| rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC))
        .collect();
    Ok(opened.map(drop)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_errno_is_told_as_what_it_is() {
        for (errno, want) in [
            (Errno::NOSPC, Some(Want::Room)),
            (Errno::DQUOT, Some(Want::Room)),
            (Errno::MFILE, Some(Want::Descriptors)),
            (Errno::NFILE, Some(Want::Descriptors)),
            (Errno::IO, None),
            (Errno::ACCESS, None),
            (Errno::NOMEM, None),
        ] {
            assert_eq!(Want::of(&errno.into()), want, "{errno}");
        }
        assert_eq!(Want::of(&io::Error::other("no errno")), None);
    }
}
