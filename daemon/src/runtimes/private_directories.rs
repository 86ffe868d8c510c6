//! Directories that are never mounted in a sandbox, even if a program is in them.
//!
//! A directory is refused if it, or a directory below it, holds keys, settings or files of other
//! users: `~/bin/python3` would otherwise expose a whole home directory. In user mode the tool has
//! the caller's uid, so that file modes protect nothing there.

use std::env;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};

/// Private directories of the host.
const HOST_DIRECTORIES: [&str; 9] =
    ["/home", "/root", "/etc", "/var/lib", "/var/spool", "/boot", "/run", "/srv", "/mnt"];
/// Directories that the sandbox makes itself, or that hold no files.
const SANDBOX_DIRECTORIES: [&str; 7] = ["/proc", "/sys", "/dev", "/in", "/out", "/tmp", "/cache"];
/// Private directories below a home directory.
const HOME_DIRECTORIES: [&str; 6] =
    [".ssh", ".gnupg", ".config", ".local/share", ".local/state", ".cache"];
const XDG_VARIABLES: [&str; 4] =
    ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

/// Those of the user who runs this program.
pub(super) struct PrivateDirectories(Vec<PathBuf>);

impl PrivateDirectories {
    /// `caches_dir` is below the state directory.
    pub(super) fn of_user(caches_dir: &Path) -> Self {
        let mut places: Vec<PathBuf> = HOST_DIRECTORIES.iter().map(PathBuf::from).collect();
        let named = |name: &&str| env::var_os(name).map(PathBuf::from);
        places.extend(XDG_VARIABLES.iter().filter_map(named));
        let of_user = User::from_uid(Uid::effective()).ok().flatten().map(|user| user.dir);
        for home in [named(&"HOME"), of_user].into_iter().flatten() {
            places.extend(HOME_DIRECTORIES.iter().map(|name| home.join(name)));
            places.push(home);
        }
        places.extend(caches_dir.parent().map(Path::to_owned));
        // Resolved as well: a private directory must not be mounted under another name.
        let real = places.iter().filter_map(|place| place.canonicalize().ok()).collect::<Vec<_>>();
        places.extend(real);
        // A service's home directory may be `/` or a directory of programs, which are not private.
        places.retain(|place| place.is_absolute() && place.parent().is_some());
        places.retain(|place| !place.starts_with("/usr"));
        Self(places)
    }

    /// Returns the reason why a directory must not be mounted, if there is one.
    pub(super) fn check(&self, directory: &Path) -> Result<(), String> {
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let shown = real.display();
        if real.parent().is_none() {
            let shown = directory.display();
            return Err(format!("{shown} is the root directory, never mounted in a sandbox"));
        }
        if real.parent() == Some(Path::new("/home")) {
            return Err(format!("{shown} is a home directory, never mounted in a sandbox"));
        }
        match self.0.iter().find(|place| place.starts_with(&real)) {
            Some(place) if *place == real => {
                Err(format!("{shown} is private, never mounted in a sandbox"))
            }
            Some(place) => {
                let place = place.display();
                Err(format!("{shown} contains {place}, so it is never mounted in a sandbox"))
            }
            None => Ok(()),
        }
    }

    /// Returns the installation prefix of a program: the parent of its `bin/` directory.
    pub(super) fn prefix_of(&self, program: &Path) -> Result<PathBuf, String> {
        let shown = program.display();
        let bin = program.parent().filter(|bin| bin.ends_with("bin"));
        let Some(prefix) = bin.and_then(Path::parent) else {
            return Err(format!("{shown} is in no mount of the policy and not in a bin/"));
        };
        if let Some(top) = SANDBOX_DIRECTORIES.iter().find(|top| prefix.starts_with(top)) {
            return Err(format!("{shown} is in {top}, which the sandbox itself provides"));
        }
        self.check(prefix).map_err(|why| format!("{shown}: {why}"))?;
        Ok(prefix.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private() -> PrivateDirectories {
        PrivateDirectories(
            ["/home", "/home/x", "/home/x/.ssh", "/root", "/etc"].map(PathBuf::from).to_vec(),
        )
    }

    #[test]
    fn interpreter_in_own_directory_has_a_prefix() {
        let prefix = |path: &str| private().prefix_of(Path::new(path));
        let version = "/home/x/.pyenv/versions/3.12.4";
        assert_eq!(prefix(&format!("{version}/bin/python3.12")), Ok(PathBuf::from(version)));
        assert_eq!(prefix("/opt/go/bin/go"), Ok(PathBuf::from("/opt/go")));
        for (path, why) in [
            ("/bin/sh", "the root directory"),
            ("/home/x/bin/node", "/home/x is a home directory"),
            ("/home/bin/node", "/home is private"),
            ("/root/bin/node", "/root is private"),
            ("/home/x/.ssh/bin/node", ".ssh is private"),
            ("/tmp/x/bin/node", "is in /tmp, which the sandbox itself provides"),
            ("/opt/node/node", "not in a bin/"),
        ] {
            let message = prefix(path).err().unwrap_or_default();
            assert!(message.contains(why) && message.contains(path), "{path}: {message}");
        }
    }

    #[test]
    fn directory_above_a_private_one_is_refused() {
        let private = PrivateDirectories(vec![PathBuf::from("/srv/people/x/.ssh")]);
        let why = private.check(Path::new("/srv/people")).err().unwrap_or_default();
        assert!(why.contains("/srv/people contains /srv/people/x/.ssh"), "{why}");
        assert_eq!(private.check(Path::new("/srv/people/x/.pyenv")), Ok(()));
    }
}
