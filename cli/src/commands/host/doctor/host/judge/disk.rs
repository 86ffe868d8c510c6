//! Disk space for records: bytes, inodes, and whether they survive a reboot.

use super::commands;
use crate::commands::host::doctor::host::finding::{Finding, Topic};
use crate::commands::host::doctor::host::model::{Disk, DiskSpace, Readings};

const MIB: u64 = 1 << 20;
/// The emergency reserve for records on a full disk. No run starts below it.
const FREE_MIN: u64 = 4 * MIB;
/// One run may leave this much and more.
const FREE_GOOD: u64 = 512 * MIB;
/// A record consists of about a dozen files.
const INODES_GOOD: u64 = 10_000;

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    host.disks.iter().flat_map(|disk| of(host, disk)).collect()
}

fn of(host: &Readings, disk: &Disk) -> Vec<Finding> {
    let (name, path) = (disk.of, disk.path.display());
    let room = match &disk.room {
        Ok(room) => room,
        Err(why) => {
            let why = format!("{path}: {why}");
            return vec![Finding::unseen(Topic::Disk, name, why, format!("run `df {path}`"))];
        }
    };
    let said = told(room);
    let mut findings = Vec::new();
    if room.read_only {
        let found = format!("{path} is on a read-only file system");
        let remedy = format!("run `mount -o remount,rw \"$(findmnt -no TARGET -T {path})\"`");
        findings.push(Finding::failure(Topic::Disk, name, found, remedy));
    }
    let room_for = format!("make room (`df -h {path}` shows the usage): {}", commands::gc(host));
    if room.bytes_free < FREE_MIN {
        let found = format!("{path}: {said}; no run can start");
        findings.push(Finding::failure(Topic::Disk, name, found, room_for));
    } else if room.inodes_total > 0 && room.inodes_free < 64 {
        let found = format!("{path}: {said}; no file can be created");
        findings.push(Finding::failure(Topic::Disk, name, found, room_for));
    } else if room.bytes_free < FREE_GOOD {
        let found = format!("{path}: {said}; soon full");
        findings.push(Finding::warning(Topic::Disk, name, found, room_for));
    } else if room.inodes_total > 0 && room.inodes_free < INODES_GOOD {
        let found = format!("{path}: {said}; inodes run out first");
        let remedy = format!("remove small files, or use more inodes; see `df -i {path}`");
        findings.push(Finding::warning(Topic::Disk, name, found, remedy));
    }
    if room.volatile {
        let found = format!("{path} is in memory: the next boot deletes records and keys");
        let remedy = "move spool and state to a disk: set `spool:` and `state:`, or --state";
        findings.push(Finding::warning(Topic::Disk, name, found, remedy));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(Topic::Disk, name, format!("{path}: {said}")));
    }
    findings
}

fn told(room: &DiskSpace) -> String {
    let bytes = format!("{} of {} MiB free", room.bytes_free / MIB, room.bytes_total / MIB);
    match room.inodes_total {
        0 => bytes,
        total => format!("{bytes}, {} of {total} inodes", room.inodes_free),
    }
}
