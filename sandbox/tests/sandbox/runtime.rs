//! The parts of a sandbox that its runtime decides, on the real kernel: its root file system,
//! caches, programs in `/tmp`, and the visible part of `/proc`.

use std::fs::{self, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use model::{Language, Outcome};
use sandbox::client::{BuildError, Launcher, LauncherAddress, LauncherProgram};
use sandbox::plan::{
    Cache, ConfinementRequirements, ExecSpec, Plan, ProcView, RuntimeSpec, SandboxDevice,
    SandboxNetwork, SandboxSpec, StagingSlot, StagingSlotId, TmpUse,
};

use crate::support::{LIMITS, SandboxScratch, launcher_program};

/// Returns Debian's own shell as a runtime, without `/proc`.
fn shell() -> RuntimeSpec {
    RuntimeSpec {
        language: Language::Python,
        binary: fs::canonicalize("/bin/sh").unwrap(),
        root: None,
        mounts: vec![PathBuf::from("/usr")],
        caches: Vec::new(),
        tmp: TmpUse::Data,
        proc_view: ProcView::None,
    }
}

fn plan(staging: &Path, runtime: RuntimeSpec, script: &str) -> Plan {
    let id = StagingSlotId::new(&"0".repeat(32)).unwrap();
    let slot = staging.join(id.as_str());
    fs::create_dir(&slot).unwrap();
    fs::set_permissions(&slot, Permissions::from_mode(0o755)).unwrap();
    let found = fs::metadata(&slot).unwrap();
    let demands = ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: true };
    let slot = StagingSlot { id, device: found.dev(), inode: found.ino() };
    let order = ExecSpec {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        limits: LIMITS,
        work: None,
    };
    Plan {
        sandbox: SandboxSpec {
            slot,
            runtime,
            network: SandboxNetwork::Nothing,
            device: SandboxDevice::Nothing,
            requirements: demands,
        },
        exec: order,
    }
}

fn launcher(staging: &Path, mounts_allowed: Vec<PathBuf>) -> Launcher {
    let program = LauncherProgram::new(launcher_program(), staging.to_owned());
    Launcher::new(LauncherAddress::Spawn(LauncherProgram { mounts_allowed, ..program }))
}

/// Returns the output of a shell script in such a sandbox; `allowed` adds mountable directories.
fn output_of(
    scratch: &SandboxScratch,
    runtime: RuntimeSpec,
    allowed: &[&Path],
    script: &str,
) -> String {
    let (staging, result) = (scratch.dir("staging"), scratch.dir("result"));
    let usual = sandbox::plan::MOUNTS_BY_DEFAULT.iter().map(Path::new);
    let mounts_allowed = usual.chain(allowed.iter().copied()).map(Path::to_owned).collect();
    let launcher = launcher(&staging, mounts_allowed);
    let ready = launcher.build(plan(&staging, runtime, script)).unwrap();
    let directory = fs::File::open(&result).unwrap();
    let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
    let text = |name: &str| fs::read_to_string(result.join(name)).unwrap();
    assert_eq!(finished.outcome(), Outcome::Ok, "{}{}", text("stdout"), text("stderr"));
    text("stdout")
}

/// Creates a root file system that contains only a shell and its libraries.
fn small_root(scratch: &SandboxScratch) -> PathBuf {
    let root = scratch.dir("root");
    let linked = Command::new("ldd").arg("/bin/sh").output().unwrap();
    let linked = String::from_utf8(linked.stdout).unwrap();
    let names = linked.split_whitespace().filter(|word| word.starts_with('/'));
    for name in names.chain(["/bin/sh"]) {
        let (real, place) = (fs::canonicalize(name).unwrap(), root.join(&name[1..]));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(real, place).unwrap();
    }
    fs::create_dir_all(root.join("etc/alternatives")).unwrap();
    fs::write(root.join("etc/shadow"), "secret\n").unwrap();
    root
}

