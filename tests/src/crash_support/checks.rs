//! Checks of a spool after a crash, and after the recovery from it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::crash_scene::{CrashFile, CrashFileKind, CrashScene, HostCondition};
use super::run_counter::RunCounts;
use crate::record::Record;
use crate::scratch::list;
use crate::service::Service;

/// Returns the faults of a killed daemon's spool: a run without an intent, a partial result.
#[must_use]
pub fn faults_after_crash(
    service: &Service<'_>,
    scene: &CrashScene,
    counts: &RunCounts,
) -> Vec<String> {
    let mut faults = run_faults(service, scene, counts);
    faults.extend(result_faults(service));
    faults
}

/// Returns the faults of a spool whose daemon has had time to recover and was then stopped.
#[must_use]
pub fn faults_after_recovery(
    service: &Service<'_>,
    scene: &CrashScene,
    counts: &RunCounts,
) -> Vec<String> {
    let mut faults = run_faults(service, scene, counts);
    faults.extend(result_faults(service));
    faults.extend(record_faults(service, scene, counts));
    faults.extend(leftover_faults(service, scene.host));
    faults.extend(log_faults(service));
    faults
}

/// Checks that no request runs twice, no refused one runs, and each run has a ledger intent.
fn run_faults(service: &Service<'_>, scene: &CrashScene, counts: &RunCounts) -> Vec<String> {
    let ledger = ledger_of(service);
    let mut faults = Vec::new();
    for member in &scene.members {
        let count = counts.get(&member.id).copied().unwrap_or_default();
        let most = u32::from(member.kind.runs());
        if count > most {
            faults.push(format!("{:?} ran {count} times", member.kind));
        }
        if count > 0 && !ledger.contains(&member.id) {
            faults.push(format!("{:?} ran without an intent in the ledger", member.kind));
        }
    }
    faults
}

fn ledger_of(service: &Service<'_>) -> String {
    let mut files = BTreeMap::new();
    read_files(&service.state().join("ledger"), Path::new("ledger"), &mut files);
    files.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

/// Checks that every published result verifies with all its files.
fn result_faults(service: &Service<'_>) -> Vec<String> {
    let visible = service.visible_results();
    if visible.is_empty() {
        return Vec::new();
    }
    let output = service.verify();
    if output.code == Some(0) && output.stdout.lines().count() == visible.len() {
        return Vec::new();
    }
    let message = format!("{} {}", output.stdout, output.stderr).replace('\n', " ");
    vec![format!("results/ does not verify: {:?}: {}", output.code, message.trim())]
}

fn record_faults(service: &Service<'_>, scene: &CrashScene, counts: &RunCounts) -> Vec<String> {
    let records = service.records();
    let mut faults = Vec::new();
    for member in &scene.members {
        let own: Vec<_> = records.iter().filter(|record| belongs_to(record, member)).collect();
        let [record] = own[..] else {
            let found: Vec<_> = own.iter().map(|it| (it.outcome(), it.id())).collect();
            let (kind, log) = (member.kind, service.log());
            faults.push(format!("{kind:?} has {} records: {found:?}; {log}", own.len()));
            continue;
        };
        let count = counts.get(&member.id).copied().unwrap_or_default();
        let (outcome, ran) = (record.outcome(), count > 0);
        let spared = matches!(outcome, "refused" | "setup_error");
        let fits = match member.kind {
            _ if spared && scene.host == HostCondition::Faulty => !ran,
            CrashFileKind::Success => outcome == "indeterminate" || (outcome == "ok" && ran),
            CrashFileKind::Failing => {
                outcome == "indeterminate" || (outcome == "exit_nonzero" && ran)
            }
            CrashFileKind::Refused | CrashFileKind::Link => outcome == "refused",
        };
        if !fits {
            faults.push(format!("{:?} ran {count} times and is told as {outcome}", member.kind));
        }
        let places: &[&str] = match outcome {
            "refused" => &["quarantine"],
            // The approval may or may not be used up, depending on how far the request had come.
            "setup_error" => &["archive", "quarantine"],
            _ => &["archive"],
        };
        if !places.iter().any(|place| service.path(place).join(record.id()).is_dir()) {
            faults.push(format!("{:?}, told as {outcome}, is not in {places:?}", member.kind));
        }
    }
    if records.len() != scene.members.len() && faults.is_empty() {
        faults.push(format!("{} records of {}", records.len(), scene.members.len()));
    }
    for member in &scene.members {
        let original = service.path("approved").join(member.file_name());
        if fs::symlink_metadata(&original).is_ok() {
            faults.push(format!("{:?} is still in approved/", member.kind));
        }
    }
    faults
}

fn belongs_to(record: &Record, member: &CrashFile) -> bool {
    // The record of an unreadable request contains its file name.
    record.id().ends_with(&member.id) || record.text.contains(&member.file_name())
}

fn leftover_faults(service: &Service<'_>, host: HostCondition) -> Vec<String> {
    let mut faults = Vec::new();
    let work = list(&service.path("work"));
    if !work.is_empty() {
        faults.push(format!("work/ has {work:?}"));
    }
    let slots = service.staging_slots();
    if !slots.is_empty() {
        faults.push(format!("staging/ has {slots:?}"));
    }
    for place in ["results", "archive", "quarantine", "approved"] {
        let mut hidden = list(&service.path(place));
        hidden.retain(|name| name.starts_with('.'));
        if !hidden.is_empty() {
            faults.push(format!("{place}/ has {hidden:?}"));
        }
    }
    let mut left = list(&service.path("approved"));
    // Inputs without their request have no effect.
    left.retain(|name| host == HostCondition::Healthy || !name.ends_with(".inputs"));
    if !left.is_empty() {
        faults.push(format!("approved/ has {left:?}"));
    }
    faults
}

/// Checks that the log is complete and that the log and the records agree.
fn log_faults(service: &Service<'_>) -> Vec<String> {
    let output = service.fsck();
    if output.code == Some(0) {
        return Vec::new();
    }
    let message = format!("{} {}", output.stdout, output.stderr).replace('\n', " ");
    vec![format!("log fsck: {:?}: {}", output.code, message.trim())]
}

/// Files and their bytes, by path. The bytes of a symbolic link are its target.
pub type SpoolTree = BTreeMap<PathBuf, Vec<u8>>;

/// Reads the files that a recovery without work must not change.
#[must_use]
pub fn read_tree(service: &Service<'_>) -> SpoolTree {
    let mut tree = SpoolTree::new();
    for place in ["results", "archive", "quarantine", "log", "approved"] {
        read_files(&service.path(place), Path::new(place), &mut tree);
    }
    read_files(&service.state().join("ledger"), Path::new("ledger"), &mut tree);
    tree
}

/// Returns the paths that are in one tree only, or that differ.
#[must_use]
pub fn differences(before: &SpoolTree, after: &SpoolTree) -> Vec<String> {
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    let other = paths.filter(|path| before.get(*path) != after.get(*path));
    other.map(|path| format!("{} changed without a reason", path.display())).collect()
}

fn read_files(path: &Path, name: &Path, tree: &mut SpoolTree) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    if found.is_dir() {
        tree.insert(name.to_owned(), b"directory".to_vec());
        for child in list(path) {
            read_files(&path.join(&child), &name.join(&child), tree);
        }
    } else if found.is_symlink() {
        let to = fs::read_link(path).unwrap();
        tree.insert(name.to_owned(), to.as_os_str().as_encoded_bytes().to_vec());
    } else if found.is_file() {
        tree.insert(name.to_owned(), fs::read(path).unwrap());
    } else {
        tree.insert(name.to_owned(), b"something else".to_vec());
    }
}
