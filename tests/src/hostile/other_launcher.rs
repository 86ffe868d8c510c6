//! Runs the cases under other launchers; the result is the program's own verdict. Must never run a
//! program outside a launcher, or leave one running: each is stopped after seven seconds.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::launcher::{ForeignLauncher, account};
use super::{BuiltCase, CaseMode, HostileCase};
use crate::bench::{Bench, CliOutput};

/// A program is stopped after this time, because none of the launchers has a time limit. Cases that
/// wait for a sampler or for another run end before.
const STOPPED_AFTER_SEC: &str = "7";

/// A launcher and the user who starts it.
pub struct OtherLauncherRunner {
    launcher: ForeignLauncher,
    bench: Bench,
    programs_dir: PathBuf,
    case_input: String,
    user: u32,
    home: String,
}

struct RunDirs {
    top: PathBuf,
    input: PathBuf,
    output: PathBuf,
}

impl OtherLauncherRunner {
    /// Prepares a launcher for the programs in `place`. The error explains its missing column.
    ///
    /// # Errors
    /// If the launcher is not installed, or cannot run even a program that does nothing.
    pub fn new(
        launcher: ForeignLauncher,
        place: &Path,
        case_input: String,
    ) -> Result<Self, String> {
        let test = format!("hostile::{}", launcher.as_str());
        let bench = if launcher.needs_root() {
            Bench::as_root(&test).ok_or("needs root")?
        } else {
            Bench::as_ordinary_user(&test).ok_or("no ordinary user with namespaces")?
        };
        let found =
            CliOutput::of(bench.command("sh").args(["-c", "command -v \"$0\"", launcher.as_str()]));
        if found.code != Some(0) {
            return Err("not installed".to_owned());
        }
        let (user, home) = match launcher {
            ForeignLauncher::Firejail => {
                account().ok_or("serves users with an account, and none is here")?
            }
            _ => (bench.uid(), bench.home().to_str().unwrap().to_owned()),
        };
        let elsewhere =
            Self { launcher, bench, programs_dir: place.to_owned(), case_input, user, home };
        let (dirs, output) = elsewhere.run_command(&["/usr/bin/true".to_owned()], "");
        fs::remove_dir_all(dirs.top).unwrap();
        match output.code {
            Some(0) => Ok(elsewhere),
            _ => Err(format!("does not run here: {}", output.stderr.lines().last().unwrap_or("?"))),
        }
    }

