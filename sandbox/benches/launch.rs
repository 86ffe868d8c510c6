//! What a cell costs beside bare exec and beside other launchers: `cargo bench -p sandbox --bench launch`.
//!
//! The tool is one static program that does nothing. All rows of a table come from one interleaved loop,
//! because the machine is shared: the ratios within one run are the figures, and the times are not. The
//! way to the launcher and back is in every figure of ours.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot run must stop"
)]

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sandbox::client::{Launcher, PreparedCell, Reach};
use sandbox::plan::{
    CellPlan, Demands, Limits, Network, Order, ProcView, Profile, Runtime, Slot, SlotId, TmpUse,
};

const MIB: u64 = 1024 * 1024;
const ROUNDS: usize = 300;
/// Rounds of the launchers that take tens of milliseconds.
const SLOW_EVERY: usize = 6;

fn main() {
    let bench = Bench::new();
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    bench.sequential(rounds);
    bench.throughput();
    fs::remove_dir_all(&bench.top).unwrap();
}

struct Bench {
    top: PathBuf,
    tool: PathBuf,
    launcher: Launcher,
    count: AtomicUsize,
}

/// One way to run the tool, and how long each time took.
struct Row<'a> {
    name: &'static str,
    run: Box<dyn Fn() -> Duration + 'a>,
    every: usize,
    times: Vec<Duration>,
}

impl Bench {
    fn new() -> Self {
        // In memory: what disks cost is not what is asked here.
        let top = PathBuf::from(format!("/dev/shm/toolexec-launch-bench-{}", std::process::id()));
        let staging = top.join("staging");
        fs::create_dir_all(&staging).unwrap();
        // Not there: a cell has a /dev/shm of its own.
        let tools = launcher_program().parent().unwrap().join("launch-bench");
        fs::create_dir_all(&tools).unwrap();
        let source = tools.join("true.c");
        fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let tool = tools.join("true");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-static", "-o"]).arg(&tool).arg(&source);
        assert!(compiler.status().unwrap().success());
        let reach = Reach::Spawn {
            program: launcher_program(),
            staging,
            mounts_allowed: vec![tools, "/usr".into()],
            seats_max: 32,
        };
        Self { top, tool, launcher: Launcher::new(reach), count: AtomicUsize::new(0) }
    }

    fn sequential(&self, rounds: usize) {
        let mut rows = vec![
            self.row("bare posix_spawn", 1, || timed(|| spawn(Command::new(&self.tool)))),
            self.row("ours, ready cell: order to end", 1, || {
                let cell = self.prepare();
                timed(|| self.finish(cell))
            }),
            self.row("ours, cold cell: plan to end", 1, || timed(|| self.finish(self.prepare()))),
        ];
        for other in others(&self.tool) {
            let (name, every, words) = other;
            rows.push(self.row(name, every, move || {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                timed(|| spawn(command))
            }));
        }
        for round in 0..rounds + 10 {
            for row in &mut rows {
                if round % row.every == 0 {
                    let took = (row.run)();
                    // The first rounds warm what can be warmed.
                    if round >= 10 {
                        row.times.push(took);
                    }
                }
            }
        }
        println!("one after the other, microseconds");
        println!("{:<44} {:>8} {:>8} {:>8} {:>9}", "", "p50", "p90", "p99", "to bare");
        let bare = percentile(&mut rows[0].times, 50);
        for row in &mut rows {
            let at = |percent, times: &mut Vec<Duration>| percentile(times, percent);
            let (p50, p90, p99) =
                (at(50, &mut row.times), at(90, &mut row.times), at(99, &mut row.times));
            println!("{:<44} {p50:>8.0} {p90:>8.0} {p99:>8.0} {:>8.2}x", row.name, p50 / bare);
        }
    }

