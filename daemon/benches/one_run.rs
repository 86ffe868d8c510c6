//! Measures the time of one run from the approved file to the published record, and the share of
//! the sandbox: `cargo bench -p daemon --bench one_run`.
//!
//! The tool is `true`, so that the measured time is the overhead. One interleaved loop gives three
//! rows: the whole run, the sandbox alone (from the plan to the collected tool, with a started
//! launcher), and a bare posix_spawn of the same program. Only the ratios within one run are
//! results: the machine is shared, so absolute values must never be compared.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot run must stop"
)]

use std::fmt::Write as _;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use daemon::{BackendScope, Daemon, DaemonParts, HostTrustStore, RecordLog, open_keys};
use model::{Language, UtcTime};
use policies::Policy;
use records::KeySource;
use records::log::LogLocation;
use sandbox::client::{Launcher, LauncherAddress, LauncherProgram};
use sandbox::plan::{
    ConfinementRequirements, ExecSpec, Limits, Plan, ProcView, RuntimeSpec, SandboxDevice,
    SandboxNetwork, SandboxSpec, StagingSlot, StagingSlotId, TmpUse,
};
use spool::{Spool, SpoolPaths};

/// The number of rounds, if `ROUNDS` of the environment does not set it.
const ROUNDS: usize = 50;
const MIB: u64 = 1024 * 1024;