    /// Runs a case and returns the verdict that the program printed.
    #[must_use]
    pub fn run(&self, case: &HostileCase, built: &BuiltCase) -> String {
        if case.first_value("elsewhere", CaseMode::System) == Some("no") {
            return "-".to_owned();
        }
        let input = "/in/script.py";
        let (words, script) = match built {
            BuiltCase::Program(program) => (
                vec![program.to_str().unwrap().to_owned(), input.to_owned()],
                self.case_input.clone(),
            ),
            BuiltCase::Script => {
                let script = fs::read_to_string(&case.path).unwrap();
                (vec!["/usr/bin/python3".to_owned(), input.to_owned()], script)
            }
            BuiltCase::Unavailable(why) => return format!("skipped: {why}"),
        };
        let one = || {
            let (dirs, output) = self.run_command(&words, &script);
            fs::remove_dir_all(dirs.top).unwrap();
            verdict_of(&output)
        };
        let mut words = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..case.concurrent_runs()).map(|_| scope.spawn(one)).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
        });
        words.sort();
        // ESCAPED sorts after CONTAINED, and one escape of several runs is enough.
        words.pop().unwrap()
    }

    fn run_command(&self, words: &[String], script: &str) -> (RunDirs, CliOutput) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let id =
            format!("hostile-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // Firejail gives the program a /tmp of its own, without the files of the host.
        let firejail = self.launcher == ForeignLauncher::Firejail;
        let top = if firejail { &self.programs_dir } else { self.bench.scratch().path() }.join(&id);
        let dirs = RunDirs { input: top.join("in"), output: top.join("out"), top };
        for directory in [&dirs.top, &dirs.input, &dirs.output] {
            fs::create_dir(directory).unwrap();
            fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
        }
        chown(&dirs.output, Some(self.user), Some(self.user)).unwrap();
        let script_path = dirs.input.join("script.py");
        fs::write(&script_path, script).unwrap();
        fs::set_permissions(&script_path, fs::Permissions::from_mode(0o644)).unwrap();
        let mut command = self.bench.command("timeout");
        command.args(["-k", "1", STOPPED_AFTER_SEC]);
        match self.launcher {
            ForeignLauncher::Bwrap => self.add_bwrap_args(&mut command, &dirs, words),
            ForeignLauncher::Firejail => {
                let words = words.iter().map(|word| {
                    let host = script_path.to_str().unwrap();
                    if word == "/in/script.py" { host.to_owned() } else { word.clone() }
                });
                let user = self.user.to_string();
                command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"]);
                command.args(["firejail", "--quiet", "--net=none", "--private"]).args(words);
                command.env("HOME", &self.home);
                command.env("CASE_IN", &dirs.input).env("CASE_OUT", &dirs.output);
            }
            ForeignLauncher::Crun | ForeignLauncher::Runc => {
                self.write_bundle(&dirs, words);
                command
                    .args(self.runtime_command())
                    .args(["run", "--bundle"])
                    .arg(&dirs.top)
                    .arg(&id);
            }
        }
        // Output goes to files: a process that a stopped launcher leaves would keep a pipe open.
        let streams = ["stdout", "stderr"].map(|name| dirs.top.join(name));
        let [stdout, stderr] = streams.each_ref().map(|path| fs::File::create(path).unwrap());
        let status = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).status().unwrap();
        if matches!(self.launcher, ForeignLauncher::Crun | ForeignLauncher::Runc) {
            let words = self.runtime_command();
            let mut delete = self.bench.command(words[0]);
            delete.args(&words[1..]).args(["delete", "--force", &id]);
            // It fails if the container does not exist any more, which is fine.
            let deleted = delete.stdout(Stdio::null()).stderr(Stdio::null()).status();
            assert!(deleted.is_ok(), "{deleted:?}");
            if kill_leftovers(&id) {
                fs::write(&streams[0], "left running\n").unwrap();
            }
        }
        let [stdout, stderr] = streams.map(|path| fs::read(path).unwrap());
        let output = std::process::Output { status, stdout, stderr };
        (dirs, CliOutput::from_output(&output, Duration::ZERO))
    }

    /// Returns the command of the launcher. crun refuses a host that has both versions of control
    /// groups, so the second is unmounted for it.
    fn runtime_command(&self) -> Vec<&'static str> {
        let hide = "umount /sys/fs/cgroup/unified 2>/dev/null; exec crun \"$@\"";
        match self.launcher {
            ForeignLauncher::Crun => vec!["unshare", "--mount", "sh", "-c", hide, "crun"],
            _ => vec![self.launcher.as_str()],
        }
    }

    fn add_bwrap_args(&self, command: &mut Command, dirs: &RunDirs, words: &[String]) {
        command.args(["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"]);
        for name in ["bin", "sbin", "lib", "lib32", "lib64"] {
            if let Ok(target) = fs::read_link(Path::new("/").join(name)) {
                command.arg("--symlink").arg(target).arg(Path::new("/").join(name));
            }
        }
        command.arg("--ro-bind").arg(&self.programs_dir).arg(&self.programs_dir);
        command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind"]);
        command.arg(&dirs.input).arg("/in").arg("--bind").arg(&dirs.output).arg("/out");
        command.args(["--chdir", "/in"]).args(words);
    }

    /// Writes the launcher's own specification with the smallest changes that our programs need.
    fn write_bundle(&self, dirs: &RunDirs, words: &[String]) {
        let mut spec = self.bench.command(self.launcher.as_str());
        CliOutput::of(spec.arg("spec").current_dir(&dirs.top)).assert_code(0);
        let path = dirs.top.join("config.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config["process"]["terminal"] = false.into();
        config["process"]["args"] = words.into();
        config["process"]["cwd"] = "/in".into();
        let root = dirs.top.join("rootfs");
        fs::create_dir(&root).unwrap();
        for (host, inside, how) in [
            (Path::new("/usr"), "/usr", "ro"),
            (&self.programs_dir, self.programs_dir.to_str().unwrap(), "ro"),
            (&dirs.input, "/in", "ro"),
            (&dirs.output, "/out", "rw"),
        ] {
            fs::create_dir_all(root.join(inside.trim_start_matches('/'))).unwrap();
            let mount = json!({
                "destination": inside, "type": "bind", "source": host, "options": ["rbind", how]
            });
            config["mounts"].as_array_mut().unwrap().push(mount);
        }
        for name in ["bin", "sbin", "lib", "lib32", "lib64"] {
            if let Ok(target) = fs::read_link(Path::new("/").join(name)) {
                std::os::unix::fs::symlink(target, root.join(name)).unwrap();
            }
        }
        for name in ["proc", "sys", "dev", "tmp"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(path, config.to_string()).unwrap();
    }
}

/// Kills the processes that a deleted container has left in its control groups. runc leaves them if
/// the first thread has ended and another has not. Returns true if there were any.
fn kill_leftovers(id: &str) -> bool {
    let tops = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let groups: Vec<_> = tops.map(|top| top.path().join(id)).filter(|it| it.is_dir()).collect();
    let pids = |group: &PathBuf| fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let left: BTreeSet<String> = groups
        .iter()
        .flat_map(|it| pids(it).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    for pid in &left {
        // It may have ended by itself in the meantime.
        let killed = Command::new("kill").args(["-s", "KILL", pid]).stderr(Stdio::null()).status();
        assert!(killed.is_ok(), "{killed:?}");
    }
    for group in groups {
        let begun = Instant::now();
        while fs::remove_dir(&group).is_err() && group.is_dir() {
            assert!(begun.elapsed() < Duration::from_secs(5), "{} stays", group.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    !left.is_empty()
}

/// Returns the program's own verdict, or its exit code if it printed none.
fn verdict_of(output: &CliOutput) -> String {
    let words = ["CONTAINED", "OPEN", "ESCAPED", "UNLIMITED", "left running"];
    let own = output.stdout.lines().rev().find(|line| words.contains(line));
    match (own, output.code) {
        (Some(word), _) => word.to_owned(),
        (None, Some(code)) if code != 124 => format!("exit {code}"),
        // It ended on the first signal, or had to be killed.
        (None, _) => format!("no end in {STOPPED_AFTER_SEC} s"),
    }
}
