//! Directories of one run, the messages of its guest, and its report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use toolexec_microvm::{GuestMessage, GuestToolEnd, GuestToolUsage, TarWriter};

const WRAPPER: &str = env!("CARGO_BIN_EXE_toolexec-microvm");
const FAKES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wrapper");

/// The files of one run, deleted at the end.
pub(crate) struct WrapperScene {
    pub(crate) top: PathBuf,
}

/// The results of one run.
pub(crate) struct WrapperEnd {
    pub(crate) status: Option<i32>,
    pub(crate) report: Value,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl WrapperEnd {
    pub(crate) fn reason(&self) -> &str {
        self.report["reason"].as_str().unwrap_or_default()
    }

    pub(crate) fn assert(&self, status: i32, outcome: &str) {
        let seen = (self.status, self.report["outcome"].as_str());
        assert_eq!(seen, (Some(status), Some(outcome)), "{}: {}", self.report, self.stderr);
    }
}

impl WrapperScene {
    /// Makes the directories, the guest's files, and the messages of a good run.
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("toolexec-microvm-run-{name}-{}", std::process::id());
        let scene = Self { top: std::env::temp_dir().join(name) };
        for directory in ["", "files", "in", "out"] {
            fs::create_dir(scene.path(directory)).unwrap();
        }
        for file in ["files/kernel", "files/initrd", "files/root-python"] {
            scene.write(file, b"");
        }
        scene.message("started", &GuestMessage::Started { kernel: "6.1.0-test".to_owned() });
        let usage = GuestToolUsage { pids_refused: 3, out_full: true, ..GuestToolUsage::default() };
        scene.message("ended", &GuestMessage::Ended(GuestToolEnd::Exited(5), usage));
        scene.message("written", &GuestMessage::Written { entries: 1, left_out: 0 });
        let mut writer = TarWriter::new(Vec::new());
        writer.file("result", 4, false, &mut &b"good"[..]).unwrap();
        scene.write("good.tar", &writer.finish().unwrap());
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.top.clone() } else { self.top.join(name) }
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn message(&self, name: &str, message: &GuestMessage) {
        self.write(name, &message.encode());
    }

    /// Returns the names in `/out`.
    pub(crate) fn out(&self) -> Vec<String> {
        sorted_names(&self.path("out"))
    }

    /// Returns the names beside `/out`.
    pub(crate) fn names(&self) -> Vec<String> {
        sorted_names(&self.top)
    }

    /// Returns how many directories of probes are left.
    pub(crate) fn probes_left(&self) -> usize {
        let names = fs::read_dir(&self.top).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().starts_with("toolexec-microvm-")).count()
    }

    /// Runs the wrapper against a guest that does what `body` says.
    pub(crate) fn run(&self, body: &str) -> WrapperEnd {
        self.run_with(body, &[])
    }

    /// Runs it with some options replaced: name and value in turn.
    pub(crate) fn run_with(&self, body: &str, replaced: &[&str]) -> WrapperEnd {
        self.write("body", body.as_bytes());
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let fake = |name: &str| Path::new(FAKES).join(name).to_str().unwrap().to_owned();
        let mut options = vec![
            ("--files", path("files")),
            ("--accel", "tcg".to_owned()),
            ("--memory-mb", "64".to_owned()),
            ("--boot-sec", "20".to_owned()),
            ("--time-ms", "20000".to_owned()),
            ("--out-bytes", "65536".to_owned()),
            ("--out-inodes", "8".to_owned()),
            ("--artifacts", "8".to_owned()),
            ("--pids", "8".to_owned()),
            ("--report", path("report")),
            ("--in-dir", path("in")),
            ("--out-dir", path("out")),
            ("--work", path("")),
            ("--qemu", fake("fake-qemu")),
            ("--mkfs", fake("fake-mkfs")),
        ];
        for pair in replaced.chunks(2) {
            let option = options.iter_mut().find(|(name, _)| *name == pair[0]).unwrap();
            option.1 = pair[1].to_owned();
        }
        let mut command = Command::new(WRAPPER);
        command.arg("run");
        for (name, value) in options {
            command.arg(name).arg(value);
        }
        self.end(&command.args(["--", "/bin/tool", "argument"]).output().unwrap())
    }

    /// Probes, with the report on standard output.
    pub(crate) fn probe(&self, body: &str) -> WrapperEnd {
        self.write("body", body.as_bytes());
        let mut command = Command::new(WRAPPER);
        command.args(["probe", "--accel", "tcg", "--memory-mb", "64", "--boot-sec", "20"]);
        command.arg("--files").arg(self.path("files")).arg("--work").arg(&self.top);
        command.arg("--qemu").arg(Path::new(FAKES).join("fake-qemu"));
        command.arg("--mkfs").arg(Path::new(FAKES).join("fake-mkfs"));
        let output = command.output().unwrap();
        self.write("report", &output.stdout);
        self.end(&output)
    }

    fn end(&self, output: &Output) -> WrapperEnd {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let report = fs::read(self.path("report")).unwrap_or_default();
        WrapperEnd {
            status: output.status.code(),
            report: serde_json::from_slice(&report).unwrap_or_default(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

fn sorted_names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

impl Drop for WrapperScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}
