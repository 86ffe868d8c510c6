//! Checks that many runs through one launcher leak nothing in the launcher, the kernel or the host.
//!
//! `TOOLEXEC_LEAK_RUNS` sets their number. The state at the end is compared with that after the
//! first few hundred runs, and with that before the launcher was started. Both modes are tested:
//! root's sandboxes, and an ordinary user's through a copy of this program without root's rights.
//! `TOOLEXEC_BIN` names the directory of the launcher, by default the one built with this test.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

// Shared with the black-box test suite by path: it imports no crate and no crate imports it.
mod launcher_state;
#[path = "../../../tests/src/hostile/leftovers.rs"]
pub mod leftovers;
mod runs;
#[path = "../../../tests/src/skip.rs"]
pub mod skip;
#[path = "../../../tests/src/slowdown.rs"]
pub mod slowdown;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use launcher_state::LauncherState;
use leftovers::HostLeftovers;
use runs::Runs;
use skip::skip;

const RUNS: &str = "TOOLEXEC_LEAK_RUNS";
/// The number for a suite that also runs all other tests.
const RUNS_BY_DEFAULT: usize = 3000;
/// After these runs, a launcher has every slot, page and cache that it keeps.
const FIRST_RUNS: usize = 400;
/// Growth in each of so many turns is a leak.
const TURNS_MAX: usize = 3;
/// A uid without a user on this host.
const ORDINARY: &str = "65533";

/// Each test inspects the whole host.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn many_runs_of_root_leave_nothing() {
    let test = "many_runs_of_root_leave_nothing";
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if !rustix::process::geteuid().is_root() {
        return skip(test, "needs root, and the tests run as an ordinary user");
    }
    many_runs_leave_nothing(test);
}

#[test]
fn many_runs_of_an_ordinary_user_leave_nothing() {
    let test = "many_runs_of_an_ordinary_user_leave_nothing";
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let tried = as_ordinary_user("unshare").args(["--user", "--map-root-user", "true"]).output();
    let tried = tried.unwrap();
    if !tried.status.success() {
        let why = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
        return skip(test, &format!("no user namespaces here: {why}"));
    }
    if !rustix::process::geteuid().is_root() {
        return many_runs_leave_nothing(test);
    }
    by_an_ordinary_user(test);
}

/// Runs the test in a copy of this program without root's rights, and prints its output.
fn by_an_ordinary_user(test: &str) {
    let before = HostLeftovers::now();
    let place = LeakTestDir::new("copy");
    let own = place.copy(&std::env::current_exe().unwrap(), "leaks");
    place.copy(&launcher_program(), "toolexec-launch");
    // This user cannot write to the suite's own log.
    let skipped = place.0.join("skipped");
    fs::write(&skipped, "").unwrap();
    fs::set_permissions(&skipped, fs::Permissions::from_mode(0o666)).unwrap();
    let mut command = as_ordinary_user(own.to_str().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.env("TOOLEXEC_BIN", &place.0).env("TOOLEXEC_SKIP_LOG", &skipped);
    let output = command.output().unwrap();
    // Indented, so that a result counter does not count that test's results as well.
    for line in [output.stdout, output.stderr].iter().flat_map(|text| text.split(|it| *it == b'\n'))
    {
        println!("  | {}", String::from_utf8_lossy(line));
    }
    for line in fs::read_to_string(skipped).unwrap().lines() {
        let (name, why) = line.trim_start_matches("SKIPPED ").split_once(": ").unwrap();
        skip(name, why);
    }
    assert!(output.status.success(), "as an ordinary user: see above");
    drop(place);
    assert_eq!(HostLeftovers::left_since(&before), Vec::<String>::new(), "left behind");
}

fn many_runs_leave_nothing(test: &str) {
    {
        // Files that a host's first launcher creates and later ones reuse are not leaks.
        let place = LeakTestDir::new("first");
        let Some(tool) = place.tool() else { return skip(test, "no C compiler") };
        Runs::new(&launcher_program(), &place.0, tool).go(1);
    }
    let before = HostLeftovers::now();
    let place = LeakTestDir::new("runs");
    let Some(tool) = place.tool() else { return skip(test, "no C compiler") };
    let runs = Runs::new(&launcher_program(), &place.0, tool);
    runs.go(FIRST_RUNS);
    runs.take_all_slots();
    let count = std::env::var(RUNS).map_or(RUNS_BY_DEFAULT, |text| text.parse().unwrap());
    let mut changed = changed_by_runs(test, &runs, count);
    if runs.staged() > 0 {
        changed.push(format!("{} in the staging directory", runs.staged()));
    }
    let complaints = runs.complaints();
    let some = complaints.iter().take(20).map(|line| format!("the launcher says: {line}"));
    changed.extend(some);
    assert_eq!(changed, Vec::<String>::new(), "not as it was after the first runs");
    drop(runs);
    drop(place);
    assert_eq!(HostLeftovers::left_since(&before), Vec::<String>::new(), "left behind");
}

/// Makes so many runs, and again while memory or kernel objects grow: a leak grows every time, the
/// allocator and other programs of the host do not. Returns what changed.
fn changed_by_runs(test: &str, runs: &Runs, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..TURNS_MAX {
        let before = LauncherState::at_rest(launcher_state::launcher());
        let begun = Instant::now();
        runs.go(count);
        let took = begun.elapsed().as_secs_f64();
        println!("{test}: {count} runs in {took:.1} s, {:.0} a second", count as f64 / took);
        runs.take_all_slots();
        let changes = LauncherState::changes_since(&before, count);
        if !changes.counts.is_empty() {
            return changes.counts;
        }
        if changes.growth.is_empty() {
            return Vec::new();
        }
        changes.growth.iter().for_each(|line| println!("  grown, {line}"));
        all.extend(changes.growth);
    }
    all
}

/// A directory of this test that every user may enter. Not below `/tmp`: a sandbox has its own.
struct LeakTestDir(PathBuf);

impl LeakTestDir {
    fn new(what: &str) -> Self {
        let place = PathBuf::from(format!("/var/tmp/toolexec-leaks-{}-{what}", std::process::id()));
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        Self(place)
    }

    fn copy(&self, from: &Path, name: &str) -> PathBuf {
        let to = self.0.join(name);
        fs::copy(from, &to).unwrap();
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
        to
    }

    /// Compiles the program that ends in every way. Returns `None` without a compiler.
    fn tool(&self) -> Option<PathBuf> {
        let tools = self.0.join("tools");
        fs::create_dir(&tools).unwrap();
        let (source, tool) = (tools.join("ends.c"), tools.join("ends"));
        fs::write(&source, include_str!("ends.c")).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-static", "-o"]).arg(&tool).arg(&source);
        let compiled = compiler.status().ok()?;
        assert!(compiled.success(), "ends.c does not compile");
        Some(tool)
    }
}

impl Drop for LeakTestDir {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

/// Returns a program run as this user, or as an ordinary one if this is root.
fn as_ordinary_user(program: &str) -> Command {
    let mut command = Command::new(program);
    if rustix::process::geteuid().is_root() {
        command = Command::new("setpriv");
        command.args(["--reuid", ORDINARY, "--regid", ORDINARY, "--clear-groups", "--", program]);
    }
    command.stdin(Stdio::null()).current_dir("/");
    command
}

fn launcher_program() -> PathBuf {
    match std::env::var_os("TOOLEXEC_BIN") {
        Some(named) => Path::new(&named).join("toolexec-launch"),
        None => env!("CARGO_BIN_EXE_toolexec-launch").into(),
    }
}
