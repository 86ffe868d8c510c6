//! The programs of PostgreSQL: those of Debian's package, or those that `tests/prepare postgresql`
//! has unpacked.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{Bench, CliOutput};
use crate::programs::workspace;
use crate::scratch::list;
use crate::skip;

const NEEDED: [&str; 4] = ["initdb", "pg_basebackup", "postgres", "psql"];
/// The directories with libraries of an unpacked package.
const LIBRARIES: [&str; 2] = ["usr/lib", "lib"];

/// The directory of one version.
#[derive(Clone, Debug)]
pub(super) struct PostgresPrograms {
    bin: PathBuf,
    /// The directories of their libraries, unless the host has them.
    libraries: Vec<PathBuf>,
}

impl PostgresPrograms {
    /// Returns the newest version that the user of a bench can start. Logs a skip and returns
    /// `None` if there is none.
    pub(super) fn find(test: &str, bench: &Bench) -> Option<Self> {
        let mut found = Self::below(Path::new("/"), Vec::new());
        let unpacked = unpacked(bench);
        let libraries = LIBRARIES.iter().flat_map(|place| {
            let place = unpacked.join(place);
            let names = list(&place).into_iter().filter(|name| name.contains("-linux-gnu"));
            names.map(|name| place.join(name)).collect::<Vec<_>>()
        });
        found.extend(Self::below(&unpacked, libraries.collect()));
        let usable = found.into_iter().find(|programs| programs.can_start(bench));
        if usable.is_none() {
            skip(
                test,
                "no PostgreSQL that this user can start; help: run tests/prepare postgresql",
            );
        }
        usable
    }

    fn below(root: &Path, libraries: Vec<PathBuf>) -> Vec<Self> {
        let place = root.join("usr/lib/postgresql");
        let mut versions: Vec<u32> =
            list(&place).iter().filter_map(|name| name.parse().ok()).collect();
        versions.sort_unstable();
        let of = |version: &u32| {
            let bin = place.join(version.to_string()).join("bin");
            Self { bin, libraries: libraries.clone() }
        };
        versions.iter().rev().map(of).collect()
    }

    fn can_start(&self, bench: &Bench) -> bool {
        NEEDED.iter().all(|name| self.bin.join(name).is_file())
            // This one needs a library of another package.
            && CliOutput::of(self.command(bench, "initdb").arg("--version")).code == Some(0)
    }

    /// Returns a command of the user of a bench.
    pub(super) fn command(&self, bench: &Bench, program: &str) -> Command {
        let mut command = bench.command(self.bin.join(program));
        if !self.libraries.is_empty() {
            let places: Vec<_> = self.libraries.iter().map(|it| it.display().to_string()).collect();
            command.env("LD_LIBRARY_PATH", places.join(":"));
        }
        command
    }
}

/// Returns the unpacked package, or a copy if the user of a bench has no access to the checkout.
fn unpacked(bench: &Bench) -> PathBuf {
    let original = workspace().join("target/tools/postgresql");
    let seen = CliOutput::of(bench.command("test").arg("-d").arg(&original)).code == Some(0);
    if seen || !original.is_dir() {
        return original;
    }
    let copy = bench.scratch().dir("postgresql");
    let mut cp = Command::new("cp");
    cp.current_dir(&original).args(["-r", "--parents", "usr/share/postgresql"]);
    cp.args(LIBRARIES.iter().filter(|place| original.join(place).is_dir())).arg(&copy);
    CliOutput::of(&mut cp).assert_code(0);
    copy
}
