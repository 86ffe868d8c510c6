//! The subordinate ids that root has assigned to the current user (subuid(5), subgid(5)). This
//! module only reads files; whether the kernel maps the ids is known only when they are used.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The most ids that are used: one for each concurrent sandbox.
const IDS_MAX: u32 = 256;
/// The directories where distributions install the programs of the package `uidmap`.
const PROGRAM_DIRS: [&str; 3] = ["/usr/bin", "/bin", "/run/wrappers/bin"];

/// Subordinate ids that the kernel may map for this user, and the programs that map them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubordinateIds {
    pub(crate) uid_first: u32,
    pub(crate) gid_first: u32,
    /// The number of each, at least 1.
    pub(crate) count: u32,
    pub(crate) newuidmap: PathBuf,
    pub(crate) newgidmap: PathBuf,
}

impl SubordinateIds {
    /// Returns how many concurrent sandboxes can have ids of their own; at least 1.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }
}

/// The reason why a user has no usable subordinate ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSubordinateIds {
    /// This file assigns no range to the user, or only ranges that contain ids of accounts.
    Range(&'static str),
    /// This program is not installed.
    Program(&'static str),
}

impl fmt::Display for NoSubordinateIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(file) => write!(f, "{file}: no usable range for this user"),
            Self::Program(name) => write!(f, "{name}: not installed"),
        }
    }
}

/// Returns the subordinate ids of the user who runs this program.
///
/// # Errors
/// The first missing part. A user who is not in `/etc/passwd` is looked up by number only.
pub fn of_this_user() -> Result<SubordinateIds, NoSubordinateIds> {
    let uid = rustix::process::geteuid().as_raw();
    let accounts = read("/etc/passwd");
    let uids = range("/etc/subuid", &accounts, uid, &accounts)?;
    let gids = range("/etc/subgid", &accounts, uid, &read("/etc/group"))?;
    let count = uids.count.min(gids.count);
    Ok(SubordinateIds {
        uid_first: uids.last_of(count),
        gid_first: gids.last_of(count),
        count,
        newuidmap: program("newuidmap")?,
        newgidmap: program("newgidmap")?,
    })
}

fn program(name: &'static str) -> Result<PathBuf, NoSubordinateIds> {
    let mut places = PROGRAM_DIRS.iter().map(|dir| Path::new(dir).join(name));
    let executable = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    places.find(executable).ok_or(NoSubordinateIds::Program(name))
}

/// A file that cannot be read assigns nothing.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IdRange {
    first: u32,
    count: u32,
}

impl IdRange {
    /// Returns the first of the last `count` ids; container engines use a range from its start.
    fn last_of(self, count: u32) -> u32 {
        self.first + (self.count - count)
    }

    /// Returns the part of the range that is used: its end.
    fn used(self) -> Self {
        let count = self.count.min(IDS_MAX);
        Self { first: self.last_of(count), count }
    }

    fn contains(self, id: u32) -> bool {
        id.checked_sub(self.first).is_some_and(|offset| offset < self.count)
    }
}

/// Returns the longest range in `file` that this user can use; it contains no ids of `owners`.
fn range(
    file: &'static str,
    accounts: &str,
    uid: u32,
    owners: &str,
) -> Result<IdRange, NoSubordinateIds> {
    longest(&read(file), accounts, uid, owners).ok_or(NoSubordinateIds::Range(file))
}

fn longest(text: &str, accounts: &str, uid: u32, owners: &str) -> Option<IdRange> {
    let number = uid.to_string();
    let name = name_of(accounts, &number);
    let owned: Vec<u32> =
        owners.lines().filter_map(|line| line.split(':').nth(2)?.parse().ok()).collect();
    let of_user = |line: &str| {
        let [owner, first, count] =
            <[&str; 3]>::try_from(line.split(':').collect::<Vec<_>>()).ok()?;
        if owner != number && Some(owner) != name {
            return None;
        }
        let (first, count): (u32, u32) = (first.parse().ok()?, count.trim().parse().ok()?);
        // The last id means "none" to the kernel (setresuid(2)).
        let end = first.checked_add(count).filter(|end| *end < u32::MAX && count > 0);
        let used = end.map(|_| IdRange { first, count }.used())?;
        let free =
            used.first > 0 && !used.contains(uid) && !owned.iter().any(|id| used.contains(*id));
        free.then_some(used)
    };
    text.lines().filter_map(of_user).max_by_key(|range| range.count)
}

fn name_of<'a>(accounts: &'a str, uid: &str) -> Option<&'a str> {
    let is_ours = |line: &&str| line.split(':').nth(2) == Some(uid);
    accounts.lines().find(is_ours)?.split(':').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNTS: &str = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n";

    fn of_ann(text: &str) -> Option<(u32, u32)> {
        longest(text, ACCOUNTS, 1000, ACCOUNTS).map(|it| (it.first, it.count))
    }

    #[test]
    fn the_end_of_the_longest_range_is_used() {
        assert_eq!(of_ann("bob:100000:65536\nann:165536:65536\n"), Some((230_816, 256)));
        assert_eq!(of_ann("1000:165536:65536\n"), Some((230_816, 256)));
        assert_eq!(of_ann("ann:200000:10\nann:300000:100\n"), Some((300_000, 100)));
    }

    #[test]
    fn invalid_ranges_are_ignored() {
        let none = [
            "",
            "bob:100000:65536",
            "annabel:100000:65536",
            "10000:100000:65536",
            "ann:100000",
            "ann:100000:65536:1",
            "ann:x:65536",
            "ann:-1:5",
            "ann:100000:0",
            "ann:4294967290:6",
            "ann:4294967295:1",
        ];
        for text in none {
            assert_eq!(of_ann(text), None, "{text}");
        }
    }

    #[test]
    fn a_range_with_an_account_in_it_is_not_used() {
        for text in ["ann:0:10", "ann:900:101", "ann:1000:1"] {
            assert_eq!(of_ann(text), None, "{text}");
        }
        let others = "eve:x:230900:230900::/home/eve:/bin/sh\n";
        assert_eq!(longest("ann:165536:65536", ACCOUNTS, 1000, others), None);
    }
}
