//! The private keys: owner, readers, and protection.

use super::commands;
use super::mode::octal;
use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{
    FileKind, FileReading, FileState, HostReadings, KeyLocation, KeyReadings, ReadResult,
};

/// Permission bits of users other than the owner.
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
/// The mode of a root-owned credential with systemd's access list for the service.
const CREDENTIAL_MODE: u32 = 0o440;

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let Some(keys) = &host.keys else { return Vec::new() };
    let mut findings = vec![protection(host, keys), directory(keys)];
    findings.extend(keys.files.iter().map(|file| private(host, keys, file)));
    findings.extend(keys.unfinished.iter().map(|name| {
        let remedy = format!("finish it with `{}`", commands::rotate(host, name));
        let found = "its rotation was interrupted; nothing is signed until it is finished";
        DoctorFinding::failure(Topic::Keys, format!("change of {name}"), found, remedy)
    }));
    findings.extend(keys.public.iter().map(|public| match public {
        Ok(found) => DoctorFinding::ok(Topic::Keys, "public halves", found),
        Err(why) => {
            let remedy = "restore them from a backup, or move the named file away: it is created \
                          again from its key";
            DoctorFinding::failure(Topic::Keys, "public halves", why, remedy)
        }
    }));
    findings
}

fn protection(host: &HostReadings, keys: &KeyReadings) -> DoctorFinding {
    let object = "custody";
    match &keys.source {
        KeyLocation::Agent { socket, has } => agent(&socket.display().to_string(), has),
        KeyLocation::Credentials(directory) => {
            let found = format!("systemd credentials: {}", directory.display());
            DoctorFinding::ok(Topic::Keys, object, found)
        }
        KeyLocation::Files(directory) if host.subject.is_service() => DoctorFinding::warning(
            Topic::Keys,
            object,
            format!(
                "plain files in {}: anyone with the disk or a backup has the keys",
                directory.display()
            ),
            "encrypt them with `systemd-creds encrypt`, or use an agent; see docs/keys.md",
        ),
        KeyLocation::Files(directory) => DoctorFinding::ok(
            Topic::Keys,
            object,
            format!("plain files in {}", directory.display()),
        ),
    }
}

fn agent(socket: &str, has: &ReadResult<Vec<(String, bool)>>) -> DoctorFinding {
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
                return DoctorFinding::ok(Topic::Keys, "custody", found);
            }
        },
    };
    DoctorFinding::failure(Topic::Keys, "custody", found, remedy)
}

fn directory(keys: &KeyReadings) -> DoctorFinding {
    let path = keys.directory.path.display();
    let object = "directory";
    match &keys.directory.state {
        FileState::Missing if matches!(keys.source, KeyLocation::Credentials(_)) => {
            DoctorFinding::failure(
                Topic::Keys,
                object,
                format!("{path} does not exist: the service cannot sign"),
                "check while the service runs; see `systemctl status toolexecd`",
            )
        }
        FileState::Missing => {
            DoctorFinding::ok(Topic::Keys, object, format!("{path}: created on first use"))
        }
        FileState::Unreadable(why) => not_checked(object, &keys.directory, why),
        FileState::Present { kind: FileKind::Directory, mode, uid, .. } => {
            if let Some(stranger) = foreign_owner(keys, *uid) {
                let remedy = format!("run `chown {} {path}`", keys.owner);
                return DoctorFinding::failure(
                    Topic::Keys,
                    object,
                    format!("{path} {stranger}"),
                    remedy,
                );
            }
            if mode & OTHERS_WRITE != 0 {
                let mode = octal(*mode);
                let found = format!("{path} has mode {mode}: other users could place a key there");
                let remedy = format!("run `chmod 700 {path}`, if no other user has changed it");
                return DoctorFinding::failure(Topic::Keys, object, found, remedy);
            }
            DoctorFinding::ok(Topic::Keys, object, format!("{path}, mode {}", octal(*mode)))
        }
        FileState::Present { .. } => {
            let found = format!("{path} is not a directory");
            let remedy = format!("move it away with `mv {path} {path}.away`");
            DoctorFinding::failure(Topic::Keys, object, found, remedy)
        }
    }
}

