//! A bench with the wrapper of the backend `ERA`, the files of its guest, a policy that offers it,
//! and requests for it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, SavedRequest, programs, skip, workspace,
};

use super::scene::policy_text;

const PROGRAM: &str = "toolexec-microvm";
const FILES: [&str; 4] = ["kernel", "initrd", "root-python", "root-shell"];
const HOST_PROGRAMS: [&str; 3] =
    ["/usr/bin/qemu-system-x86_64", "/usr/bin/mkfs.erofs", "/usr/bin/fsck.erofs"];

/// Enough for a guest of 198 MiB and 10 MiB in `/out`, with the policy of this bench.
pub(super) const MEMORY_MB: u32 = 384;
/// The guest's time to start: other tests run beside.
pub(super) const BOOT_SEC: u32 = 60;

/// A bench whose programs include the wrapper.
pub(super) struct MachineBench<'a> {
    bench: &'a Bench,
    files: PathBuf,
}

impl<'a> MachineBench<'a> {
    /// Copies wrapper and files. Logs a skip if this host lacks something.
    pub(super) fn of(bench: &'a Bench, test: &str) -> Option<Self> {
        let built = programs().join(PROGRAM);
        let source = guest_files();
        let host = HOST_PROGRAMS.iter().map(PathBuf::from);
        let guest = FILES.iter().map(|name| source.join(name));
        let needed: Vec<PathBuf> = [built.clone()].into_iter().chain(host).chain(guest).collect();
        if let Some(missing) = needed.iter().find(|path| !path.is_file()) {
            let help =
                "install qemu-system-x86, erofs-utils, lz4 and zstd, and run tests/prepare guest";
            skip(test, &format!("{}: no such file; help: {help}", missing.display()));
            return None;
        }
        let program = bench.scratch().path().join("bin").join(PROGRAM);
        fs::copy(built, &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let files = bench.scratch().dir("microvm");
        for name in FILES {
            copy(&source.join(name), &files.join(name));
        }
        Some(Self { bench, files })
    }

    pub(super) fn bench(&self) -> &Bench {
        self.bench
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.files.join(name)
    }

    /// The entry of the policy, with these keys besides.
    pub(super) fn entry(&self, accel: &str, more: &str) -> String {
        let files = self.files.display();
        format!(
            "ERA: {{kind: microvm, files: {files}, accel: [{accel}], boot_sec: {BOOT_SEC}{more}}}"
        )
    }

    /// Writes the embedded policy with this entry and a small `/out`.
    pub(super) fn policy(&self, entry: &str) -> PathBuf {
        let text = policy_text(self.bench, entry).replacen("out_percent: 50", "out_percent: 5", 1);
        self.bench.scratch().file("policy.yaml", text)
    }

    /// Makes another root image: that of `from`, with the changes that `add` makes in its tree.
    pub(super) fn make_root(&self, name: &str, from: &str, add: impl FnOnce(&Path)) {
        let tree = self.bench.scratch().path().join(format!("tree-{name}"));
        fs::create_dir(&tree).unwrap();
        let mut extract = Command::new("fsck.erofs");
        extract.arg(format!("--extract={}", tree.display())).arg("--overwrite");
        let extracted = extract.arg(self.file(&format!("root-{from}"))).output().unwrap();
        assert!(extracted.status.success(), "{extracted:?}");
        add(&tree);
        let image = self.file(&format!("root-{name}"));
        let mut make = Command::new("mkfs.erofs");
        let made = make.args(["-T0", "--all-root"]).arg(&image).arg(&tree).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        fs::set_permissions(image, Permissions::from_mode(0o644)).unwrap();
        fs::remove_dir_all(tree).unwrap();
    }

    /// Runs a request, and returns its verified record.
    #[track_caller]
    pub(super) fn record(&self, request: &RequestText) -> Record {
        let output = self.run(&self.bench.save(request), &self.policy(&self.entry("tcg", "")));
        let record = Record::of(&output);
        self.bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
        record
    }

    pub(super) fn run(&self, request: &SavedRequest, policy: &Path) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.args(["run", "--format", "json", "--policy"]).arg(policy).arg(&request.path);
        if request.inputs.is_dir() {
            command.arg("--inputs").arg(&request.inputs);
        }
        CliOutput::of(&mut command)
    }
}

/// The directory that `tests/prepare guest` fills.
fn guest_files() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| workspace().join("target"), PathBuf::from).join("microvm")
}

/// Every user may read the copy.
fn copy(from: &Path, to: &Path) {
    let mut command = Command::new("cp");
    let copied = command.arg("--reflink=auto").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
    fs::set_permissions(to, Permissions::from_mode(0o644)).unwrap();
}

/// A request that runs `script.py`.
pub(super) fn python(script: &str) -> RequestText {
    in_guest(RequestText::python(script))
}

/// A request that sorts `rows.txt` with a program of the root `shell`.
pub(super) fn sort(rows: &str) -> RequestText {
    let command = "sort -o /out/sorted.txt /in/rows.txt";
    in_guest(RequestText::of("python", command).input("rows.txt", rows).output("sorted.txt"))
}

/// A request that adds numbers with a program of its own, and prints the number of rows.
pub(super) fn awk() -> RequestText {
    let program = "{ total[$1] += $2 }\n\
                   END {\n  for (name in total) print name, total[name] > \"/out/totals.txt\"\n  \
                   print \"rows\", NR\n}\n";
    let command = "awk -f /in/report.awk /in/rows.txt";
    let request = RequestText::of("python", command).input("report.awk", program);
    in_guest(request.input("rows.txt", "north 5\nsouth 3\nnorth 7\n").output("totals.txt"))
}

/// The same request, for a guest.
pub(super) fn in_guest(request: RequestText) -> RequestText {
    request.edit("network: ", "backend: ERA\nnetwork: ").memory_mb(MEMORY_MB)
}
