//! Digests of the files that runs on this host use: the policy, the seccomp filters, our programs
//! and the runtime binaries, always of the present bytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use model::{Sha256, Sha256Stream};
use policies::ais::EnvironmentDigests;
use policies::{InstalledRuntimes, Policy};
use sandbox::seccomp;

use crate::model::ConfigError;
use crate::trust_store::{FileStamp, file_stamp};

/// A program that is not installed has no digest.
const PROGRAMS: [&str; 4] = ["toolexec", "toolexecd", "toolexec-launch", "toolexec-egress"];

/// The digests, and the paths of the files.
pub struct EnvironmentFiles {
    /// The digests by name, including those of the policy and the seccomp filters.
    pub digests: EnvironmentDigests,
    /// By the name of a program or a runtime.
    pub paths: Vec<(String, PathBuf)>,
}

/// Cached digests by file. A file is read again when its inode, size or times have changed.
#[derive(Default)]
pub struct DigestCache {
    /// The configured paths of our programs, by name.
    program_paths: BTreeMap<&'static str, PathBuf>,
    entries: BTreeMap<PathBuf, (FileStamp, Sha256)>,
}

impl DigestCache {
    /// A service behind a socket is the packaged program.
    pub(crate) fn of_host(launcher: Option<&Path>, egress: Option<&Path>) -> Self {
        let named = [("toolexec-launch", launcher), ("toolexec-egress", egress)];
        let named = named.into_iter().filter_map(|(name, path)| Some((name, path?.to_owned())));
        Self { program_paths: named.collect(), entries: BTreeMap::new() }
    }

    /// Computes the digests of all files that runs under this policy use.
    ///
    /// # Errors
    /// A file exists and cannot be read.
    pub fn of(
        &mut self,
        policy: &Policy,
        binaries: &InstalledRuntimes,
    ) -> Result<EnvironmentFiles, ConfigError> {
        let mut found =
            EnvironmentFiles { digests: EnvironmentDigests::default(), paths: Vec::new() };
        found.digests.policies.insert("policy".to_owned(), policy.sha256());
        let seccomp: Vec<_> = seccomp::all().iter().map(|text| text.text).collect();
        let seccomp = Sha256::of(seccomp.concat().as_bytes());
        found.digests.policies.insert("seccomp".to_owned(), seccomp);
        for (name, path) in self.programs() {
            if let Some(digest) = self.of_file(&path)? {
                found.digests.guards.insert(name.clone(), digest);
                found.paths.push((name, path));
            }
        }
        for runtime in policy.runtimes() {
            let Some(installed) = binaries.get(runtime.name()) else { continue };
            // The binary of a runtime with its own root is below that root.
            let path = match runtime.root() {
                Some(root) => {
                    root.join(installed.binary.strip_prefix("/").unwrap_or(&installed.binary))
                }
                None => installed.binary.clone(),
            };
            if let Some(digest) = self.of_file(&path)? {
                found.digests.runtimes.insert(runtime.name().to_owned(), digest);
                found.paths.push((runtime.name().to_owned(), path));
            }
        }
        for (name, installed) in binaries.backends().found() {
            // A name of a runtime is never the name of a backend.
            for file in &installed.files {
                let name = match file.role.as_str() {
                    "program" => name.to_owned(),
                    role => format!("{name}/{role}"),
                };
                if let Some(digest) = self.of_file(&file.path)? {
                    found.digests.runtimes.insert(name.clone(), digest);
                    found.paths.push((name, file.path.clone()));
                }
            }
        }
        Ok(found)
    }

    /// At the configured path, else beside the running program, else at the packaged path.
    fn programs(&self) -> Vec<(String, PathBuf)> {
        let own = std::env::current_exe().ok().and_then(|exe| std::fs::canonicalize(exe).ok());
        let beside = own.and_then(|exe| exe.parent().map(Path::to_owned));
        let found = PROGRAMS.into_iter().filter_map(|name| {
            let packaged = [PathBuf::from("/usr/libexec/toolexec"), PathBuf::from("/usr/bin")];
            let usual = beside.iter().cloned().chain(packaged).map(|place| place.join(name));
            let mut places = self.program_paths.get(name).cloned().into_iter().chain(usual);
            places.find(|path| path.is_file()).map(|path| (name.to_owned(), path))
        });
        found.collect()
    }

    /// Returns the digest of a file as it is now; `None` if it does not exist.
    pub(crate) fn of_file(&mut self, path: &Path) -> Result<Option<Sha256>, ConfigError> {
        let now = match file_stamp(path) {
            Ok(now) => now,
            Err(ConfigError::Read(_, error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if let Some((then, digest)) = self.entries.get(path)
            && *then == now
        {
            return Ok(Some(*digest));
        }
        let digest = read(path).map_err(|error| ConfigError::Read(path.to_owned(), error))?;
        self.entries.insert(path.to_owned(), (now, digest));
        Ok(Some(digest))
    }
}

fn read(path: &Path) -> io::Result<Sha256> {
    let mut file = File::open(path)?;
    let (mut stream, mut bytes) = (Sha256Stream::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(stream.finish()),
            length => stream.update(&bytes[..length]),
        }
    }
}
