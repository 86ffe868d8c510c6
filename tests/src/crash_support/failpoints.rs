//! The daemon that can be killed at a named failpoint: its build, and the names of the failpoints.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::bench::Bench;
use crate::programs::workspace;
use crate::skip;

/// Names a directory with a daemon that was built with failpoints.
const BIN_VARIABLE: &str = "TOOLEXEC_FAILPOINTS_BIN";

pub struct FailpointDaemon {
    daemon: PathBuf,
}

impl FailpointDaemon {
    /// Returns the daemon in `TOOLEXEC_FAILPOINTS_BIN`, or builds one, once per process. Logs a
    /// skip and returns `None` if neither is possible.
    ///
    /// # Panics
    /// Panics if the daemon does not compile.
    #[must_use]
    pub fn get(test: &str) -> Option<Self> {
        static MADE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        match MADE.get_or_init(build_daemon) {
            Ok(daemon) => Some(Self { daemon: daemon.clone() }),
            Err(why) => {
                skip(test, why);
                None
            }
        }
    }

    #[must_use]
    pub fn program(&self) -> &Path {
        &self.daemon
    }

    /// Replaces the `toolexecd` of a bench. All other programs stay.
    pub fn install(&self, bench: &Bench) {
        let place = bench.scratch().path().join("bin/toolexecd");
        fs::remove_file(&place).unwrap();
        if fs::hard_link(&self.daemon, &place).is_err() {
            fs::copy(&self.daemon, &place).unwrap();
        }
    }

    /// Returns every failpoint, in the order of the source. A new failpoint needs no change here.
    ///
    /// # Panics
    /// Panics if the source has another form, because names could be missed.
    #[must_use]
    pub fn names() -> Vec<String> {
        let path = workspace().join("spool/src/failpoint.rs");
        let text = fs::read_to_string(&path).unwrap();
        let set = text.split_once("pub enum Failpoint {\n").unwrap().1;
        let set = set.split_once("\n    }\n").unwrap().0;
        let values: Vec<_> =
            set.lines().map(str::trim).filter(|line| !line.starts_with("///")).collect();
        let name = |value: &&str| {
            let (_, text) = value.split_once(" = \"")?;
            Some(text.strip_suffix("\",")?.to_owned())
        };
        let names: Vec<_> = values.iter().filter_map(name).collect();
        assert!(!names.is_empty(), "{} is not read rightly", path.display());
        assert_eq!(names.len(), values.len(), "{} is not read rightly", path.display());
        names
    }
}

fn build_daemon() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(BIN_VARIABLE) {
        let daemon = Path::new(&named).join("toolexecd");
        assert!(daemon.is_file(), "{BIN_VARIABLE}: {}: is not there", daemon.display());
        return Ok(fs::canonicalize(daemon).unwrap());
    }
    // target/<profile>/deps/<test>
    let test = fs::canonicalize(std::env::current_exe().unwrap()).unwrap();
    let target = test.ancestors().nth(3).unwrap().join("failpoints");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(cargo);
    cargo.args(["build", "-q", "-p", "daemon", "--features", "failpoints", "--locked"]);
    cargo.arg("--target-dir").arg(&target).current_dir(workspace());
    let built =
        cargo.output().map_err(|error| format!("{BIN_VARIABLE} is not set, and cargo: {error}"))?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Ok(target.join("debug/toolexecd"))
}

/// Counts the arrivals of a daemon at each failpoint, from the file in `TOOLEXEC_FAILPOINT_LOG`.
#[must_use]
pub fn arrivals(log: &Path) -> BTreeMap<String, u32> {
    let mut arrivals = BTreeMap::new();
    for line in fs::read_to_string(log).unwrap_or_default().lines() {
        *arrivals.entry(line.to_owned()).or_default() += 1;
    }
    arrivals
}
