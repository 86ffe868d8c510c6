//! The disks that the wrapper makes: an erofs image of `/in`, and an empty raw disk.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::plan::MachinePlan;
use crate::outcome::{GuestHalt, GuestOutcome};

/// The paths of the disks.
#[derive(Debug)]
pub(super) struct MachineDisks {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
}

impl MachineDisks {
    pub(super) fn make(plan: &MachinePlan) -> Result<Self, GuestHalt> {
        let disks = Self { input: plan.work.join("in.erofs"), output: plan.work.join("out.raw") };
        image_of(&plan.programs.mkfs, &plan.in_dir, &disks.input)?;
        let output = OpenOptions::new().write(true).create_new(true).open(&disks.output);
        let output = output.map_err(GuestHalt::at("create the raw disk"))?;
        output.set_len(plan.limits.disk_bytes()).map_err(GuestHalt::at("size the raw disk"))?;
        Ok(disks)
    }

    pub(super) fn open_output(&self) -> Result<File, GuestHalt> {
        File::open(&self.output).map_err(GuestHalt::at("open the raw disk"))
    }
}

/// Makes an image whose bytes depend on the files only: no times, owners or random numbers. The
/// tool's environment does not reach the program.
fn image_of(mkfs: &Path, directory: &Path, image: &Path) -> Result<(), GuestHalt> {
    let mut command = Command::new(mkfs);
    command.args(["-T0", "-U00000000-0000-0000-0000-000000000000", "--all-root"]);
    command.arg(image).arg(directory).env_clear().stdin(Stdio::null());
    let step = format!("image of /in: {}", mkfs.display());
    let output = command.output().map_err(GuestHalt::at(&step))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let why = format!("{step}: {}: {last}", output.status);
    Err(GuestHalt::new(GuestOutcome::WrapperFailed, why))
}
