//! Checks of a spool after a crash, and after the recovery from it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::counted::Counts;
use super::scene::{Host, Kind, Member, Scene};
use crate::desk::list;
use crate::record::Record;
use crate::service::Service;

/// Returns the faults of a spool whose daemon was killed and not restarted: a run without an intent
/// in the ledger, or a published result that is incomplete.
#[must_use]
pub fn crashed(service: &Service<'_>, scene: &Scene, counts: &Counts) -> Vec<String> {
    let mut faults = runs(service, scene, counts);
    faults.extend(results_are_whole(service));
    faults
}

/// Returns the faults of a spool whose daemon has had time to recover and was then stopped.
#[must_use]
pub fn rested(service: &Service<'_>, scene: &Scene, counts: &Counts) -> Vec<String> {
    let mut faults = runs(service, scene, counts);
    faults.extend(results_are_whole(service));
    faults.extend(records_are_one_each(service, scene, counts));
    faults.extend(nothing_is_left(service, scene.host));
    faults.extend(log_agrees(service));
    faults
}

/// Checks that no request runs twice, that no refused request runs, and that each run has an intent
/// in the ledger.
fn runs(service: &Service<'_>, scene: &Scene, counts: &Counts) -> Vec<String> {
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
    gather(&service.state().join("ledger"), Path::new("ledger"), &mut files);
    files.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

/// Checks that every published result verifies with all its files.
fn results_are_whole(service: &Service<'_>) -> Vec<String> {
    let visible = service.visible_results();
    if visible.is_empty() {
        return Vec::new();
    }
    let said = service.verify();
    if said.code == Some(0) && said.stdout.lines().count() == visible.len() {
        return Vec::new();
    }
    let said_all = format!("{} {}", said.stdout, said.stderr).replace('\n', " ");
    vec![format!("results/ does not verify: {:?}: {}", said.code, said_all.trim())]
}

fn records_are_one_each(service: &Service<'_>, scene: &Scene, counts: &Counts) -> Vec<String> {
    let records = service.records();
    let mut faults = Vec::new();
    for member in &scene.members {
        let own: Vec<_> = records.iter().filter(|record| is_of(record, member)).collect();
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
            _ if spared && scene.host == Host::Fails => !ran,
            Kind::Success => outcome == "indeterminate" || (outcome == "ok" && ran),
            Kind::Failing => outcome == "indeterminate" || (outcome == "exit_nonzero" && ran),
            Kind::Refused | Kind::Object => outcome == "refused",
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
        if !places.iter().any(|place| service.at(place).join(record.id()).is_dir()) {
            faults.push(format!("{:?}, told as {outcome}, is not in {places:?}", member.kind));
        }
    }
    if records.len() != scene.members.len() && faults.is_empty() {
        faults.push(format!("{} records of {}", records.len(), scene.members.len()));
    }
    for member in &scene.members {
        let original = service.at("approved").join(member.file_name());
        if fs::symlink_metadata(&original).is_ok() {
            faults.push(format!("{:?} is still in approved/", member.kind));
        }
    }
    faults
}

fn is_of(record: &Record, member: &Member) -> bool {
    // The record of an unreadable request contains its file name.
    record.id().ends_with(&member.id) || record.text.contains(&member.file_name())
}

fn nothing_is_left(service: &Service<'_>, host: Host) -> Vec<String> {
    let mut faults = Vec::new();
    let work = list(&service.at("work"));
    if !work.is_empty() {
        faults.push(format!("work/ has {work:?}"));
    }
    let slots = service.slots();
    if !slots.is_empty() {
        faults.push(format!("staging/ has {slots:?}"));
    }
    for place in ["results", "archive", "quarantine", "approved"] {
        let mut hidden = list(&service.at(place));
        hidden.retain(|name| name.starts_with('.'));
        if !hidden.is_empty() {
            faults.push(format!("{place}/ has {hidden:?}"));
        }
    }
    let mut left = list(&service.at("approved"));
    // Inputs without their request have no effect.
    left.retain(|name| host == Host::Works || !name.ends_with(".inputs"));
    if !left.is_empty() {
        faults.push(format!("approved/ has {left:?}"));
    }
    faults
}

/// Checks that the log is complete and that the log and the records agree.
fn log_agrees(service: &Service<'_>) -> Vec<String> {
    let said = service.fsck();
    if said.code == Some(0) {
        return Vec::new();
    }
    let said_all = format!("{} {}", said.stdout, said.stderr).replace('\n', " ");
    vec![format!("log fsck: {:?}: {}", said.code, said_all.trim())]
}

/// Files and their bytes, by path. The bytes of a symbolic link are its target.
pub type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Reads the files that a recovery without work must not change.
#[must_use]
pub fn tree_of(service: &Service<'_>) -> Tree {
    let mut tree = Tree::new();
    for place in ["results", "archive", "quarantine", "log", "approved"] {
        gather(&service.at(place), Path::new(place), &mut tree);
    }
    gather(&service.state().join("ledger"), Path::new("ledger"), &mut tree);
    tree
}

/// Returns the paths that are in one tree only, or that differ.
#[must_use]
pub fn differences(before: &Tree, after: &Tree) -> Vec<String> {
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    let other = paths.filter(|path| before.get(*path) != after.get(*path));
    other.map(|path| format!("{} changed without a reason", path.display())).collect()
}

fn gather(path: &Path, name: &Path, tree: &mut Tree) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    if found.is_dir() {
        tree.insert(name.to_owned(), b"directory".to_vec());
        for child in list(path) {
            gather(&path.join(&child), &name.join(&child), tree);
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
