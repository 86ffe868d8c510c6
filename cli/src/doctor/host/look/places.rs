//! The directories of spool and state against what `tmpfiles.d` promises of them: that file is compiled
//! in, so that modes and owners stand in one place.

use std::path::{Path, PathBuf};

use spool::Places;

use super::{Host, entry};
use crate::doctor::host::readings::{Found, Owner, Place, Seen, Subject};
use crate::doctor::spool::was_begun;

const PROMISED: &str = include_str!("../../../../../systemd/tmpfiles.d/toolexec.conf");
const SPOOL: &str = "/var/spool/toolexec";
const STATE: &str = "/var/lib/toolexec";

pub(super) fn look(host: &Host) -> Vec<Place> {
    match &host.subject {
        Subject::Embedded { state } => embedded(state),
        Subject::Service { spool, state, .. } => {
            let lines = PROMISED.lines().filter_map(Promise::read);
            let of_this = lines.filter_map(|promise| {
                let place = |root: &str, at: &Option<PathBuf>| {
                    let below = Path::new(promise.path).strip_prefix(root).ok()?;
                    let at = at.as_ref()?;
                    Some(if below.as_os_str().is_empty() { at.clone() } else { at.join(below) })
                };
                let path = place(SPOOL, spool).or_else(|| place(STATE, state))?;
                Some(promise.of(entry::through(&path)))
            });
            of_this.collect()
        }
    }
}

/// A person's own state is nobody else's; what is not there yet is made by the first run.
fn embedded(state: &Path) -> Vec<Place> {
    let uid = rustix::process::geteuid().as_raw();
    let found = entry::through(state);
    if found.found == Found::Missing {
        return Vec::new();
    }
    let user = Owner { name: uid.to_string(), id: Some(uid) };
    vec![Place { entry: found, mode: 0o700, user, group: None }]
}

/// A line that makes a directory.
struct Promise<'a> {
    path: &'a str,
    mode: u32,
    user: &'a str,
    group: &'a str,
}

impl<'a> Promise<'a> {
    /// tmpfiles.d(5): type, path, mode, user, group, age.
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let path = words.next().filter(|kind| *kind == "d").and_then(|_| words.next())?;
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        Some(Self { path, mode, user: words.next()?, group: words.next()? })
    }

    fn of(&self, entry: crate::doctor::host::readings::Entry) -> Place {
        let user = Owner { name: self.user.to_owned(), id: daemon::user_id(self.user) };
        let group = Owner { name: self.group.to_owned(), id: daemon::group_id(self.group) };
        Place { entry, mode: self.mode, user, group: Some(group) }
    }
}

/// How much there is to say of what lies in the spool; `doctor --spool` says it.
pub(super) fn survey(host: &Host) -> Option<Seen<usize>> {
    let (spool, state) = (host.spool()?, host.subject.state()?);
    if !spool::is_spool(spool) {
        return None;
    }
    let places =
        Places { state: state.to_owned(), results: spool.join("results"), spool: spool.to_owned() };
    let survey = spool::survey(&places, &mut was_begun);
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
}
