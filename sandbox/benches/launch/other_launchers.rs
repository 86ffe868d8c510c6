//! Other launchers, with their usual command lines. One that does not run here reports why. Must
//! start no process that it does not wait for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::bare::{Starter, spawn};
use crate::table::timed;

/// A launcher that works here.
pub(crate) struct OtherLauncher {
    pub(crate) name: &'static str,
    /// The rounds between its turns: launchers that take tens of milliseconds have fewer turns.
    pub(crate) every: usize,
    way: StartMethod,
}

enum StartMethod {
    Spawned(Vec<String>),
    /// By a process that sees another file system than ours.
    Started(Starter),
}

pub(crate) struct Programs<'a> {
    pub(crate) tool: &'a Path,
    pub(crate) starter: &'a Path,
    /// The directory for bundles.
    pub(crate) top: &'a Path,
}

impl OtherLauncher {
    /// Returns every known launcher, or the reason why it cannot be used.
    pub(crate) fn all(programs: &Programs<'_>) -> Vec<(&'static str, Result<Self, String>)> {
        let tool = programs.tool.to_str().unwrap();
        let bwrap = "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev TOOL";
        let firejail = "firejail --quiet --noprofile --net=none TOOL";
        let words = |line: &str| line.split(' ').map(|word| word.replace("TOOL", tool)).collect();
        let bwrap_name = "bwrap --unshare-all, /proc, /dev";
        vec![
            (bwrap_name, Self::spawned(bwrap_name, 1, words(bwrap))),
            ("crun run", Self::crun(programs)),
            ("runc run", Self::runc(programs)),
            ("firejail --noprofile --net=none", {
                Self::spawned("firejail --noprofile --net=none", 6, words(firejail))
            }),
        ]
    }

    pub(crate) fn one(&mut self) -> Duration {
        match &mut self.way {
            StartMethod::Spawned(words) => {
                timed(|| spawn(Command::new(&words[0]).args(&words[1..])))
            }
            StartMethod::Started(starter) => starter.one(),
        }
    }

    /// Returns a function that starts the command, for concurrent use.
    pub(crate) fn spawns(&self) -> Option<impl Fn() + Sync> {
        match &self.way {
            StartMethod::Spawned(words) => {
                let words = words.clone();
                Some(move || spawn(Command::new(&words[0]).args(&words[1..])))
            }
            StartMethod::Started(_) => None,
        }
    }

    fn spawned(name: &'static str, every: usize, words: Vec<String>) -> Result<Self, String> {
        tried(Command::new(installed(&words[0])?).args(&words[1..]))?;
        Ok(Self { name, every, way: StartMethod::Spawned(words) })
    }

    fn runc(programs: &Programs<'_>) -> Result<Self, String> {
        let mut words = vec!["runc".to_owned()];
        words.extend(container("runc", programs)?);
        Self::spawned("runc run", 6, words)
    }

    /// crun refuses a host with both kinds of control groups, so the second is hidden from it.
    fn crun(programs: &Programs<'_>) -> Result<Self, String> {
        let crun = installed("crun")?;
        let words = container("crun", programs)?;
        let hidden = |program: &Path| {
            let mut command = Command::new("unshare");
            let hide = "umount /sys/fs/cgroup/unified 2>/dev/null; exec \"$@\"";
            command.args(["--mount", "sh", "-c", hide, "sh"]).arg(program);
            command
        };
        tried(hidden(&crun).args(&words))?;
        let mut command = hidden(programs.starter);
        command.arg("vfork").arg(&crun).args(&words);
        Ok(Self {
            name: "crun run",
            every: 3,
            way: StartMethod::Started(Starter::new(&mut command)),
        })
    }
}

/// Returns the arguments after the launcher's name, to run its default specification without a
/// terminal, with a root file system that contains only the tool.
fn container(launcher: &str, programs: &Programs<'_>) -> Result<Vec<String>, String> {
    installed(launcher)?;
    let bundle = programs.top.join(launcher);
    fs::create_dir_all(bundle.join("rootfs")).unwrap();
    fs::copy(programs.tool, bundle.join("rootfs/true")).unwrap();
    tried(Command::new(launcher).arg("spec").current_dir(&bundle))?;
    let config = bundle.join("config.json");
    let mut text = fs::read_to_string(&config).unwrap();
    for (from, to) in [("\"terminal\": true", "\"terminal\": false"), ("\"sh\"", "\"/true\"")] {
        if !text.contains(from) {
            return Err(format!("its specification has no {from}"));
        }
        text = text.replacen(from, to, 1);
    }
    fs::write(&config, text).unwrap();
    let name = format!("launch-bench-{}", std::process::id());
    Ok(["run", "--bundle", bundle.to_str().unwrap(), &name].map(str::to_owned).to_vec())
}

/// Runs it once; returns its last message if it fails.
fn tried(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr);
    let why = text.lines().last().unwrap_or("it says nothing").to_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{}: {why}", output.status)) }
}

fn installed(program: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|place| place.join(program));
    found.find(|path| path.is_file()).ok_or_else(|| "not installed".to_owned())
}
