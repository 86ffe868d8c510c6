//! Digests of what this host really uses: its policy, the seccomp text, our programs, the binaries of its
//! runtimes. A digest is always of bytes that were read here and now.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use policies::Policy;
use policies::ais::Supply;
use validator::{Sha256, Sha256Stream};

use crate::failure::Failure;

/// Our programs; what of them is not installed is not used either.
const PROGRAMS: [&str; 4] = ["toolexec", "toolexecd", "toolexec-launch", "toolexec-egress"];

/// The system calls of every cell, as they are compiled into the launcher.
const SECCOMP: [&str; 11] = [
    include_str!("../../../sandbox/seccomp/base.txt"),
    include_str!("../../../sandbox/seccomp/escape.txt"),
    include_str!("../../../sandbox/seccomp/go.txt"),
    include_str!("../../../sandbox/seccomp/hosts.txt"),
    include_str!("../../../sandbox/seccomp/node.txt"),
    include_str!("../../../sandbox/seccomp/python.txt"),
    include_str!("../../../sandbox/seccomp/refused.txt"),
    include_str!("../../../sandbox/seccomp/ruby.txt"),
    include_str!("../../../sandbox/seccomp/sampled.txt"),
    include_str!("../../../sandbox/seccomp/setup.txt"),
    include_str!("../../../sandbox/seccomp/ts.txt"),
];

/// What was found, and where.
pub(super) struct Found {
    pub(super) digests: Supply,
    /// By the name of a program or a runtime.
    pub(super) paths: Vec<(String, PathBuf)>,
}

/// Digests everything; binaries by the policy's rules.
pub(super) fn of(policy: &Policy) -> Result<Found, Failure> {
    let mut found = Found { digests: Supply::default(), paths: Vec::new() };
    let digests = &mut found.digests;
    digests.policies.insert("policy".to_owned(), policy.sha256());
    digests.policies.insert("seccomp".to_owned(), Sha256::of(SECCOMP.concat().as_bytes()));
    for (name, path) in programs() {
        if let Some(digest) = of_file(&path)? {
            digests.guards.insert(name.clone(), digest);
            found.paths.push((name, path));
        }
    }
    let binaries = daemon::preview::installed(policy, Path::new("/var/lib/toolexec/caches"));
    for runtime in policy.runtimes() {
        let Some(installed) = binaries.get(runtime.name()) else { continue };
        // A runtime with a root of its own sees its binary there.
        let path = match runtime.root() {
            Some(root) => {
                root.join(installed.binary.strip_prefix("/").unwrap_or(&installed.binary))
            }
            None => installed.binary.clone(),
        };
        if let Some(digest) = of_file(&path)? {
            digests.runtimes.insert(runtime.name().to_owned(), digest);
            found.paths.push((runtime.name().to_owned(), path));
        }
    }
    Ok(found)
}

/// Our programs where this one looks for them: beside itself, else in their packaged place.
fn programs() -> Vec<(String, PathBuf)> {
    let own = std::env::current_exe().ok().and_then(|exe| std::fs::canonicalize(exe).ok());
    let beside = own.and_then(|exe| exe.parent().map(Path::to_owned));
    let found = PROGRAMS.into_iter().filter_map(|name| {
        let places = [beside.clone(), Some(PathBuf::from("/usr/libexec/toolexec"))];
        let mut places = places.into_iter().flatten().map(|place| place.join(name));
        places.find(|path| path.is_file()).map(|path| (name.to_owned(), path))
    });
    found.collect()
}

fn of_file(path: &Path) -> Result<Option<Sha256>, Failure> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::Io(path.to_owned(), error)),
    };
    let (mut stream, mut bytes) = (Sha256Stream::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes).map_err(Failure::io(path))? {
            0 => return Ok(Some(stream.finish())),
            length => stream.update(&bytes[..length]),
        }
    }
}
