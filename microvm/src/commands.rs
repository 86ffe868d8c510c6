//! The commands. The report says everything; a failure is also one line on standard error, after
//! the tool's last output.

use std::fmt::Display;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use toolexec_microvm::{GuestOutcome, MachinePlan, MachineReport, run_guest};

use crate::args::{GuestProbeOptions, GuestRunOptions, MicrovmCommand, Options};
use crate::report_file::ReportFile;

const USAGE: u8 = 3;

#[must_use]
pub(crate) fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let fine = !error.use_stderr();
            let printed = error.print().is_ok();
            return if fine && printed { ExitCode::SUCCESS } else { ExitCode::from(USAGE) };
        }
    };
    ExitCode::from(match options.command {
        MicrovmCommand::Run(options) => run(options),
        MicrovmCommand::Probe(options) => probe(options),
    })
}

fn run(options: GuestRunOptions) -> u8 {
    let place = options.report.clone();
    perform(&place, move || Ok(run_guest(&options.plan())))
}

fn probe(options: GuestProbeOptions) -> u8 {
    let GuestProbeOptions { machine, report } = options;
    perform(&report, || {
        let directory = ProbeScratch::make(machine.work())?;
        let mut plan = machine.probe_plan(directory.empty());
        plan.work.clone_from(&directory.0);
        let mut report = run_guest(&plan);
        report.qemu_version = qemu_version(&plan);
        Ok(report)
    })
}

/// The new directory of a probe, which other users cannot read. Dropping it deletes it.
struct ProbeScratch(PathBuf);

impl ProbeScratch {
    fn make(work: &Path) -> io::Result<Self> {
        let path = work.join(format!("toolexec-microvm-{}", std::process::id()));
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        DirBuilder::new().mode(0o700).create(&path).map_err(named)?;
        let directory = Self(path.clone());
        fs::create_dir(directory.empty()).map_err(named)?;
        Ok(directory)
    }

    /// The directory in place of `/in` and `/out`.
    fn empty(&self) -> PathBuf {
        self.0.join("empty")
    }
}

impl Drop for ProbeScratch {
    fn drop(&mut self) {
        // The report is more important than a directory that stays.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Opens the report, runs the guest, and writes the report.
fn perform(place: &str, guest: impl FnOnce() -> io::Result<MachineReport>) -> u8 {
    let file = match ReportFile::open(place) {
        Ok(file) => file,
        Err(error) => return fail(&format!("report {place}"), error),
    };
    let report = match guest() {
        Ok(report) => report,
        Err(error) => return fail("work directory", error),
    };
    if let Err(error) = file.write(&report) {
        return fail(&format!("report {place}"), error);
    }
    if let Some(reason) = &report.reason {
        print_error(&format!("{}: {reason}", report.outcome));
    }
    report.exit_status()
}

fn fail(object: &str, error: impl Display) -> u8 {
    print_error(&format!("{object}: {error}"));
    GuestOutcome::WrapperFailed.exit_status()
}

/// Prints a message. If standard error is closed, only report and status remain.
fn print_error(message: &str) {
    drop(writeln!(io::stderr(), "toolexec-microvm: {message}"));
}

fn qemu_version(plan: &MachinePlan) -> Option<String> {
    let mut command = Command::new(&plan.programs.qemu);
    let output = command.arg("--version").env_clear().stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned)
}