#[test]
fn an_own_root_replaces_the_hosts() {
    let scratch = SandboxScratch::new();
    let root = small_root(&scratch);
    let outside = scratch.dir("outside");
    fs::write(outside.join("secret"), "secret\n").unwrap();
    // A link in an image to a path outside of it must not expose the host's file.
    symlink(&outside, root.join("opt")).unwrap();
    let runtime = RuntimeSpec {
        root: Some(root.clone()),
        mounts: Vec::new(),
        binary: PathBuf::from("/bin/sh"),
        ..shell()
    };
    let script = "for it in /usr/bin/python3 /usr/share /opt/secret /etc/shadow /srv; do \
                  test -e $it && echo $it; done; \
                  echo x 2>/dev/null > /bin/x || echo read-only; \
                  test -d /etc/alternatives && test -e /etc/passwd && echo etc";
    assert_eq!(output_of(&scratch, runtime, &[&root], script), "read-only\netc\n");
}

#[test]
fn a_cache_is_mounted_read_only() {
    let scratch = SandboxScratch::new();
    let made = scratch.dir("made");
    fs::write(made.join("it"), "warm\n").unwrap();
    fs::set_permissions(&made, Permissions::from_mode(0o777)).unwrap();
    let cache = Cache { source: made.clone(), target: PathBuf::from("/cache/go") };
    let runtime = RuntimeSpec { caches: vec![cache], ..shell() };
    let script = "read word </cache/go/it; echo $word; echo 2>/dev/null > /cache/go/x || echo no";
    assert_eq!(output_of(&scratch, runtime, &[&made], script), "warm\nno\n");
}

#[test]
fn tmp_runs_programs_only_where_the_runtime_needs_it() {
    let script = "cp /usr/bin/true /tmp/made; cp /usr/bin/true /out/made; \
                  for it in /tmp/made /out/made /dev/shm/made; do \
                  $it 2>/dev/null && echo ran $it; done; rm /out/made; true";
    let scratch = SandboxScratch::new();
    assert_eq!(output_of(&scratch, shell(), &[], script), "");
    let scratch = SandboxScratch::new();
    let runtime = RuntimeSpec { tmp: TmpUse::Programs, ..shell() };
    assert_eq!(output_of(&scratch, runtime, &[], script), "ran /tmp/made\n");
}

/// Two layers enforce these prohibitions, and either would hide a hole in the other.
#[test]
fn mounts_forbid_what_landlock_forbids() {
    let script = "while read -r _ _ _ _ place flags _; do echo $place $flags; \
                  done </proc/self/mountinfo";
    let flags_in = |tmp: TmpUse| {
        let scratch = SandboxScratch::new();
        let made = scratch.dir("made");
        let cache = Cache { source: made.clone(), target: PathBuf::from("/cache/go") };
        let proc_view = ProcView::Pid;
        let runtime = RuntimeSpec { caches: vec![cache], tmp, proc_view, ..shell() };
        let output = output_of(&scratch, runtime, &[&made], script);
        move |place: &str| {
            let line = output.lines().find_map(|line| line.strip_prefix(&format!("{place} ")));
            line.unwrap().split(',').map(str::to_owned).collect::<Vec<_>>()
        }
    };
    let has = |flags: &[String], flag: &str| flags.iter().any(|it| it == flag);
    for (tmp, noexec) in [(TmpUse::Data, true), (TmpUse::Programs, false)] {
        let flags = flags_in(tmp);
        assert_eq!(has(&flags("/tmp"), "noexec"), noexec);
        for place in ["/out", "/dev/shm", "/in"] {
            assert!(has(&flags(place), "noexec"), "{place}");
        }
        for place in ["/cache/go", "/usr", "/in", "/"] {
            assert!(has(&flags(place), "ro") && has(&flags(place), "nosuid"), "{place}");
        }
    }
}

#[test]
fn only_listed_machine_files_are_visible() {
    let script = "cd /proc; for it in *; do case $it in *[!0-9]*) ;; *) continue;; esac; \
                  test -h $it && continue; \
                  if test -d $it; then set -- $it/*; test -e \"$1\" && echo $it; \
                  else read -r line 2>/dev/null <$it && echo $it; fi; done; \
                  test -r /proc/self/status && echo self; \
                  echo 1 2>/dev/null >/proc/sys/kernel/hostname || echo no";
    let scratch = SandboxScratch::new();
    let runtime = RuntimeSpec { proc_view: ProcView::Full, ..shell() };
    let output = output_of(&scratch, runtime, &[], script);
    let shown = "cpuinfo\nfilesystems\nloadavg\nmeminfo\nstat\nsys\nuptime\nversion\nself\nno\n";
    assert_eq!(output, shown);
    let scratch = SandboxScratch::new();
    let runtime = RuntimeSpec { proc_view: ProcView::Pid, ..shell() };
    assert_eq!(output_of(&scratch, runtime, &[], script), "self\nno\n");
}

