//! Directories and their expected owners and modes.

use super::mode::octal;
use crate::commands::host::doctor::host::finding::{Finding, Topic};
use crate::commands::host::doctor::host::model::{
    EntryState, Kind, PromisedDirectory, Readings, Subject,
};

const PERMISSIONS: u32 = 0o777;
const STICKY: u32 = 0o1000;
const SETGID: u32 = 0o2000;
const GROUP_WRITES: u32 = 0o020;
const WRITES: u32 = 0o022;

/// The directories of the package, which have their own users and groups.
const PACKAGED: [&str; 5] = [
    "/etc/toolexec",
    "/run/toolexec",
    "/var/cache/toolexec",
    "/var/lib/toolexec",
    "/var/spool/toolexec",
];

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let mut findings: Vec<Finding> = host.places.iter().map(of).collect();
    findings.extend(host.survey.iter().map(|survey| whole(host, survey)));
    findings
}

fn of(place: &PromisedDirectory) -> Finding {
    let path = place.entry.path.display().to_string();
    match &place.entry.found {
        EntryState::Missing => Finding::warning(
            Topic::Places,
            &path,
            "is not there",
            match is_packaged(place) {
                true => format!("{}, or: systemd-tmpfiles --create", install(place)),
                false => install(place),
            },
        ),
        EntryState::Unseen(why) => {
            let remedy = "look as root, or as the user of the daemon";
            Finding::unseen(Topic::Places, &path, why, remedy)
        }
        EntryState::There { kind: Kind::Directory, mode, uid, gid } => {
            match wrong(place, *mode, *uid, *gid) {
                // A user's own directory that others may read is the user's choice.
                Some(Wrong::Open(found)) if !is_named(place) && is_only_read(place, *mode) => {
                    Finding::warning(Topic::Places, &path, found, mend(place))
                }
                Some(Wrong::Open(found)) => {
                    Finding::failure(Topic::Places, &path, found, mend(place))
                }
                Some(Wrong::Closed(found)) => {
                    Finding::warning(Topic::Places, &path, found, mend(place))
                }
                None => right(place, *mode, *uid),
            }
        }
        EntryState::There { .. } => {
            let remedy = format!("move it away and: {}", install(place));
            Finding::failure(Topic::Places, &path, "is no directory", remedy)
        }
    }
}

/// Reports a directory without problems. An owner that this host does not know was not checked.
fn right(place: &PromisedDirectory, mode: u32, uid: u32) -> Finding {
    let path = place.entry.path.display().to_string();
    let mode = octal(mode);
    let user = Some(&place.user).filter(|user| user.id.is_none());
    let group = place.group.as_ref().filter(|group| group.id.is_none());
    let unknown: Vec<String> = user
        .map(|user| format!("no user {}", user.name))
        .into_iter()
        .chain(group.map(|group| format!("no group {}", group.name)))
        .collect();
    if unknown.is_empty() {
        let found = format!("mode {mode}, of {}", place.user.name);
        return Finding::ok(Topic::Places, &path, found);
    }
    let found = format!("mode {mode}, of user {uid}; this host has {}", unknown.join(" and "));
    if is_packaged(place) {
        let remedy = format!("systemd-sysusers toolexec.conf && {}", mend(place));
        return Finding::warning(Topic::Places, &path, found, remedy);
    }
    let remedy = format!("look whether that is the daemon's: ls -ld {path}");
    Finding::unseen(Topic::Places, &path, found, remedy)
}

enum Wrong {
    /// Someone has access that the design does not grant.
    Open(String),
    /// Someone lacks access that the design grants.
    Closed(String),
}

fn wrong(place: &PromisedDirectory, mode: u32, uid: u32, gid: u32) -> Option<Wrong> {
    let promised = place.mode;
    if let Some(id) = place.user.id.filter(|id| *id != uid) {
        let name = &place.user.name;
        return Some(Wrong::Open(format!("belongs to user {uid}, and not to {name} ({id})")));
    }
    if mode & PERMISSIONS & !promised != 0 {
        let (is, at_most) = (octal(mode), octal(promised));
        return Some(Wrong::Open(format!("is open to others: mode {is}, at most {at_most}")));
    }
    if promised & STICKY != 0 && mode & STICKY == 0 && mode & GROUP_WRITES != 0 {
        let found =
            "without the sticky bit anybody who may drop there may remove what others dropped";
        return Some(Wrong::Open(found.to_owned()));
    }
    let group = place.group.as_ref();
    if let Some((id, name)) = group.and_then(|it| Some((it.id?, &it.name))).filter(|it| it.0 != gid)
    {
        let found = format!("is of group {gid}, and not of {name} ({id})");
        let others_write = mode & GROUP_WRITES != 0;
        return Some(if others_write { Wrong::Open(found) } else { Wrong::Closed(found) });
    }
    let lacking = promised & !mode & (PERMISSIONS | SETGID);
    (lacking != 0).then(|| {
        let (is, should) = (octal(mode), octal(promised));
        Wrong::Closed(format!("who should get in cannot: mode {is}, promised {should}"))
    })
}

fn owner(place: &PromisedDirectory) -> String {
    let group = place.group.as_ref().map_or("", |group| group.name.as_str());
    if group.is_empty() { place.user.name.clone() } else { format!("{}:{group}", place.user.name) }
}

/// Returns whether the excess access is read access only.
fn is_only_read(place: &PromisedDirectory, mode: u32) -> bool {
    let beyond = mode & PERMISSIONS & !place.mode;
    beyond != 0 && beyond & WRITES == 0
}

/// Returns whether the expected owner is known: the package's, or a user and group of this host.
fn is_named(place: &PromisedDirectory) -> bool {
    let is_known =
        place.user.id.is_some() && place.group.as_ref().is_none_or(|group| group.id.is_some());
    is_known || is_packaged(place)
}

fn is_packaged(place: &PromisedDirectory) -> bool {
    PACKAGED.iter().any(|root| place.entry.path.starts_with(root))
}

/// Returns the fix. The order matters: chown clears the set-group-ID bit.
fn mend(place: &PromisedDirectory) -> String {
    let (path, mode) = (place.entry.path.display(), octal(place.mode));
    if !is_named(place) {
        return format!("chmod {mode} {path}");
    }
    format!("chown {} {path} && chmod {mode} {path}", owner(place))
}

fn install(place: &PromisedDirectory) -> String {
    format!("mkdir {} && {}", place.entry.path.display(), mend(place))
}

fn whole(host: &Readings, survey: &Result<usize, String>) -> Finding {
    let (spool, state) = match &host.subject {
        Subject::Embedded { state } => (Some(state), Some(state)),
        Subject::Service { spool, state, .. } => (spool.as_ref(), state.as_ref()),
    };
    let shown = |path: Option<&std::path::PathBuf>| {
        path.map_or_else(String::new, |path| path.display().to_string())
    };
    let command = format!("toolexec doctor --spool {} --state {}", shown(spool), shown(state));
    match survey {
        Ok(0) => Finding::ok(Topic::Places, "what lies there", "nothing is where it should not be"),
        Ok(count) => {
            let found = format!("findings of its own: {count}");
            Finding::warning(Topic::Places, "what lies there", found, command)
        }
        Err(why) => Finding::unseen(Topic::Places, "what lies there", why, command),
    }
}
