//! Go's build cache with the compiled standard library, so that `go run` compiles only the script.
//! It must be built by the same program and with the same settings as in runs. Go keys its cache by
//! a digest of both: with another cache, each run compiles the library.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use policies::Policy;

use super::program::run;
use crate::failure::Failure;
use crate::output;

pub(super) fn build_cache(fresh: &Path, caches: &Path) -> Result<(), Failure> {
    let missing = |why: Option<String>| {
        let why = why.unwrap_or_else(|| "no program `go` was found".to_owned());
        Failure::with_help(&format!("doctor --build-cache go: {why}"), "install Go")
    };
    let policy = Policy::shipped("embedded").ok_or_else(|| missing(None))?;
    let program = daemon::program_of(&policy, "go", caches).map_err(missing)?;
    let settings = policy.runtimes().filter(|it| it.name() == "go").flat_map(|it| it.env());
    // Files that Go leaves in its home are not part of the cache.
    let home = fresh.join("home");
    fs::create_dir(&home).map_err(Failure::io(&home))?;
    output::note(format_args!("{}: compiling its library, about a minute", program.display()));
    let mut go = Command::new(&program);
    go.args(["build", "std"]).current_dir(fresh).env_clear();
    go.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &home);
    go.envs(settings.map(|(name, value)| (name, value))).env("GOCACHE", fresh);
    run(&mut go, &format!("{} build std", program.display()))?;
    fs::remove_dir_all(&home).map_err(Failure::io(&home))?;
    link_trim_time(fresh)
}

/// Replaces the file with the time of Go's last removal of old entries by a link into the tool's own
/// `/tmp`. Runs see the cache read-only, and Go 1.24 exits with 1 if it cannot write this file.
fn link_trim_time(fresh: &Path) -> Result<(), Failure> {
    let time = fresh.join("trim.txt");
    match fs::remove_file(&time) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(Failure::io(&time)(error)),
        _ => {}
    }
    symlink("/tmp/go-trim.txt", &time).map_err(Failure::io(&time))
}
