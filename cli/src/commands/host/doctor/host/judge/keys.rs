//! The private keys: owner, readers, and protection.

use super::commands;
use super::mode::octal;
use crate::commands::host::doctor::host::finding::{Finding, Topic};
use crate::commands::host::doctor::host::model::{
    Entry, EntryState, KeyCustody, KeyPlace, Kind, ReadResult, Readings,
};

/// Permission bits of users other than the owner.
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
/// The mode of a root-owned credential with systemd's access list for the service.
const LENT: u32 = 0o440;

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let Some(keys) = &host.keys else { return Vec::new() };
    let mut findings = vec![custody(host, keys), directory(keys)];
    findings.extend(keys.files.iter().map(|file| private(host, keys, file)));
    findings.extend(keys.unfinished.iter().map(|name| {
        let remedy = format!("finish it with `{}`", commands::rotate(host, name));
        let found = "its rotation was interrupted; nothing is signed until it is finished";
        Finding::failure(Topic::Keys, format!("change of {name}"), found, remedy)
    }));
    findings.extend(keys.public.iter().map(|public| match public {
        Ok(found) => Finding::ok(Topic::Keys, "public halves", found),
        Err(why) => {
            let remedy = "restore them from a backup, or move the named file away: it is created \
                          again from its key";
            Finding::failure(Topic::Keys, "public halves", why, remedy)
        }
    }));
    findings
}

/// Reports how the keys are protected.
fn custody(host: &Readings, keys: &KeyCustody) -> Finding {
    let object = "custody";
    match &keys.source {
        KeyPlace::Agent { socket, has } => agent(&socket.display().to_string(), has),
        KeyPlace::Lent(directory) => {
            let found = format!("systemd credentials: {}", directory.display());
            Finding::ok(Topic::Keys, object, found)
        }
        KeyPlace::Files(directory) if host.subject.is_service() => Finding::warning(
            Topic::Keys,
            object,
            format!(
                "plain files in {}: anyone with the disk or a backup has the keys",
                directory.display()
            ),
            "encrypt them with `systemd-creds encrypt`, or use an agent; see docs/keys.md",
        ),
        KeyPlace::Files(directory) => {
            Finding::ok(Topic::Keys, object, format!("plain files in {}", directory.display()))
        }
    }
}

fn agent(socket: &str, has: &ReadResult<Vec<(String, bool)>>) -> Finding {
    let remedy = format!(
        "start the agent, add the keys with ssh-add, and check them with `SSH_AUTH_SOCK={socket} \
         ssh-add -l`"
    );
    let found = match has {
        Err(why) => format!("the agent at {socket} does not answer: {why}"),
        Ok(keys) => match keys.iter().find(|(_, there)| !there) {
            Some((fingerprint, _)) => format!("the agent at {socket} does not have {fingerprint}"),
            None => {
                let found = format!("in the agent at {socket}, which has both keys");
                return Finding::ok(Topic::Keys, "custody", found);
            }
        },
    };
    Finding::failure(Topic::Keys, "custody", found, remedy)
}

fn directory(keys: &KeyCustody) -> Finding {
    let path = keys.directory.path.display();
    let object = "directory";
    match &keys.directory.found {
        EntryState::Missing if matches!(keys.source, KeyPlace::Lent(_)) => Finding::failure(
            Topic::Keys,
            object,
            format!("{path} does not exist: the service cannot sign"),
            "check while the service runs; see `systemctl status toolexecd`",
        ),
        EntryState::Missing => {
            Finding::ok(Topic::Keys, object, format!("{path}: created on first use"))
        }
        EntryState::Unseen(why) => unseen(object, &keys.directory, why),
        EntryState::There { kind: Kind::Directory, mode, uid, .. } => {
            if let Some(stranger) = stranger(keys, *uid) {
                let remedy = format!("run `chown {} {path}`", keys.owner);
                return Finding::failure(Topic::Keys, object, format!("{path} {stranger}"), remedy);
            }
            if mode & OTHERS_WRITE != 0 {
                let mode = octal(*mode);
                let found = format!("{path} has mode {mode}: other users could place a key there");
                let remedy = format!("run `chmod 700 {path}`, if no other user has changed it");
                return Finding::failure(Topic::Keys, object, found, remedy);
            }
            Finding::ok(Topic::Keys, object, format!("{path}, mode {}", octal(*mode)))
        }
        EntryState::There { .. } => {
            let found = format!("{path} is not a directory");
            let remedy = format!("move it away with `mv {path} {path}.away`");
            Finding::failure(Topic::Keys, object, found, remedy)
        }
    }
}

