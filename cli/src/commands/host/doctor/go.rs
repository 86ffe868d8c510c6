//! Go's build cache with the standard library in it, so that `go run` compiles the script and nothing
//! else. It must be made by the very program and under the very settings that runs have: Go names
//! everything in the cache by a digest over both, and what does not match is compiled again.

use std::fs;
use std::path::Path;
use std::process::Command;

use policies::Policy;

use super::program::run;
use crate::failure::Failure;
use crate::output;

pub(super) fn make(fresh: &Path, caches: &Path) -> Result<(), Failure> {
    let missing = |why: Option<String>| {
        let why = why.unwrap_or_else(|| "no program named go was found; install it".to_owned());
        Failure::Said(format!("doctor --warm go: {why}"))
    };
    let policy = Policy::shipped("embedded").ok_or_else(|| missing(None))?;
    let program = daemon::program_of(&policy, "go", caches).map_err(missing)?;
    let settings = policy.runtimes().filter(|it| it.name() == "go").flat_map(|it| it.env());
    // Whatever it leaves in its home is no part of the cache.
    let home = fresh.join("home");
    fs::create_dir(&home).map_err(Failure::io(&home))?;
    output::note(format_args!("{} compiles its library: about a minute", program.display()));
    let mut go = Command::new(&program);
    go.args(["build", "std"]).current_dir(fresh).env_clear();
    go.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &home);
    go.envs(settings.map(|(name, value)| (name, value))).env("GOCACHE", fresh);
    run(&mut go, &format!("{} build std", program.display()))?;
    fs::remove_dir_all(&home).map_err(Failure::io(&home))
}