#[test]
fn unlisted_directories_are_not_mounted() {
    let cache = |target: &str| Cache { source: "/usr".into(), target: target.into() };
    let refused = [
        RuntimeSpec { root: Some("/srv".into()), ..shell() },
        RuntimeSpec { mounts: vec!["/".into()], ..shell() },
        RuntimeSpec { mounts: vec!["/home".into()], ..shell() },
        RuntimeSpec { caches: vec![cache("/usr/x")], ..shell() },
        RuntimeSpec { caches: vec![cache("/cache")], ..shell() },
        RuntimeSpec { caches: vec![cache("/cache/../etc")], ..shell() },
    ];
    for runtime in refused {
        let scratch = SandboxScratch::new();
        let launcher = launcher(&scratch.0, vec!["/usr".into(), "/home".into()]);
        let shown = format!("{runtime:?}");
        match launcher.build(plan(&scratch.0, runtime, "true")) {
            Err(BuildError::SetupFailed(unable)) => {
                assert!(
                    unable.layer.is_none() && unable.step.starts_with("sandbox spec: "),
                    "{unable:?}"
                );
            }
            Err(other) => panic!("{shown}: {other}"),
            Ok(_) => panic!("{shown}: a sandbox"),
        }
    }
}

/// The base root also has a staging root and a `/proc`; a link must lead where the host's does.
#[test]
fn a_link_never_leads_into_the_base_root() {
    let targets = [
        "/staging",
        "/proc",
        "/host",
        "/../staging",
        "/proc/self/root",
        "/",
        "../../../..",
        "/tmp",
    ];
    for target in targets {
        let scratch = SandboxScratch::new();
        let (allowed, staging) = (scratch.dir("allowed"), scratch.dir("staging"));
        symlink(target, allowed.join("link")).unwrap();
        let link = allowed.join("link");
        let cache = Cache { source: link.clone(), target: PathBuf::from("/cache/go") };
        let no_programs = RuntimeSpec { mounts: Vec::new(), ..shell() };
        for runtime in [
            RuntimeSpec { mounts: vec!["/usr".into(), link.clone()], ..shell() },
            RuntimeSpec { caches: vec![cache], ..shell() },
            RuntimeSpec { root: Some(link.clone()), ..no_programs },
        ] {
            let launcher = launcher(&staging, vec!["/usr".into(), allowed.clone()]);
            let shown = format!("{target} {runtime:?}");
            match launcher.build(plan(&staging, runtime, "true")) {
                Err(BuildError::SetupFailed(unable)) => {
                    assert_eq!(unable.errno, 2, "{shown}: {unable}")
                }
                Err(other) => panic!("{shown}: {other}"),
                Ok(_) => panic!("{shown}: a sandbox"),
            }
            fs::remove_dir(staging.join("0".repeat(32))).unwrap();
        }
    }
}

#[test]
fn a_link_between_allowed_directories_works() {
    let scratch = SandboxScratch::new();
    let (made, other) = (scratch.dir("made"), scratch.dir("other/below"));
    fs::write(other.join("it"), "warm\n").unwrap();
    symlink("../other/below", made.join("near")).unwrap();
    symlink(&other, made.join("far")).unwrap();
    for name in ["near", "far"] {
        let cache = Cache { source: made.join(name), target: PathBuf::from("/cache/go") };
        let runtime = RuntimeSpec { caches: vec![cache], ..shell() };
        let output =
            output_of(&scratch, runtime, &[&scratch.0], "read word </cache/go/it; echo $word");
        assert_eq!(output, "warm\n", "{name}");
        fs::remove_dir_all(scratch.0.join("staging")).unwrap();
        fs::remove_dir_all(scratch.0.join("result")).unwrap();
    }
}
