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
        let remedy = format!("finish it: {}", commands::rotate(host, name));
        let found = "a change of this key was interrupted; nothing is signed until it is finished";
        Finding::failure(Topic::Keys, format!("change of {name}"), found, remedy)
    }));
    findings.extend(keys.public.iter().map(|public| match public {
        Ok(found) => Finding::ok(Topic::Keys, "public halves", found),
        Err(why) => {
            let remedy = "put them back from a backup, or move the one that is named away to have \
                          it made again from its key";
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
            let found = format!("systemd lends them to the service: {}", directory.display());
            Finding::ok(Topic::Keys, object, found)
        }
        KeyPlace::Files(directory) if host.subject.is_service() => Finding::warning(
            Topic::Keys,
            object,
            format!(
                "plain files in {}: whoever gets the disk or a backup has them",
                directory.display()
            ),
            "have systemd encrypt them (systemd-creds encrypt), or use an agent: docs/keys.md",
        ),
        KeyPlace::Files(directory) => {
            Finding::ok(Topic::Keys, object, format!("plain files in {}", directory.display()))
        }
    }
}

fn agent(socket: &str, has: &ReadResult<Vec<(String, bool)>>) -> Finding {
    let remedy =
        format!("start it, add the keys with ssh-add, and look: SSH_AUTH_SOCK={socket} ssh-add -l");
    let found = match has {
        Err(why) => format!("the agent at {socket} does not answer: {why}"),
        Ok(keys) => match keys.iter().find(|(_, there)| !there) {
            Some((fingerprint, _)) => format!("the agent at {socket} does not have {fingerprint}"),
            None => {
                let found = format!("in an agent, {socket}, which has both");
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
            format!("{path} is not there: the service cannot sign"),
            "look while the service runs: systemctl status toolexecd",
        ),
        EntryState::Missing => {
            Finding::ok(Topic::Keys, object, format!("{path}: made on first use"))
        }
        EntryState::Unseen(why) => unseen(object, &keys.directory, why),
        EntryState::There { kind: Kind::Directory, mode, uid, .. } => {
            if let Some(stranger) = stranger(keys, *uid) {
                let remedy = format!("chown {} {path}", keys.owner);
                return Finding::failure(Topic::Keys, object, format!("{path} {stranger}"), remedy);
            }
            if mode & OTHERS_WRITE != 0 {
                let mode = octal(*mode);
                let found = format!("{path}: mode {mode}: others could put a key of theirs there");
                let remedy = format!("chmod 700 {path}, if nobody can have changed it");
                return Finding::failure(Topic::Keys, object, found, remedy);
            }
            Finding::ok(Topic::Keys, object, format!("{path}, mode {}", octal(*mode)))
        }
        EntryState::There { .. } => {
            let found = format!("{path} is no directory");
            let remedy = format!("move it away: mv {path} {path}.away");
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
            format!("{path} is not there: the service cannot sign"),
            format!("name it in the unit, LoadCredentialEncrypted={name}:FILE (docs/keys.md)"),
        ),
        EntryState::Missing if keys.halves.iter().any(|half| *half == name) => {
            lost(host, object, &path.to_string())
        }
        EntryState::Missing => {
            Finding::ok(Topic::Keys, object, format!("{path}: not there yet; made on first use"))
        }
        EntryState::Unseen(why) => unseen(&object, file, why),
        EntryState::There { kind: Kind::File, mode, uid, gid } => {
            let by_root = lent && *uid == 0 && *gid == 0 && mode & !LENT == 0;
            if mode & OTHERS != 0 && !by_root {
                let found = format!(
                    "{path}: mode {}: others can have read it, and sign records of their own",
                    octal(*mode)
                );
                let remedy = begin_anew(lent, &path.to_string());
                return Finding::failure(Topic::Keys, object, found, remedy);
            }
            if let Some(stranger) = stranger(keys, *uid) {
                let remedy = format!("chown {} {path}, if it is the right key", keys.owner);
                return Finding::failure(Topic::Keys, object, format!("{path} {stranger}"), remedy);
            }
            Finding::ok(Topic::Keys, object, format!("{path}, mode {}", octal(*mode)))
        }
        EntryState::There { .. } => {
            let found = format!("{path} is no regular file; a key is never read through a link");
            let remedy = format!("put the file itself there: ls -l {path}");
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
            "; if systemd lends it (LoadCredentialEncrypted=), look while the service runs",
        )
    } else {
        ("nothing is run", "")
    };
    let found = format!("{path} is not there, and its public half is there: a lost key; {stopped}");
    let remedy = format!("put it back from a backup: ls -l {path}*{lent}");
    Finding::failure(Topic::Keys, object, found, remedy)
}

/// Returns the advice for an exposed key. Rotating it would let the exposed key certify the new
/// one.
fn begin_anew(lent: bool, path: &str) -> String {
    let anew = "begin anew (docs/keys.md, a key that somebody else may have)";
    match lent {
        // Systemd's credentials are read-only, and systemd sets their modes.
        true => format!("{anew}, where it was made, and encrypt that"),
        false => format!("{anew}; only if nobody can have read it: chmod 600 {path}"),
    }
}

fn stranger(keys: &KeyCustody, uid: u32) -> Option<String> {
    let ours = uid == 0 || uid == keys.owner;
    (!ours).then(|| format!("belongs to user {uid}, and not to user {} or root", keys.owner))
}

fn unseen(object: &str, entry: &Entry, why: &str) -> Finding {
    let why = format!("{}: {why}", entry.path.display());
    Finding::unseen(Topic::Keys, object, why, "look as root, or as the user that signs")
}
