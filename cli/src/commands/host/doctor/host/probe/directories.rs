//! The directories of spool and state, and the modes and owners in `tmpfiles.d`. That file is
//! compiled in, so that modes and owners are defined once.

use std::path::{Path, PathBuf};

use spool::SpoolPaths;

use super::entry;
use super::model::ProbeContext;
use crate::commands::host::doctor::host::model::{
    DoctorSubject, ExpectedDirectory, ExpectedOwner, FileState, PACKAGED_CONFIG, ReadResult,
};

const TMPFILES_CONF: &str = include_str!("../../../../../../../systemd/tmpfiles.d/toolexec.conf");
const SPOOL: &str = "/var/spool/toolexec";
const STATE: &str = "/var/lib/toolexec";

pub(super) fn probe(host: &ProbeContext) -> Vec<ExpectedDirectory> {
    match &host.subject {
        DoctorSubject::Embedded { state } => embedded(state),
        DoctorSubject::Service { .. } => {
            let lines = TMPFILES_CONF.lines().filter_map(TmpfilesDirectory::read);
            let of_this = lines.filter_map(|promise| {
                let path = path_on_this_host(promise.path, &host.subject)?;
                Some(promise.expected_directory(entry::read_following_links(&path)))
            });
            of_this.collect()
        }
    }
}

/// Maps a packaged directory to this host. Others apply only with the packaged configuration.
fn path_on_this_host(promised: &str, subject: &DoctorSubject) -> Option<PathBuf> {
    let DoctorSubject::Service { config, spool, state } = subject else { return None };
    let promised = Path::new(promised);
    for (root, at) in [(SPOOL, spool), (STATE, state)] {
        if let Ok(below) = promised.strip_prefix(root) {
            let at = at.as_ref()?;
            // Joining an empty path would add a trailing slash.
            return Some(if below.as_os_str().is_empty() { at.clone() } else { at.join(below) });
        }
    }
    (config == Path::new(PACKAGED_CONFIG)).then(|| promised.to_owned())
}

/// An embedded state is private to its user. The first run creates a missing one.
fn embedded(state: &Path) -> Vec<ExpectedDirectory> {
    let uid = rustix::process::geteuid().as_raw();
    let found = entry::read_following_links(state);
    if found.state == FileState::Missing {
        return Vec::new();
    }
    let user = ExpectedOwner { name: uid.to_string(), id: Some(uid) };
    vec![ExpectedDirectory { entry: found, mode: 0o700, user, group: None }]
}

/// A line of tmpfiles.d(5) that creates a directory.
struct TmpfilesDirectory<'a> {
    path: &'a str,
    mode: u32,
    user: &'a str,
    group: &'a str,
}

impl<'a> TmpfilesDirectory<'a> {
    /// Parses tmpfiles.d(5): type, path, mode, user, group, age.
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let path = words.next().filter(|kind| *kind == "d").and_then(|_| words.next())?;
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        Some(Self { path, mode, user: words.next()?, group: words.next()? })
    }

    fn expected_directory(
        &self,
        entry: crate::commands::host::doctor::host::model::FileReading,
    ) -> ExpectedDirectory {
        let user = ExpectedOwner { name: self.user.to_owned(), id: daemon::user_id(self.user) };
        let group = ExpectedOwner { name: self.group.to_owned(), id: daemon::group_id(self.group) };
        ExpectedDirectory { entry, mode: self.mode, user, group: Some(group) }
    }
}

/// Returns the number of findings in the spool. `doctor --spool` lists them.
pub(super) fn count_spool_findings(host: &ProbeContext) -> Option<ReadResult<usize>> {
    let (spool, state) = (host.spool()?, host.subject.state()?);
    if !spool::is_spool(spool) {
        return None;
    }
    let places = SpoolPaths {
        state: state.to_owned(),
        results: spool.join("results"),
        log: spool.join("log"),
        spool: spool.to_owned(),
    };
    let report = spool::check_spool(&places, &mut daemon::was_begun);
    let unseen = report.findings.iter().find(|it| it.problem.code() == "unreadable");
    Some(match unseen {
        Some(finding) => Err(format!("{}: {}", finding.path.display(), finding.problem)),
        None => Ok(report.findings.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tmpfiles_directory_is_parsed() {
        let promises: Vec<_> = TMPFILES_CONF.lines().filter_map(TmpfilesDirectory::read).collect();
        let lines = TMPFILES_CONF.lines().filter(|line| line.starts_with("d ")).count();
        assert!(lines > 10, "{lines}");
        assert_eq!(promises.len(), lines);
        let approved = promises.iter().find(|it| it.path == "/var/spool/toolexec/approved");
        let approved = approved.map(|it| (it.mode, it.user, it.group));
        assert_eq!(approved, Some((0o3770, "toolexec", "toolexec-operators")));
    }

    #[test]
    fn packaged_configuration_maps_every_directory() {
        let service = |config: &str, root: &str| DoctorSubject::Service {
            config: config.into(),
            spool: Some(Path::new(root).join("spool/toolexec")),
            state: Some(Path::new(root).join("lib/toolexec")),
        };
        let places = |subject: &DoctorSubject| -> Vec<PathBuf> {
            let promises = TMPFILES_CONF.lines().filter_map(TmpfilesDirectory::read);
            promises.filter_map(|promise| path_on_this_host(promise.path, subject)).collect()
        };
        let promised: Vec<PathBuf> = TMPFILES_CONF
            .lines()
            .filter_map(TmpfilesDirectory::read)
            .map(|it| it.path.into())
            .collect();
        assert_eq!(places(&service(PACKAGED_CONFIG, "/var")), promised);
        let of_package =
            ["/etc/toolexec", "/run/toolexec", "/var/cache/toolexec", "/var/lib/toolexec-fleet"];
        for path in of_package {
            assert!(promised.contains(&path.into()), "{path}");
        }
        let own = places(&service("/home/me/toolexecd.yaml", "/home/me"));
        assert_eq!(own.len(), promised.len() - of_package.len());
        assert!(own.iter().all(|path| path.starts_with("/home/me")), "{own:?}");
        assert!(own.contains(&"/home/me/lib/toolexec/keys".into()), "{own:?}");
    }
}
