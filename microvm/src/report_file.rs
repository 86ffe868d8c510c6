//! The file that receives the report. It is opened before the guest starts, so no entry of the
//! guest's archive can have its name.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;

use toolexec_microvm::MachineReport;

/// An open report.
pub(crate) struct ReportFile(File);

impl ReportFile {
    /// Opens a new file, or the file or pipe behind a descriptor of this program.
    pub(crate) fn open(place: &str) -> io::Result<Self> {
        let is_number = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit());
        let file = match place {
            "1" => File::from(io::stdout().as_fd().try_clone_to_owned()?),
            "2" => File::from(io::stderr().as_fd().try_clone_to_owned()?),
            _ if is_number => {
                OpenOptions::new().append(true).open(format!("/proc/self/fd/{place}"))?
            }
            _ => OpenOptions::new().write(true).create_new(true).open(place)?,
        };
        Ok(Self(file))
    }

    /// Writes the report as one line.
    pub(crate) fn write(mut self, report: &MachineReport) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }
}
