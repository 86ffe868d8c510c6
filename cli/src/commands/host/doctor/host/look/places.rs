//! The directories of spool and state, and the modes and owners in `tmpfiles.d`. That file is
//! compiled in, so that modes and owners are defined once.

use std::path::{Path, PathBuf};

use spool::Places;

use super::entry;
use super::model::Host;
use crate::commands::host::doctor::host::model::{
    EntryState, Owner, PACKAGED_CONFIG, PromisedDirectory, ReadResult, Subject,
};

const PROMISED: &str = include_str!("../../../../../../../systemd/tmpfiles.d/toolexec.conf");
const SPOOL: &str = "/var/spool/toolexec";
const STATE: &str = "/var/lib/toolexec";

pub(super) fn look(host: &Host) -> Vec<PromisedDirectory> {
    match &host.subject {
        Subject::Embedded { state } => embedded(state),
        Subject::Service { .. } => {
            let lines = PROMISED.lines().filter_map(Promise::read);
            let of_this = lines.filter_map(|promise| {
                let path = here(promise.path, &host.subject)?;
                Some(promise.of(entry::through(&path)))
            });
            of_this.collect()
        }
    }
}

/// Maps a packaged directory to this host's spool or state. Other directories belong to the package
/// and apply only with its configuration.
fn here(promised: &str, subject: &Subject) -> Option<PathBuf> {
    let Subject::Service { config, spool, state } = subject else { return None };
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

/// Returns the expected mode of an embedded state: private to its user. A missing one is created by
/// the first run.
fn embedded(state: &Path) -> Vec<PromisedDirectory> {
    let uid = rustix::process::geteuid().as_raw();
    let found = entry::through(state);
    if found.found == EntryState::Missing {
        return Vec::new();
    }
    let user = Owner { name: uid.to_string(), id: Some(uid) };
    vec![PromisedDirectory { entry: found, mode: 0o700, user, group: None }]
}

/// A line of tmpfiles.d(5) that creates a directory.
struct Promise<'a> {
    path: &'a str,
    mode: u32,
    user: &'a str,
    group: &'a str,
}

impl<'a> Promise<'a> {
    /// Parses tmpfiles.d(5): type, path, mode, user, group, age.
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let path = words.next().filter(|kind| *kind == "d").and_then(|_| words.next())?;
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        Some(Self { path, mode, user: words.next()?, group: words.next()? })
    }

    fn of(&self, entry: crate::commands::host::doctor::host::model::Entry) -> PromisedDirectory {
        let user = Owner { name: self.user.to_owned(), id: daemon::user_id(self.user) };
        let group = Owner { name: self.group.to_owned(), id: daemon::group_id(self.group) };
        PromisedDirectory { entry, mode: self.mode, user, group: Some(group) }
    }
}

/// Returns the number of findings in the spool. `doctor --spool` lists them.
pub(super) fn survey(host: &Host) -> Option<ReadResult<usize>> {
    let (spool, state) = (host.spool()?, host.subject.state()?);
    if !spool::is_spool(spool) {
        return None;
    }
    let places = Places {
        state: state.to_owned(),
        results: spool.join("results"),
        log: spool.join("log"),
        spool: spool.to_owned(),
    };
    let survey = spool::survey(&places, &mut daemon::was_begun);
    let unseen = survey.findings.iter().find(|it| it.trouble.code() == "unreadable");
    Some(match unseen {
        Some(finding) => Err(format!("{}: {}", finding.path.display(), finding.trouble)),
        None => Ok(survey.findings.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_is_read() {
        let promises: Vec<_> = PROMISED.lines().filter_map(Promise::read).collect();
        let lines = PROMISED.lines().filter(|line| line.starts_with("d ")).count();
        assert!(lines > 10, "{lines}");
        assert_eq!(promises.len(), lines);
        let approved = promises.iter().find(|it| it.path == "/var/spool/toolexec/approved");
        let approved = approved.map(|it| (it.mode, it.user, it.group));
        assert_eq!(approved, Some((0o3770, "toolexec", "toolexec-operators")));
    }

    #[test]
    fn no_promise_is_dropped_of_the_packaged_configuration() {
        let service = |config: &str, root: &str| Subject::Service {
            config: config.into(),
            spool: Some(Path::new(root).join("spool/toolexec")),
            state: Some(Path::new(root).join("lib/toolexec")),
        };
        let places = |subject: &Subject| -> Vec<PathBuf> {
            let promises = PROMISED.lines().filter_map(Promise::read);
            promises.filter_map(|promise| here(promise.path, subject)).collect()
        };
        let promised: Vec<PathBuf> =
            PROMISED.lines().filter_map(Promise::read).map(|it| it.path.into()).collect();
        assert_eq!(places(&service(PACKAGED_CONFIG, "/var")), promised);
        for of_package in ["/etc/toolexec", "/run/toolexec", "/var/cache/toolexec"] {
            assert!(promised.contains(&of_package.into()), "{of_package}");
        }
        let own = places(&service("/home/me/toolexecd.yaml", "/home/me"));
        assert_eq!(own.len(), promised.len() - 3);
        assert!(own.iter().all(|path| path.starts_with("/home/me")), "{own:?}");
        assert!(own.contains(&"/home/me/lib/toolexec/keys".into()), "{own:?}");
    }
}