    fn row<'a>(
        &self,
        name: &'static str,
        every: usize,
        run: impl Fn() -> Duration + 'a,
    ) -> Row<'a> {
        Row { name, run: Box::new(run), every, times: Vec::new() }
    }

    /// Cold cells, one after the other on each of so many threads, beside bare starts.
    fn throughput(&self) {
        println!("\nstarts a second");
        println!("{:<44} {:>8} {:>8} {:>9}", "", "bare", "cold", "of bare");
        for threads in [1, 2] {
            let bare = rate(threads, || spawn(Command::new(&self.tool)));
            let cold = rate(threads, || self.finish(self.prepare()));
            let name = format!("{threads} at a time");
            println!("{name:<44} {bare:>8.0} {cold:>8.0} {:>8.2}x", cold / bare);
        }
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| self.finish(self.prepare()));
            }
        });
        println!("a burst of 100 cold cells: {:.0} ms", begun.elapsed().as_secs_f64() * 1000.0);
    }

    fn prepare(&self) -> PreparedCell {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let id = format!("{number:032x}");
        let slot = self.top.join("staging").join(&id);
        fs::create_dir(&slot).unwrap();
        let found = fs::metadata(&slot).unwrap();
        let plan = CellPlan {
            slot: Slot { id: SlotId::new(&id).unwrap(), device: found.dev(), inode: found.ino() },
            runtime: Runtime {
                profile: Profile::Python,
                binary: self.tool.clone(),
                root: None,
                mounts: vec![self.tool.parent().unwrap().to_owned(), "/usr".into()],
                caches: Vec::new(),
                tmp: TmpUse::Data,
                proc_view: ProcView::Pid,
            },
            network: Network::Nothing,
            demands: Demands { landlock_abi_min: 1, cgroup_exception: true },
        };
        self.launcher.prepare(plan).unwrap()
    }

    fn finish(&self, cell: PreparedCell) {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let result = self.top.join(format!("result-{number}"));
        fs::create_dir(&result).unwrap();
        let ready = cell.order(order()).unwrap();
        let directory = fs::File::open(&result).unwrap();
        let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
        assert_eq!(finished.outcome().word(), "ok", "{finished:?}");
    }
}

fn order() -> Order {
    Order {
        argv: vec!["true".into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        limits: Limits {
            wall_ms_max: 10_000,
            cpu_ms_max: 10_000,
            cpu_milli: 1000,
            memory_bytes_max: 64 * MIB,
            pids_max: 64,
            open_files_max: 1024,
            file_bytes_max: 32 * MIB,
            out_bytes_max: 32 * MIB,
            tmp_bytes_max: 16 * MIB,
            shm_bytes_max: 8 * MIB,
            out_inodes_max: 65_536,
            stream_bytes_max: MIB,
            artifacts_max: 1000,
            artifact_depth_max: 16,
        },
    }
}

/// The usual command lines of the launchers that are installed here.
fn others(tool: &Path) -> Vec<(&'static str, usize, Vec<String>)> {
    let tool = tool.display().to_string();
    let mut rows = Vec::new();
    let mut add = |name, every, program: &str, words: &str| {
        if let Some(program) = installed(program) {
            let words = words.split_whitespace().map(|word| word.replace("TOOL", &tool));
            rows.push((name, every, std::iter::once(program).chain(words).collect()));
        } else {
            println!("{name}: not installed");
        }
    };
    add(
        "bwrap --unshare-all, /proc, /dev",
        1,
        "bwrap",
        "--unshare-all --ro-bind / / --proc /proc --dev /dev TOOL",
    );
    add(
        "firejail --noprofile --net=none",
        SLOW_EVERY,
        "firejail",
        "--quiet --noprofile --net=none TOOL",
    );
    rows
}

fn installed(program: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|place| place.join(program));
    found.into_iter().find(|path| path.is_file()).map(|path| path.display().to_string())
}

fn spawn(mut command: Command) {
    assert!(command.stdin(Stdio::null()).status().unwrap().success());
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

fn rate(threads: usize, act: impl Fn() + Sync) -> f64 {
    const TIME: Duration = Duration::from_secs(3);
    let begun = Instant::now();
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while begun.elapsed() < TIME {
                    act();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    done.into_inner() as f64 / begun.elapsed().as_secs_f64()
}

fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort();
    let at = (times.len() * percent / 100).min(times.len() - 1);
    times[at].as_secs_f64() * 1e6
}

/// The launcher of the same build profile: benches are built beside the programs.
fn launcher_program() -> PathBuf {
    env!("CARGO_BIN_EXE_toolexec-launch").into()
}
