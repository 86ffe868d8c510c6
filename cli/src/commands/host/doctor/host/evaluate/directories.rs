//! Directories and their expected owners and modes.

use super::mode::octal;
use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{
    DoctorSubject, ExpectedDirectory, FileKind, FileState, HostReadings,
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

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> = host.directories.iter().map(of).collect();
    findings.extend(host.spool_findings.iter().map(|count| spool_check(host, count)));
    findings
}

fn of(place: &ExpectedDirectory) -> DoctorFinding {
    let path = place.entry.path.display().to_string();
    match &place.entry.state {
        FileState::Missing => DoctorFinding::warning(
            Topic::Directories,
            &path,
            "does not exist",
            match is_packaged(place) {
                true => format!("run `{}`, or `systemd-tmpfiles --create`", create_command(place)),
                false => format!("run `{}`", create_command(place)),
            },
        ),
        FileState::Unreadable(why) => {
            let remedy = "run this as root, or as the daemon's user";
            DoctorFinding::not_checked(Topic::Directories, &path, why, remedy)
        }
        FileState::Present { kind: FileKind::Directory, mode, uid, gid } => {
            match mode_problem(place, *mode, *uid, *gid) {
                // A user's own directory that others may read is the user's choice.
                Some(ModeProblem::TooOpen(found))
                    if !has_known_owner(place) && is_only_read(place, *mode) =>
                {
                    DoctorFinding::warning(Topic::Directories, &path, found, remedy(place))
                }
                Some(ModeProblem::TooOpen(found)) => {
                    DoctorFinding::failure(Topic::Directories, &path, found, remedy(place))
                }
                Some(ModeProblem::TooClosed(found)) => {
                    DoctorFinding::warning(Topic::Directories, &path, found, remedy(place))
                }
                None => as_expected(place, *mode, *uid),
            }
        }
        FileState::Present { .. } => {
            let remedy = format!("move it away, then run `{}`", create_command(place));
            DoctorFinding::failure(Topic::Directories, &path, "not a directory", remedy)
        }
    }
}

/// Reports a directory without problems. An owner that this host does not know was not checked.
fn as_expected(place: &ExpectedDirectory, mode: u32, uid: u32) -> DoctorFinding {
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
        return DoctorFinding::ok(Topic::Directories, &path, found);
    }
    let unknown = unknown.join(" and ");
    let found = format!("mode {mode}, owned by user {uid}; this host has {unknown}");
    if is_packaged(place) {
        let remedy = format!("run `systemd-sysusers toolexec.conf && {}`", fix_command(place));
        return DoctorFinding::warning(Topic::Directories, &path, found, remedy);
    }
    let remedy = format!("check with `ls -ld {path}` that this is the daemon's user");
    DoctorFinding::not_checked(Topic::Directories, &path, found, remedy)
}

enum ModeProblem {
    /// Someone has access that the design does not grant.
    TooOpen(String),
    /// Someone lacks access that the design grants.
    TooClosed(String),
}

fn mode_problem(place: &ExpectedDirectory, mode: u32, uid: u32, gid: u32) -> Option<ModeProblem> {
    let promised = place.mode;
    if let Some(id) = place.user.id.filter(|id| *id != uid) {
        let name = &place.user.name;
        return Some(ModeProblem::TooOpen(format!("belongs to user {uid}, not to {name} ({id})")));
    }
    if mode & PERMISSIONS & !promised != 0 {
        let (is, at_most) = (octal(mode), octal(promised));
        return Some(ModeProblem::TooOpen(format!(
            "open to others: mode {is}, at most {at_most} allowed"
        )));
    }
    if promised & STICKY != 0 && mode & STICKY == 0 && mode & GROUP_WRITES != 0 {
        let found = "the sticky bit is missing: submitters can remove the requests of others";
        return Some(ModeProblem::TooOpen(found.to_owned()));
    }
    let group = place.group.as_ref();
    if let Some((id, name)) = group.and_then(|it| Some((it.id?, &it.name))).filter(|it| it.0 != gid)
    {
        let found = format!("belongs to group {gid}, not to {name} ({id})");
        let others_write = mode & GROUP_WRITES != 0;
        return Some(if others_write {
            ModeProblem::TooOpen(found)
        } else {
            ModeProblem::TooClosed(found)
        });
    }
    let missing = promised & !mode & (PERMISSIONS | SETGID);
    (missing != 0).then(|| {
        let (is, should) = (octal(mode), octal(promised));
        ModeProblem::TooClosed(format!("closed to its users: mode {is}, expected {should}"))
    })
}

fn owner(place: &ExpectedDirectory) -> String {
    let group = place.group.as_ref().map_or("", |group| group.name.as_str());
    if group.is_empty() { place.user.name.clone() } else { format!("{}:{group}", place.user.name) }
}

fn is_only_read(place: &ExpectedDirectory, mode: u32) -> bool {
    let beyond = mode & PERMISSIONS & !place.mode;
    beyond != 0 && beyond & WRITES == 0
}

/// Returns whether the expected owner is known: the package's, or a user and group of this host.
fn has_known_owner(place: &ExpectedDirectory) -> bool {
    let is_known =
        place.user.id.is_some() && place.group.as_ref().is_none_or(|group| group.id.is_some());
    is_known || is_packaged(place)
}

fn is_packaged(place: &ExpectedDirectory) -> bool {
    PACKAGED.iter().any(|root| place.entry.path.starts_with(root))
}

fn remedy(place: &ExpectedDirectory) -> String {
    format!("run `{}`", fix_command(place))
}

/// Returns the fix. The order matters: chown clears the set-group-ID bit.
fn fix_command(place: &ExpectedDirectory) -> String {
    let (path, mode) = (place.entry.path.display(), octal(place.mode));
    if !has_known_owner(place) {
        return format!("chmod {mode} {path}");
    }
    format!("chown {} {path} && chmod {mode} {path}", owner(place))
}

fn create_command(place: &ExpectedDirectory) -> String {
    format!("mkdir {} && {}", place.entry.path.display(), fix_command(place))
}

fn spool_check(host: &HostReadings, findings: &Result<usize, String>) -> DoctorFinding {
    let (spool, state) = match &host.subject {
        DoctorSubject::Embedded { state } => (Some(state), Some(state)),
        DoctorSubject::Service { spool, state, .. } => (spool.as_ref(), state.as_ref()),
    };
    let shown = |path: Option<&std::path::PathBuf>| {
        path.map_or_else(String::new, |path| path.display().to_string())
    };
    let (spool, state) = (shown(spool), shown(state));
    let command = format!("run `toolexec doctor --spool {spool} --state {state}`");
    match findings {
        Ok(0) => DoctorFinding::ok(Topic::Directories, "contents", "no findings"),
        Ok(count) => {
            let found = format!("{count} findings");
            DoctorFinding::warning(Topic::Directories, "contents", found, command)
        }
        Err(why) => DoctorFinding::not_checked(Topic::Directories, "contents", why, command),
    }
}