fn main() {
    let top = std::env::temp_dir().join(format!("toolexec-bench-{}", std::process::id()));
    fs::create_dir(&top).unwrap();
    let mut rows = Rows::default();
    let host = host(&top);
    let launcher = launcher(&top);
    let rounds = std::env::var("ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(ROUNDS);
    for number in 0..rounds {
        let request = request(&top, number);
        rows.whole.push(timed(|| {
            let recorded = host.run_file(&request, None, 0, &mut || false).unwrap();
            assert_eq!(recorded.outcome.as_str(), "ok", "{recorded:?}");
        }));
        let (plan, result) = plan(&top, number);
        rows.sandbox.push(timed(|| {
            let directory = fs::File::open(&result).unwrap();
            let ready = launcher.build(plan).unwrap();
            let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
            assert_eq!(finished.outcome().as_str(), "ok");
        }));
        rows.spawn.push(timed(|| {
            assert!(Command::new("/usr/bin/true").status().unwrap().success());
        }));
    }
    rows.print();
    fs::remove_dir_all(&top).unwrap();
}

#[derive(Default)]
struct Rows {
    whole: Vec<Duration>,
    sandbox: Vec<Duration>,
    spawn: Vec<Duration>,
}

impl Rows {
    fn print(mut self) {
        println!("{} runs of /usr/bin/true, milliseconds", self.whole.len());
        println!("{:<44} {:>7} {:>7} {:>7}", "", "p50", "p90", "max");
        let whole = row("approved file to published record", &mut self.whole);
        let sandbox = row("of that the sandbox, launcher's start included", &mut self.sandbox);
        let bare = row("bare posix_spawn of the same program", &mut self.spawn);
        println!("the sandbox is {:.0} % of the run at p50", 100.0 * sandbox / whole);
        println!("the sandbox is {:.1} times bare posix_spawn at p50", sandbox / bare);
    }
}

fn row(name: &str, times: &mut [Duration]) -> f64 {
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!("{name:<44} {:>7.2} {:>7.2} {:>7.2}", ms(at(50)), ms(at(90)), ms(at(100)));
    ms(at(50))
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

/// Returns the launcher of the same build profile, which cargo builds beside the bench.
fn launcher_program() -> PathBuf {
    let mut directory = std::env::current_exe().unwrap();
    directory.pop();
    directory.pop();
    let program = directory.join("toolexec-launch");
    assert!(program.is_file(), "{}: build it first: cargo build --release", program.display());
    program
}

fn launcher(top: &Path) -> Launcher {
    let staging = top.join("bare-staging");
    fs::create_dir(&staging).unwrap();
    Launcher::new(reach(staging))
}

fn reach(staging: PathBuf) -> LauncherAddress {
    let program = LauncherProgram::new(launcher_program(), staging);
    LauncherAddress::Spawn(LauncherProgram { max_sandboxes: 2, ..program })
}

fn host(top: &Path) -> Daemon {
    let state = top.join("state");
    let text = Policy::shipped_text("embedded").unwrap();
    // A test policy may map a language to any program.
    let text = text.replacen("binary: auto", "binary: /usr/bin/true", 1);
    let places = SpoolPaths {
        state: state.clone(),
        spool: state.clone(),
        results: state.join("results"),
        log: state.join("log"),
    };
    let spool = Spool::open_embedded(&places).unwrap();
    let staging = spool.staging();
    let keys = open_keys(&KeySource::Directory(state.join("keys")), None).unwrap();
    Daemon::new(DaemonParts {
        policy: Policy::parse(text.as_bytes(), "bench").unwrap(),
        trust: HostTrustStore::empty(),
        key: keys.result,
        public_keys: state.join("keys"),
        log: RecordLog::shared(LogLocation::of_state(&state), keys.log),
        launcher: reach(staging),
        spool,
        egress: None,
        permissions: None,
        backends: BackendScope::All,
    })
}

fn request(top: &Path, number: usize) -> PathBuf {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let now = UtcTime::from_unix(i64::try_from(seconds).unwrap());
    let id = format!("TR-{}-bench-{number}", now.compact());
    let mut text = String::new();
    write!(
        text,
        "---\nrequest_type: tool_request\nschema_version: 1\nrequest_id: \"{id}\"\n\
         created_utc: \"{now}\"\nrequested_by: human\napproved_by: bench\napproved_utc: \"{now}\"\n\
         purpose: \"Time one run.\"\nlanguage: python\nnetwork: none\ncpu_limit: \"1\"\n\
         memory_limit_mb: 64\ntime_limit_sec: 10\ninputs: []\noutputs_expected: []\n\
         constraints: []\n---\n\n## Command\n\npython -V\n\n## Input Files\n\nNone.\n\n\
         ## Output Expectations\n\nNone.\n\n## Risk Assessment\n\n- Risk level: low\n\
         - Justification: it does nothing\n- Data sensitivity: public\n- Network rationale: none\n"
    )
    .unwrap();
    let path = top.join(format!("{id}.md"));
    fs::write(&path, text).unwrap();
    path
}

fn plan(top: &Path, number: usize) -> (Plan, PathBuf) {
    let id = format!("{:032x}", number + 1);
    let slot = top.join("bare-staging").join(&id);
    let result = top.join(format!("bare-result-{number}"));
    fs::create_dir(&slot).unwrap();
    fs::create_dir(&result).unwrap();
    let found = fs::metadata(&slot).unwrap();
    let sandbox = SandboxSpec {
        slot: StagingSlot {
            id: StagingSlotId::new(&id).unwrap(),
            device: found.dev(),
            inode: found.ino(),
        },
        runtime: RuntimeSpec {
            language: Language::Python,
            root: None,
            binary: "/usr/bin/true".into(),
            mounts: vec!["/usr".into()],
            caches: Vec::new(),
            tmp: TmpUse::Data,
            proc_view: ProcView::Pid,
        },
        network: SandboxNetwork::Nothing,
        device: SandboxDevice::Nothing,
        requirements: ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: true },
    };
    let order = ExecSpec {
        argv: vec!["true".into()],
        env: Vec::new(),
        limits: Limits {
            wall_ms_max: 10_000,
            cpu_ms_max: 10_000,
            memory_bytes_max: 64 * MIB,
            pids_max: 64,
            open_files_max: 1024,
            file_bytes_max: 32 * MIB,
            out_bytes_max: 32 * MIB,
            tmp_bytes_max: 16 * MIB,
            shm_bytes_max: 8 * MIB,
            out_inodes_max: 65_536,
            artifacts_max: 1000,
            artifact_depth_max: 16,
            ..Limits::SMALL
        },
        work: None,
    };
    (Plan { sandbox, exec: order }, result)
}
