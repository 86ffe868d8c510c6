//! The Rust toolchain that runs the tests, for a user with another home.

use std::env::var_os;
use std::path::{Path, PathBuf};

use toolexec_tests::skip;

use super::walked_section::WalkedSection;

pub(super) struct RustToolchain {
    programs: PathBuf,
    cargo_home: PathBuf,
}

impl RustToolchain {
    /// Finds the toolchain by `CARGO`, which cargo sets. Logs a skip and returns `None` if it has
    /// no directory of its own: the section would copy `/usr/lib`.
    pub(super) fn find(test: &str) -> Option<Self> {
        let cargo = var_os("CARGO").map(PathBuf::from);
        let programs = cargo.as_deref().and_then(Path::parent).map(Path::to_owned);
        let cargo_home = var_os("CARGO_HOME").map(PathBuf::from);
        let of_home = || var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
        let found = programs.zip(cargo_home.or_else(of_home));
        let found = found.map(|(programs, cargo_home)| Self { programs, cargo_home });
        let found = found.filter(Self::has_its_own_directory);
        if found.is_none() {
            skip(test, "CARGO names no toolchain of rustup");
        }
        found
    }

    fn has_its_own_directory(&self) -> bool {
        let sysroot = self.programs.parent();
        sysroot.is_some_and(|it| it != Path::new("/usr") && it.join("lib/rustlib").is_dir())
    }

    /// Lets the user run the toolchain. Crates come from the cache of the build, without a network.
    pub(super) fn lend_to(&self, walk: &mut WalkedSection<'_>) {
        walk.add_programs(&self.programs);
        walk.set("CARGO_HOME", &self.cargo_home);
        walk.set("CARGO_NET_OFFLINE", "true");
    }
}
