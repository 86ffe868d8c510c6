//! The cost of collecting compared with hashing alone: `cargo bench -p sandbox --bench collect`.
//!
//! A tool leaves 1 GiB in `/out`, of data or mostly of a hole. Each run is timed from the end of
//! the script to its own end, because the daemon collects within the run. All rows come from one
//! interleaved loop on a shared machine: ratios within one run are meaningful, absolute times are
//! not. `MIB` and `ROUNDS` set size and rounds.

#![allow(clippy::unwrap_used, reason = "a bench that cannot run must stop")]

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use model::Language;
use sandbox::client::{Launcher, LauncherAddress, LauncherProgram};
use sandbox::plan::{
    ConfinementRequirements, ExecSpec, Limits, Plan, ProcView, RuntimeSpec, SandboxDevice,
    SandboxNetwork, SandboxSpec, StagingSlot, StagingSlotId, TmpUse,
};

const MIB: u64 = 1024 * 1024;

fn main() {
    let number = |name, shipped: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(shipped)
    };
    let (mib, rounds) = (number("MIB", 1024), number("ROUNDS", 5));
    let top = std::env::temp_dir().join(format!("toolexec-collect-{}", std::process::id()));
    let staging = top.join("staging");
    fs::create_dir_all(&staging).unwrap();
    let program = LauncherProgram::new(launcher_program(), staging.clone());
    let launcher =
        Launcher::new(LauncherAddress::Spawn(LauncherProgram { max_sandboxes: 2, ..program }));
    let bench = CollectBench { top, staging, launcher, mib };
    let data = format!("dd if=/dev/urandom of=/out/data bs=1M count={mib}");
    let hole = format!("truncate -s {mib}M /out/data; echo end >>/out/data");
    let mut rows = ["openssl dgst -sha256", "collected, data", "collected, a hole"]
        .map(|name| (name, Vec::new()));
    for round in 0..rounds {
        let collected = bench.collect(round * 2, &data, &mut rows[1].1);
        rows[0].1.push(openssl(&collected));
        fs::remove_file(&collected).unwrap();
        let sparse = bench.collect(round * 2 + 1, &hole, &mut rows[2].1);
        assert!(fs::metadata(sparse).unwrap().blocks() * 512 < MIB, "the hole was written");
    }
    print(&mut rows);
    fs::remove_dir_all(&bench.top).unwrap();
}

struct CollectBench {
    top: PathBuf,
    staging: PathBuf,
    launcher: Launcher,
    mib: u64,
}

impl CollectBench {
    /// Runs the script, which leaves `/out/data`, and adds the time from its end to `times`.
    fn collect(&self, number: u64, script: &str, times: &mut Vec<Duration>) -> PathBuf {
        let id = format!("{:032x}", number + 1);
        let (slot, result) = (self.staging.join(&id), self.top.join(format!("result-{number}")));
        fs::create_dir(&slot).unwrap();
        fs::create_dir(&result).unwrap();
        // The script's last action; both sides read one clock.
        let script = format!("{script} && date +%s%N");
        let ready = self.launcher.build(self.plan(&id, &slot, &script)).unwrap();
        let directory = fs::File::open(&result).unwrap();
        let running = ready.start(directory.as_fd()).unwrap();
        let finished = running.finish(|| false).unwrap();
        let ended = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(finished.outcome().as_str(), "ok", "{finished:?}");
        let output = fs::read_to_string(result.join("stdout")).unwrap();
        times.push(ended.saturating_sub(Duration::from_nanos(output.trim().parse().unwrap())));
        result.join("artifacts/data")
    }

    fn plan(&self, id: &str, slot: &Path, script: &str) -> Plan {
        let found = fs::metadata(slot).unwrap();
        let sandbox = SandboxSpec {
            slot: StagingSlot {
                id: StagingSlotId::new(id).unwrap(),
                device: found.dev(),
                inode: found.ino(),
            },
            runtime: RuntimeSpec {
                language: Language::Python,
                root: None,
                binary: "/usr/bin/sh".into(),
                mounts: vec!["/usr".into()],
                caches: Vec::new(),
                tmp: TmpUse::Data,
                proc_view: ProcView::Pid,
            },
            network: SandboxNetwork::Nothing,
            device: SandboxDevice::Nothing,
            requirements: ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: true },
        };
        let argv = ["sh", "-c", script].map(str::to_owned).into();
        let out_bytes_max = (self.mib + 64) * MIB;
        let limits = Limits {
            wall_ms_max: 120_000,
            cpu_ms_max: 120_000,
            cpu_milli: 2000,
            memory_bytes_max: out_bytes_max + 1024 * MIB,
            pids_max: 64,
            open_files_max: 1024,
            file_bytes_max: out_bytes_max,
            out_bytes_max,
            tmp_bytes_max: 16 * MIB,
            shm_bytes_max: 8 * MIB,
            out_inodes_max: 65_536,
            artifacts_max: 1000,
            artifact_depth_max: 16,
            ..Limits::SMALL
        };
        let env = vec![("PATH".to_owned(), "/usr/bin".to_owned())];
        Plan { sandbox, exec: ExecSpec { argv, env, limits, work: None } }
    }
}

fn openssl(path: &Path) -> Duration {
    let start = Instant::now();
    assert!(
        Command::new("openssl")
            .args(["dgst", "-sha256"])
            .arg(path)
            .output()
            .unwrap()
            .status
            .success()
    );
    start.elapsed()
}

fn print(rows: &mut [(&str, Vec<Duration>)]) {
    println!("{:<30} {:>9} {:>9} {:>9}  ratio of medians", "", "min", "median", "max");
    let mut first = None;
    for (name, times) in rows {
        times.sort();
        let (least, most) = (times[0], times[times.len() - 1]);
        let median = times[times.len() / 2];
        let beside = median.as_secs_f64() / first.get_or_insert(median).as_secs_f64();
        println!("{name:<30} {least:>9.3?} {median:>9.3?} {most:>9.3?}  {beside:.2}");
    }
}

/// Returns the launcher of the same build profile: benches are built beside the programs.
fn launcher_program() -> PathBuf {
    let mut directory = std::env::current_exe().unwrap();
    directory.pop();
    directory.pop();
    let program = directory.join("toolexec-launch");
    assert!(program.is_file(), "{}: build it first: cargo build --release", program.display());
    program
}
