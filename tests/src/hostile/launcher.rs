//! The other launchers: name, usage and user. Starts nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignLauncher {
    Bwrap,
    Crun,
    Runc,
    Firejail,
}

impl ForeignLauncher {
    pub const ALL: [Self; 4] = [Self::Bwrap, Self::Crun, Self::Runc, Self::Firejail];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Crun => "crun",
            Self::Runc => "runc",
            Self::Firejail => "firejail",
        }
    }

    /// Describes the command line of the tests, for the reader of the table.
    #[must_use]
    pub fn usage(self) -> &'static str {
        match self {
            Self::Bwrap => {
                "as an ordinary user: `bwrap --unshare-all --die-with-parent --ro-bind /usr /usr \
                 --symlink usr/lib /lib … --proc /proc --dev /dev --tmpfs /tmp --ro-bind IN /in \
                 --bind OUT /out PROGRAM`"
            }
            Self::Crun | Self::Runc => {
                "as root: the bundle of its own `spec`, without a terminal, with /usr, /in \
                 (read-only) and /out bound"
            }
            Self::Firejail => {
                "as a user with an account: `firejail --quiet --net=none --private PROGRAM`, with \
                 its default profile"
            }
        }
    }

    /// Returns true if the launcher needs root, or if the test needs root to become another user.
    pub(super) fn needs_root(self) -> bool {
        !matches!(self, Self::Bwrap)
    }
}

/// Returns uid and home of a user account of this host, neither root nor a service.
pub(super) fn account() -> Option<(u32, String)> {
    let accounts = fs::read_to_string("/etc/passwd").unwrap();
    let mut people = accounts.lines().filter_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let (id, home) = (fields.get(2)?.parse().ok()?, *fields.get(5)?);
        let own = fs::metadata(home).is_ok_and(|it| it.uid() == id);
        ((1000..60000).contains(&id) && own).then(|| (id, home.to_owned()))
    });
    people.next()
}
