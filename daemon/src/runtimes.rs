//! Which programs of the policy this host has.
//!
//! The policy names binaries; this looks whether they are there, are real programs and lie below what
//! the cell will see. A script is passed over: version managers put scripts where interpreters should
//! be, and those need the host to find the program.

use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use policies::{Binaries, BinaryRule, Policy, Runtime};

/// Where `auto` looks before PATH.
const FIRST_PLACES: [&str; 2] = ["/usr/bin", "/usr/local/bin"];
const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// Looks for the binary of every runtime of the policy.
pub(crate) fn find(policy: &Policy) -> Binaries {
    policy
        .runtimes()
        .filter_map(|runtime| Some((runtime.name().to_owned(), binary_of(runtime)?)))
        .collect()
}

fn binary_of(runtime: &Runtime) -> Option<PathBuf> {
    let candidates: Vec<PathBuf> = match runtime.binary() {
        BinaryRule::Path(path) => vec![path.clone()],
        BinaryRule::Auto { names } => {
            let path = env::var_os("PATH").unwrap_or_default();
            let places: Vec<PathBuf> = FIRST_PLACES
                .iter()
                .map(PathBuf::from)
                .chain(env::split_paths(&path).filter(|place| place.is_absolute()))
                .collect();
            places.iter().flat_map(|place| names.iter().map(|name| place.join(name))).collect()
        }
    };
    candidates.iter().find_map(|candidate| program_at(candidate, runtime.mounts()))
}

/// The real path of a program, if it is one that the cell can see.
fn program_at(path: &Path, mounts: &[PathBuf]) -> Option<PathBuf> {
    let real = fs::canonicalize(path).ok()?;
    let visible = mounts.iter().any(|mount| real.starts_with(mount));
    (visible && is_elf(&real)).then_some(real)
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == ELF_MAGIC
}
