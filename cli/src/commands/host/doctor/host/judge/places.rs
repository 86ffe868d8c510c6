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
            "does not exist",
            match is_packaged(place) {
                true => format!("run `{}`, or `systemd-tmpfiles --create`", install(place)),
                false => format!("run `{}`", install(place)),
            },
        ),
        EntryState::Unseen(why) => {
            let remedy = "run this as root, or as the daemon's user";
            Finding::unseen(Topic::Places, &path, why, remedy)
        }
        EntryState::There { kind: Kind::Directory, mode, uid, gid } => {
            match wrong(place, *mode, *uid, *gid) {
                // A user's own directory that others may read is the user's choice.
                Some(Wrong::Open(found)) if !is_named(place) && is_only_read(place, *mode) => {
                    Finding::warning(Topic::Places, &path, found, remedy(place))
                }
                Some(Wrong::Open(found)) => {
                    Finding::failure(Topic::Places, &path, found, remedy(place))
                }
                Some(Wrong::Closed(found)) => {
                    Finding::warning(Topic::Places, &path, found, remedy(place))
                }
                None => right(place, *mode, *uid),
            }
        }
        EntryState::There { .. } => {
            let remedy = format!("move it away, then run `{}`", install(place));
            Finding::failure(Topic::Places, &path, "not a directory", remedy)
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
        let found = format!("mode {mode}, owned by {}", place.user.name);
        return Finding::ok(Topic::Places, &path, found);
    }
    let unknown = unknown.join(" and ");
    let found = format!("mode {mode}, owned by user {uid}; this host has {unknown}");
    if is_packaged(place) {
        let remedy = format!("run `systemd-sysusers toolexec.conf && {}`", mend(place));
        return Finding::warning(Topic::Places, &path, found, remedy);
    }
    let remedy = format!("check with `ls -ld {path}` that this is the daemon's user");
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
        return Some(Wrong::Open(format!("belongs to user {uid}, not to {name} ({id})")));
    }
    if mode & PERMISSIONS & !promised != 0 {
        let (is, at_most) = (octal(mode), octal(promised));
        return Some(Wrong::Open(format!("open to others: mode {is}, at most {at_most} allowed")));
    }
    if promised & STICKY != 0 && mode & STICKY == 0 && mode & GROUP_WRITES != 0 {
        let found = "the sticky bit is missing: submitters can remove the requests of others";
        return Some(Wrong::Open(found.to_owned()));
    }
    let group = place.group.as_ref();
    if let Some((id, name)) = group.and_then(|it| Some((it.id?, &it.name))).filter(|it| it.0 != gid)
    {
        let found = format!("belongs to group {gid}, not to {name} ({id})");
        let others_write = mode & GROUP_WRITES != 0;
        return Some(if others_write { Wrong::Open(found) } else { Wrong::Closed(found) });
    }
    let lacking = promised & !mode & (PERMISSIONS | SETGID);
    (lacking != 0).then(|| {
        let (is, should) = (octal(mode), octal(promised));
        Wrong::Closed(format!("closed to its users: mode {is}, expected {should}"))
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

fn remedy(place: &PromisedDirectory) -> String {
    format!("run `{}`", mend(place))
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
    let (spool, state) = (shown(spool), shown(state));
    let command = format!("run `toolexec doctor --spool {spool} --state {state}`");
    match survey {
        Ok(0) => Finding::ok(Topic::Places, "contents", "no findings"),
        Ok(count) => {
            let found = format!("{count} findings");
            Finding::warning(Topic::Places, "contents", found, command)
        }
        Err(why) => Finding::unseen(Topic::Places, "contents", why, command),
    }
}
