//! Power cuts: the spool and all files of the daemon are on a file system in an image file. The
//! daemon is stopped at its failpoints, and the image is copied then, without data that is only in
//! memory. A daemon recovers on each copy, as after a power cut: the checks after a kill must hold,
//! and every durable result must exist. `cargo test -p toolexec-tests --test daemon power_cut --
//! --nocapture` prints the cuts: one at the first arrival at each failpoint, with
//! `TOOLEXEC_POWER_CUT=full` at every arrival. One more is after the log's files are written, when
//! the kernel happens to write these back before all others, and the last when the daemon is idle.
//! Needs root for the mounts, and must leave none behind. A copy has every write that the file
//! system sent; a disk that loses or reorders some is not tested here.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::{
    CountedTool, CrashFileKind, CrashScene, FailpointDaemon, IDLE_TIME, RunCounter, RunCounts,
    configure_for_crash_tests, faults_after_crash, recovery_faults,
};
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, Service, kill, list, skip};

/// The smallest size that each mkfs accepts. The files are sparse.
const FILE_SYSTEMS: [(&str, &str, u64); 2] =
    [("ext4", "loop,commit=300", 64 << 20), ("xfs", "loop", 320 << 20)];
const DONE_WITHIN: Duration = Duration::from_secs(120);
/// Failpoints of recovery and of retention, which a new daemon need not reach.
const NEED_NO_CUT: [&str; 3] = ["claim-hidden", "retention-hidden", "retention-removed"];

/// The disk at one moment.
struct PowerCut {
    /// The failpoints that threads reached together.
    points: Vec<String>,
    image: PathBuf,
    counts: RunCounts,
    /// Results whose request had left `approved/`, which happens only after they are durable.
    acknowledged: Vec<String>,
    /// The number of results that the daemon had logged as durable.
    durable: usize,
}

