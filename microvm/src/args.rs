//! The command line. The daemon writes it; people read its help.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use toolexec_microvm::{GuestAccelerator, MachineLimits, MachinePlan, MachinePrograms};

const LONG: &str = "\
Run a tool in a guest of QEMU, for the microVM backend.

toolexecd starts this program inside a sandbox. It writes its report as a line of JSON; see \
docs/microvm.md.";

const AFTER: &str = "\
Exit status: that of the tool, or 128 and the number of its signal; 3 usage error; \
119 the guest's init failed; 120 a file is missing, or this program failed; 121 QEMU exited; \
122 the guest's archive is refused; 123 the guest's messages are not valid; 124 time limit; \
125 the guest did not boot. The report distinguishes these from equal statuses of a tool.";

#[derive(Debug, Parser)]
#[command(name = "toolexec-microvm", version, about = "Run a tool in a guest of QEMU", long_about = LONG, after_help = AFTER)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: MicrovmCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MicrovmCommand {
    /// Run a tool
    Run(GuestRunOptions),
    /// Boot a guest without a tool, and report whether it started
    Probe(GuestProbeOptions),
}

#[derive(Debug, Args)]
pub(crate) struct MachineOptions {
    /// Read kernel, initramfs and root images from this directory
    #[arg(long, value_name = "DIR")]
    files: PathBuf,

    /// Use the root image root-NAME of that directory
    #[arg(long, value_name = "NAME", default_value = "python")]
    root: String,

    /// Use this accelerator: kvm or tcg
    #[arg(long, value_name = "NAME")]
    accel: GuestAccelerator,

    /// Give the guest this memory, in MiB
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(64..=1_048_576))]
    memory_mb: u32,

    /// Limit the time until the guest starts the tool, in seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    boot_sec: u64,

    /// Write the disks of the guest to this directory
    #[arg(long, value_name = "DIR", default_value = "/tmp", hide = true)]
    work: PathBuf,

    /// Start this program as QEMU
    #[arg(long, value_name = "FILE", default_value = "/usr/bin/qemu-system-x86_64", hide = true)]
    qemu: PathBuf,

    /// Start this program to make an image
    #[arg(long, value_name = "FILE", default_value = "/usr/bin/mkfs.erofs", hide = true)]
    mkfs: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct GuestRunOptions {
    #[command(flatten)]
    machine: MachineOptions,

    /// Limit the time of the tool, in milliseconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    time_ms: u64,

    /// Limit the bytes of /out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    out_bytes: u64,

    /// Limit the files and directories of /out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    out_inodes: u64,

    /// Keep at most this many files of /out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    artifacts: u64,

    /// Limit the processes and threads of the tool
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 22))]
    pids: u64,

    /// Write the report to this new file, or to this descriptor
    #[arg(long, value_name = "FD_OR_FILE")]
    pub(crate) report: String,

    /// Read /in from this directory
    #[arg(long, value_name = "DIR", default_value = "/in", hide = true)]
    in_dir: PathBuf,

    /// Write /out to this directory
    #[arg(long, value_name = "DIR", default_value = "/out", hide = true)]
    out_dir: PathBuf,

    /// The program of the tool, a path in the root image, and its arguments
    #[arg(value_name = "ARGV", required = true, last = true)]
    argv: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct GuestProbeOptions {
    #[command(flatten)]
    pub(crate) machine: MachineOptions,

    /// Write the report to this new file, or to this descriptor
    #[arg(long, value_name = "FD_OR_FILE", default_value = "1")]
    pub(crate) report: String,
}

impl MachineOptions {
    /// Returns the plan of a probe, whose `/in` and `/out` are a directory of the caller's.
    pub(crate) fn probe_plan(self, empty: PathBuf) -> MachinePlan {
        let limits = MachineLimits {
            memory_mb: self.memory_mb,
            boot: Duration::from_secs(self.boot_sec),
            time: Duration::from_secs(self.boot_sec),
            out_bytes: 1 << 20,
            out_inodes: 16,
            artifacts: 16,
            pids: 16,
        };
        MachinePlan {
            programs: MachinePrograms { qemu: self.qemu, mkfs: self.mkfs },
            files: self.files,
            root: self.root,
            accelerator: self.accel,
            limits,
            in_dir: empty.clone(),
            out_dir: empty,
            work: self.work,
            argv: Vec::new(),
            env: Vec::new(),
        }
    }

    pub(crate) fn work(&self) -> &Path {
        &self.work
    }
}

impl GuestRunOptions {
    /// Returns the plan. The environment of this program is that of the tool.
    pub(crate) fn plan(self) -> MachinePlan {
        let mut plan = self.machine.probe_plan(self.in_dir);
        plan.limits.time = Duration::from_millis(self.time_ms);
        plan.limits.out_bytes = self.out_bytes;
        plan.limits.out_inodes = self.out_inodes;
        plan.limits.artifacts = self.artifacts;
        plan.limits.pids = self.pids;
        plan.out_dir = self.out_dir;
        plan.argv = self.argv;
        plan.env = std::env::vars_os().collect();
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    const RUN: &str = "toolexec-microvm run --files /f --accel tcg --memory-mb 192 --boot-sec 20 \
                       --time-ms 5 --out-bytes 1 --out-inodes 2 --artifacts 2 --pids 3 --report 9";

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
    }

    #[test]
    fn everything_after_two_dashes_is_the_tool() {
        let line = format!("{RUN} -- /bin/sh -c --files");
        let options = Options::try_parse_from(line.split_whitespace()).unwrap();
        let MicrovmCommand::Run(run) = options.command else { unreachable!("a run") };
        let plan = run.plan();
        assert_eq!(plan.argv, ["/bin/sh", "-c", "--files"]);
        assert_eq!(plan.root, "python");
        assert_eq!(plan.limits.time, Duration::from_millis(5));
    }

    #[test]
    fn a_run_without_tool_or_limit_is_refused() {
        for line in [
            RUN.to_owned(),
            RUN.replace("--pids 3", "") + " -- a",
            RUN.replace("tcg", "hvf") + " -- a",
            RUN.replace("192", "1") + " -- a",
        ] {
            assert!(Options::try_parse_from(line.split_whitespace()).is_err(), "{line}");
        }
    }
}
