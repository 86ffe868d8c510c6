//! Disk space for records: bytes, inodes, and whether they survive a reboot.

use super::commands;
use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{DiskReading, DiskSpace, HostReadings};

const MIB: u64 = 1 << 20;
/// The emergency reserve for records on a full disk. No run starts below it.
const FREE_MIN: u64 = 4 * MIB;
/// One run may leave this much and more.
const FREE_GOOD: u64 = 512 * MIB;
/// A record consists of about a dozen files.
const INODES_GOOD: u64 = 10_000;

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    host.disks.iter().flat_map(|disk| of(host, disk)).collect()
}

fn of(host: &HostReadings, disk: &DiskReading) -> Vec<DoctorFinding> {
    let (name, path) = (disk.name, disk.path.display());
    let space = match &disk.space {
        Ok(space) => space,
        Err(why) => {
            let why = format!("{path}: {why}");
            return vec![DoctorFinding::not_checked(
                Topic::Disk,
                name,
                why,
                format!("run `df {path}`"),
            )];
        }
    };
    let free = free_space(space);
    let mut findings = Vec::new();
    if space.read_only {
        let found = format!("{path} is on a read-only file system");
        let remedy = format!("run `mount -o remount,rw \"$(findmnt -no TARGET -T {path})\"`");
        findings.push(DoctorFinding::failure(Topic::Disk, name, found, remedy));
    }
    let cleanup = format!("make room (`df -h {path}` shows the usage): {}", commands::gc(host));
    if space.bytes_free < FREE_MIN {
        let found = format!("{path}: {free}; no run can start");
        findings.push(DoctorFinding::failure(Topic::Disk, name, found, cleanup));
    } else if space.inodes_total > 0 && space.inodes_free < 64 {
        let found = format!("{path}: {free}; no file can be created");
        findings.push(DoctorFinding::failure(Topic::Disk, name, found, cleanup));
    } else if space.bytes_free < FREE_GOOD {
        let found = format!("{path}: {free}; soon full");
        findings.push(DoctorFinding::warning(Topic::Disk, name, found, cleanup));
    } else if space.inodes_total > 0 && space.inodes_free < INODES_GOOD {
        let found = format!("{path}: {free}; inodes run out first");
        let remedy = format!("remove small files, or use more inodes; see `df -i {path}`");
        findings.push(DoctorFinding::warning(Topic::Disk, name, found, remedy));
    }
    if space.volatile {
        let found = format!("{path} is in memory: the next boot deletes records and keys");
        let remedy = "move spool and state to a disk: set `spool:` and `state:`, or --state";
        findings.push(DoctorFinding::warning(Topic::Disk, name, found, remedy));
    }
    if findings.is_empty() {
        findings.push(DoctorFinding::ok(Topic::Disk, name, format!("{path}: {free}")));
    }
    findings
}

fn free_space(space: &DiskSpace) -> String {
    let bytes = format!("{} of {} MiB free", space.bytes_free / MIB, space.bytes_total / MIB);
    match space.inodes_total {
        0 => bytes,
        total => format!("{bytes}, {} of {total} inodes", space.inodes_free),
    }
}