fn private(host: &HostReadings, keys: &KeyReadings, file: &FileReading) -> DoctorFinding {
    let path = file.path.display();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let object = format!("private key {name}");
    let is_credential = matches!(keys.source, KeyLocation::Credentials(_));
    match &file.state {
        FileState::Missing if is_credential => DoctorFinding::failure(
            Topic::Keys,
            object,
            format!("{path} does not exist: the service cannot sign"),
            format!("name it in the unit: LoadCredentialEncrypted={name}:FILE; see docs/keys.md"),
        ),
        FileState::Missing if keys.halves.iter().any(|half| *half == name) => {
            lost_key(host, object, &path.to_string())
        }
        FileState::Missing => {
            DoctorFinding::ok(Topic::Keys, object, format!("{path}: created on first use"))
        }
        FileState::Unreadable(why) => not_checked(&object, file, why),
        FileState::Present { kind: FileKind::File, mode, uid, gid } => {
            let by_root = is_credential && *uid == 0 && *gid == 0 && mode & !CREDENTIAL_MODE == 0;
            if mode & OTHERS != 0 && !by_root {
                let found = format!(
                    "{path} has mode {}: other users may have read it, and could sign records",
                    octal(*mode)
                );
                let remedy = exposed_key_advice(is_credential, &path.to_string());
                return DoctorFinding::failure(Topic::Keys, object, found, remedy);
            }
            if let Some(stranger) = foreign_owner(keys, *uid) {
                let remedy = format!("run `chown {} {path}`, if it is the right key", keys.owner);
                return DoctorFinding::failure(
                    Topic::Keys,
                    object,
                    format!("{path} {stranger}"),
                    remedy,
                );
            }
            DoctorFinding::ok(Topic::Keys, object, format!("{path}, mode {}", octal(*mode)))
        }
        FileState::Present { .. } => {
            let found = format!("{path} is not a regular file; keys are never read through links");
            let remedy = format!("replace it with the key file; `ls -l {path}` shows what it is");
            DoctorFinding::failure(Topic::Keys, object, found, remedy)
        }
    }
}

/// A new key must not replace a lost one: nothing would attribute the existing signatures.
fn lost_key(host: &HostReadings, object: String, path: &str) -> DoctorFinding {
    let (stopped, hint) = if host.subject.is_service() {
        (
            "the daemon does not start",
            "; for a systemd credential (LoadCredentialEncrypted=), check while the service runs",
        )
    } else {
        ("no run can start", "")
    };
    let found = format!("{path} is missing, but its public half exists: a lost key; {stopped}");
    let remedy = format!("restore it from a backup{hint}");
    DoctorFinding::failure(Topic::Keys, object, found, remedy)
}

/// Must not advise a rotation: the exposed key would certify the new one.
fn exposed_key_advice(is_credential: bool, path: &str) -> String {
    let anew = "replace the key as in docs/keys.md, *A stolen key*";
    match is_credential {
        // Systemd's credentials are read-only, and systemd sets their modes.
        true => format!("{anew}: create the new one where the old one was created, and encrypt it"),
        false => format!("{anew}; if no other user has read it, run `chmod 600 {path}` instead"),
    }
}

fn foreign_owner(keys: &KeyReadings, uid: u32) -> Option<String> {
    let ours = uid == 0 || uid == keys.owner;
    (!ours).then(|| format!("belongs to user {uid}, not to user {} or root", keys.owner))
}

fn not_checked(object: &str, entry: &FileReading, why: &str) -> DoctorFinding {
    let why = format!("{}: {why}", entry.path.display());
    DoctorFinding::not_checked(
        Topic::Keys,
        object,
        why,
        "run this as root, or as the user that signs",
    )
}
