//! Gives the ordinary user of the tests subordinate ids. `/etc/subuid`, `/etc/subgid` and `/run`
//! are replaced in a mount namespace only: the files of the host are never changed.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sched::{CloneFlags, unshare};

use crate::bench::{Bench, CliOutput};
use crate::skip;

/// The ids of the user's runs: the end of the range in the files.
pub const RUN_UIDS: std::ops::Range<u32> = 1_950_065_280..1_950_065_536;
const ID_RANGE: &str = "1950000000:65536";
/// The account whose id `setpriv` gives to an ordinary user's programs.
const ACCOUNT: &str = "games";

/// Runs `act` with subordinate ids. Logs a skip and returns `None` if this host does not allow it.
///
/// # Panics
/// Panics if a mount fails.
pub fn with_user_range<R: Send>(test: &str, act: impl FnOnce() -> R + Send) -> Option<R> {
    if let Some(why) = missing_requirement() {
        skip(test, why);
        return None;
    }
    let bench = Bench::as_ordinary_user(test)?;
    // A thread can have its own mount namespace, which the processes that it starts inherit.
    std::thread::scope(|scope| {
        let there = scope.spawn(|| {
            if let Err(errno) = unshare(CloneFlags::CLONE_NEWNS) {
                skip(test, &format!("no mount namespace of its own: {errno}"));
                return None;
            }
            mount_id_files(&bench);
            Some(act())
        });
        there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn missing_requirement() -> Option<&'static str> {
    let has_account = || {
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        accounts.lines().any(|line| line.starts_with(&format!("{ACCOUNT}:")))
    };
    let is_there = |path: &str| Path::new(path).exists();
    if !rustix::process::geteuid().is_root() {
        Some("needs root, to mount other files over /etc/subuid and /etc/subgid")
    } else if !is_there("/usr/bin/newuidmap") || !is_there("/usr/bin/newgidmap") {
        Some("newuidmap and newgidmap are not installed")
    } else if !is_there("/etc/subuid") || !is_there("/etc/subgid") {
        Some("there is no /etc/subuid or no /etc/subgid to mount another file over")
    } else if !has_account() {
        Some("there is no account `games` for newuidmap to look up")
    } else {
        None
    }
}

fn mount_id_files(bench: &Bench) {
    mount(&["--make-rprivate", "/"]);
    let given = bench.scratch().file("subordinate", format!("{ACCOUNT}:{ID_RANGE}\n"));
    for file in ["/etc/subuid", "/etc/subgid"] {
        mount(&["--bind", given.to_str().unwrap(), file]);
    }
    // The locks of the user would otherwise stay on the host.
    mount(&["-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/run"]);
    let session = format!("/run/user/{}", bench.uid());
    fs::create_dir_all(&session).unwrap();
    std::os::unix::fs::chown(&session, Some(bench.uid()), None).unwrap();
}

fn mount(words: &[&str]) {
    CliOutput::of(Command::new("mount").args(words)).assert_code(0);
}