impl PowerCut {
    /// Copies the image as it is now. `arrivals` is the daemon's log of failpoints.
    fn new(
        points: Vec<String>,
        arrivals: &str,
        (service, counted): (&Service<'_>, &RunCounter),
        (image, number): (&Path, usize),
    ) -> Self {
        let copy = image.with_extension(format!("cut-{number}"));
        let counts = counted.counts();
        copy_at_one_moment(image, &copy);
        let durable = arrivals.lines().filter(|line| *line == "published-durable").count();
        let done = [list(&service.path("archive")), list(&service.path("quarantine"))];
        Self { points, image: copy, counts, acknowledged: done.concat(), durable }
    }
}

/// Occupies a loop device: the next image gets another device number, as after a restart.
struct OccupiedDevice(String);

impl OccupiedDevice {
    fn new(bench: &Bench) -> Result<Self, String> {
        let file = bench.scratch().path().join("occupied.img");
        File::create(&file).unwrap().set_len(1 << 20).unwrap();
        let output = CliOutput::of(Command::new("losetup").args(["--find", "--show"]).arg(&file));
        if output.code == Some(0) {
            Ok(Self(output.stdout.trim().to_owned()))
        } else {
            Err(output.stderr)
        }
    }
}

impl Drop for OccupiedDevice {
    fn drop(&mut self) {
        let output = CliOutput::of(Command::new("losetup").arg("--detach").arg(&self.0));
        assert!(output.code == Some(0) || std::thread::panicking(), "{}", output.stderr);
    }
}

/// A mounted image, unmounted when dropped.
struct MountedImage(PathBuf);

impl MountedImage {
    fn new(image: &Path, place: &Path, options: &str) -> Result<Self, String> {
        let mount = || {
            let mut mount = Command::new("mount");
            CliOutput::of(mount.args(["-o", options]).arg(image).arg(place))
        };
        let mut output = mount();
        // Another test may take or give back the loop device at the same moment. An image that is
        // damaged fails each time.
        for _ in 0..3 {
            if output.code != Some(0) {
                std::thread::sleep(Duration::from_millis(500));
                output = mount();
            }
        }
        if output.code == Some(0) { Ok(Self(place.to_owned())) } else { Err(output.stderr) }
    }
}

impl Drop for MountedImage {
    fn drop(&mut self) {
        let begun = Instant::now();
        // The launcher of an ended daemon may still be using it for a moment.
        while CliOutput::of(Command::new("umount").arg(&self.0)).code != Some(0) {
            let waits = begun.elapsed() < Duration::from_secs(10);
            assert!(waits || std::thread::panicking(), "{} stays mounted", self.0.display());
            if !waits {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn after_a_power_cut_nothing_is_lost_or_run_twice() {
    let test = "after_a_power_cut_nothing_is_lost_or_run_twice";
    let Some(bench) = Bench::as_root(test) else { return };
    let (Some(failpoints), Some(tool)) = (FailpointDaemon::get(test), CountedTool::build(test))
    else {
        return;
    };
    failpoints.install(&bench);
    let mut faults = Vec::new();
    let mut tried = 0;
    for (kind, options, bytes) in FILE_SYSTEMS {
        let image = bench.scratch().path().join(format!("{kind}.img"));
        match make(kind, &image, bytes) {
            Ok(()) => {}
            Err(why) => {
                skip(&format!("a power cut on {kind}"), &why);
                continue;
            }
        }
        match MountedImage::new(&image, &bench.home(), options) {
            Ok(mounted) => {
                tried += 1;
                faults.extend(on(&bench, &tool, mounted, &image, (kind, options)));
            }
            Err(why) => skip(&format!("a power cut on {kind}"), why.trim()),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    if tried == 0 {
        skip(test, "no file system could be made and mounted");
    }
}

fn make(kind: &str, image: &Path, bytes: u64) -> Result<(), String> {
    File::create(image).unwrap().set_len(bytes).unwrap();
    let mut make = Command::new(format!("mkfs.{kind}"));
    match make.arg("-q").arg(image).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("mkfs.{kind}: {error}")),
    }
}

fn on(
    bench: &Bench,
    tool: &CountedTool,
    mounted: MountedImage,
    image: &Path,
    (kind, options): (&str, &str),
) -> Vec<String> {
    let mut service = Service::prepare(bench, &tool.service_config(bench));
    configure_for_crash_tests(&service);
    let counted = tool.count();
    let scene = CrashScene::submit(&service, &counted, &CrashFileKind::ALL);
    CliOutput::of(Command::new("sync").arg("-f").arg(bench.home())).assert_code(0);
    let cuts = collect_cuts(bench, &mut service, &scene, &counted, image);
    let device = fs::metadata(bench.home()).unwrap().dev();
    drop(mounted);
    let _occupied = OccupiedDevice::new(bench).unwrap();
    assert_complete(&cuts);
    println!("{kind}: {:<20} {:>8} {:>8}  verdict", "cut at", "durable", "there");
    let mut faults = Vec::new();
    for cut in cuts {
        let mounted = MountedImage::new(&cut.image, &bench.home(), options);
        let found = match &mounted {
            Ok(_) => {
                assert_ne!(fs::metadata(bench.home()).unwrap().dev(), device);
                faults_after_cut(&mut service, &scene, &counted, &cut)
            }
            Err(why) => vec![format!("cannot be mounted: {}", why.trim())],
        };
        let verdict = if found.is_empty() { "ok".to_owned() } else { format!("{found:?}") };
        let (durable, there) = (cut.durable, cut.acknowledged.len());
        let points = cut.points.join(", ");
        println!("{kind}: {points:<20} {durable:>8} {there:>8}  {verdict}");
        faults.extend(found.iter().map(|it| format!("{kind}, cut at {points}: {it}")));
        drop(mounted);
        fs::remove_file(&cut.image).unwrap();
    }
    faults
}

/// Asserts that there is a cut at each failpoint, and one after all results are durable.
fn assert_complete(cuts: &[PowerCut]) {
    let cut_at: BTreeSet<&str> =
        cuts.iter().flat_map(|cut| &cut.points).map(String::as_str).collect();
    let mut missing = FailpointDaemon::names();
    missing.retain(|name| !cut_at.contains(name.as_str()) && !NEED_NO_CUT.contains(&name.as_str()));
    assert_eq!(missing, Vec::<String>::new(), "failpoints without a cut");
    let last = cuts.last().unwrap();
    assert_eq!(last.durable, CrashFileKind::ALL.len(), "durable results at the last cut");
}

/// Runs a daemon. Copies the image at each failpoint where it stops, and when it is idle.
fn collect_cuts(
    bench: &Bench,
    service: &mut Service<'_>,
    scene: &CrashScene,
    counted: &RunCounter,
    image: &Path,
) -> Vec<PowerCut> {
    let full = std::env::var("TOOLEXEC_POWER_CUT").is_ok_and(|value| value == "full");
    let came = bench.scratch().path().join("arrivals");
    fs::write(&came, "").unwrap();
    let mut command = service.command();
    command.env("TOOLEXEC_FAILPOINT_LOG", &came).env("TOOLEXEC_FAILPOINT_STOP", "all");
    service.spawn_as(command);
    let mut cuts: Vec<PowerCut> = Vec::new();
    let (begun, mut seen) = (Instant::now(), 0);
    while wait_for_stop(service, scene, begun) {
        let arrivals = fs::read_to_string(&came).unwrap();
        // The daemon stops once for threads that arrive together.
        let points: Vec<String> = arrivals.lines().skip(seen).map(str::to_owned).collect();
        seen += points.len();
        let is_new = |point: &String| cuts.iter().all(|cut| !cut.points.contains(point));
        if points.iter().any(|point| full || is_new(point)) {
            let is_log_written = points.iter().any(|point| point == "log-written");
            let at = (image, cuts.len());
            cuts.push(PowerCut::new(points, &arrivals, (service, counted), at));
            if is_log_written {
                sync_files_below(&service.path("log"));
                let (points, at) = (vec!["log-written, synced".to_owned()], (image, cuts.len()));
                cuts.push(PowerCut::new(points, &arrivals, (service, counted), at));
            }
        }
        kill("CONT", service.process());
    }
    let arrivals = fs::read_to_string(&came).unwrap();
    let (points, at) = (vec!["idle".to_owned()], (image, cuts.len()));
    cuts.push(PowerCut::new(points, &arrivals, (service, counted), at));
    stop_daemon(service);
    cuts
}

/// Waits until the daemon stops at a failpoint. Returns false if it is idle, with everything done.
fn wait_for_stop(service: &mut Service<'_>, scene: &CrashScene, begun: Instant) -> bool {
    let mut settled: Option<Instant> = None;
    while !is_stopped(service) {
        assert!(begun.elapsed() < DONE_WITHIN * time_factor(), "{}", service.log());
        if let Some(status) = service.exit_status() {
            panic!("it ended with {status}: {}", service.log());
        }
        // A failpoint after the last visible step is reached a moment later.
        let is_settled = service.log().contains("ready") && scene.is_settled(service);
        settled = is_settled.then(|| settled.unwrap_or_else(Instant::now));
        if settled.is_some_and(|since| since.elapsed() > IDLE_TIME * time_factor()) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

fn sync_files_below(directory: &Path) {
    for name in list(directory) {
        let path = directory.join(name);
        if path.is_dir() {
            sync_files_below(&path);
        } else {
            File::open(&path).unwrap().sync_all().unwrap();
        }
    }
    File::open(directory).unwrap().sync_all().unwrap();
}

/// Stops the daemon, resuming it at further failpoints.
fn stop_daemon(service: &mut Service<'_>) {
    service.signal("TERM");
    let begun = Instant::now();
    while service.exit_status().is_none() {
        assert!(begun.elapsed() < DONE_WITHIN, "told to stop it does not: {}", service.log());
        if is_stopped(service) {
            kill("CONT", service.process());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns true if every thread has stopped. One that waits for the disk may still write.
fn is_stopped(service: &Service<'_>) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", service.process().0)) else {
        return false;
    };
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat"));
        stat.is_ok_and(|stat| stat.rsplit(')').next().unwrap_or_default().starts_with(" T"))
    })
}

/// Copies the image as it is at one moment. The kernel may write back during the copy. Such a copy
/// has blocks of two moments, which no power cut leaves, so it is repeated.
fn copy_at_one_moment(image: &Path, copy: &Path) {
    let written = || {
        let metadata = fs::metadata(image).unwrap();
        (metadata.mtime(), metadata.mtime_nsec())
    };
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < DONE_WITHIN, "the file system does not come to rest");
        let before = written();
        // Two writes within one tick of the kernel have one time. The pause puts the copy, and every
        // write during it, into a later tick.
        std::thread::sleep(Duration::from_millis(20));
        if written() != before {
            continue;
        }
        let mut cp = Command::new("cp");
        CliOutput::of(cp.arg("--sparse=always").arg(image).arg(copy)).assert_code(0);
        if written() == before {
            return;
        }
    }
}

/// Returns the faults of a copy, before and after a daemon has recovered on it.
fn faults_after_cut(
    service: &mut Service<'_>,
    scene: &CrashScene,
    counted: &RunCounter,
    cut: &PowerCut,
) -> Vec<String> {
    counted.restore(&cut.counts);
    let mut faults = faults_after_crash(service, scene, &counted.counts());
    let there = service.visible_results();
    let lost = cut.acknowledged.iter().filter(|name| !there.contains(name));
    faults.extend(lost.map(|name| format!("{name} was durable and is not there")));
    if there.len() < cut.durable {
        faults.push(format!("{} were durable and {} are there", cut.durable, there.len()));
    }
    let command = service.command();
    faults.extend(recovery_faults(service, command, scene, counted));
    faults
}