fn private(host: &Readings, keys: &KeyCustody, file: &Entry) -> Finding {
    let path = file.path.display();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let object = format!("private key {name}");
    let lent = matches!(keys.source, KeyPlace::Lent(_));
    match &file.found {
        EntryState::Missing if lent => Finding::failure(
            Topic::Keys,
            object,
            format!("{path} does not exist: the service cannot sign"),
            format!("name it in the unit: LoadCredentialEncrypted={name}:FILE; see docs/keys.md"),
        ),
        EntryState::Missing if keys.halves.iter().any(|half| *half == name) => {
            lost(host, object, &path.to_string())
        }
        EntryState::Missing => {
            Finding::ok(Topic::Keys, object, format!("{path}: created on first use"))
        }
        EntryState::Unseen(why) => unseen(&object, file, why),
        EntryState::There { kind: Kind::File, mode, uid, gid } => {
            let by_root = lent && *uid == 0 && *gid == 0 && mode & !LENT == 0;
            if mode & OTHERS != 0 && !by_root {
                let found = format!(
                    "{path} has mode {}: other users may have read it, and could sign records",
                    octal(*mode)
                );
                let remedy = begin_anew(lent, &path.to_string());
                return Finding::failure(Topic::Keys, object, found, remedy);
            }
            if let Some(stranger) = stranger(keys, *uid) {
                let remedy = format!("run `chown {} {path}`, if it is the right key", keys.owner);
                return Finding::failure(Topic::Keys, object, format!("{path} {stranger}"), remedy);
            }
            Finding::ok(Topic::Keys, object, format!("{path}, mode {}", octal(*mode)))
        }
        EntryState::There { .. } => {
            let found = format!("{path} is not a regular file; keys are never read through links");
            let remedy = format!("replace it with the key file; `ls -l {path}` shows what it is");
            Finding::failure(Topic::Keys, object, found, remedy)
        }
    }
}

/// Reports a lost key. No new key is created in its place: existing signatures could no longer be
/// attributed.
fn lost(host: &Readings, object: String, path: &str) -> Finding {
    let (stopped, lent) = if host.subject.is_service() {
        (
            "the daemon does not start",
            "; for a systemd credential (LoadCredentialEncrypted=), check while the service runs",
        )
    } else {
        ("no run can start", "")
    };
    let found = format!("{path} is missing, but its public half exists: a lost key; {stopped}");
    let remedy = format!("restore it from a backup{lent}");
    Finding::failure(Topic::Keys, object, found, remedy)
}

/// Returns the advice for an exposed key. Rotating it would let the exposed key certify the new
/// one.
fn begin_anew(lent: bool, path: &str) -> String {
    let anew = "replace the key as in docs/keys.md, *A stolen key*";
    match lent {
        // Systemd's credentials are read-only, and systemd sets their modes.
        true => format!("{anew}: create the new one where the old one was created, and encrypt it"),
        false => format!("{anew}; if no other user has read it, run `chmod 600 {path}` instead"),
    }
}

fn stranger(keys: &KeyCustody, uid: u32) -> Option<String> {
    let ours = uid == 0 || uid == keys.owner;
    (!ours).then(|| format!("belongs to user {uid}, not to user {} or root", keys.owner))
}

fn unseen(object: &str, entry: &Entry, why: &str) -> Finding {
    let why = format!("{}: {why}", entry.path.display());
    Finding::unseen(Topic::Keys, object, why, "run this as root, or as the user that signs")
}
