//! Measures the time of a check: of a typical request and result, of the worst content of 256 KiB,
//! and its growth with size, which must be linear. It only prints the measurements with the goals,
//! and must never fail a build. Run `cargo bench -p validator --bench check`, optionally with the
//! prefix of a name after `--`.

#[path = "check/shapes.rs"]
mod shapes;
#[path = "check/table.rs"]
mod table;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use criterion::Criterion;
use model::UtcTime;
use table::{Measurement, shown};
use validator::{
    ApprovalRequirement, Draft, FileLocation, OwnerUid, REQUEST_BYTES_MAX, Severity, check_result,
    lint,
};

const REQUEST: &str = include_str!("check/request.md");
const REQUEST_NAME: &str = "TR-20260209-160501Z-weather-statistics.md";
const RESULT: &str = include_str!("check/result.md");
const RESULT_NAME: &str = "TS-20260209-161030Z-TR-20260209-160501Z-weather-statistics.md";

const TYPICAL_GOAL: f64 = 30e-6;
const WORST_GOAL: f64 = 20e-3;
/// The minimum number of the slowest shapes in the table.
const WORST_SHOWN: usize = 20;

fn now() -> UtcTime {
    UtcTime::from_unix(1_770_660_000)
}

/// Reads the bytes, checks them, and drops the result.
fn check(bytes: &[u8]) -> bool {
    let draft = Draft::new(bytes.to_vec(), REQUEST_NAME, OwnerUid::new(1000));
    draft.expect("no shape is too large").check(FileLocation::Spool, now()).verdict.is_ok()
}

fn lint_as(bytes: &[u8], name: &str) -> usize {
    lint(bytes, name, ApprovalRequirement::Approved, now()).1.len()
}

/// Returns the time of one run in the fastest sample, or None if the name is not selected.
fn fastest<T>(criterion: &mut Criterion, name: &str, mut work: impl FnMut() -> T) -> Option<f64> {
    let mut samples = Vec::new();
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|runs| {
            let start = Instant::now();
            for _ in 0..runs {
                black_box(work());
            }
            let spent = start.elapsed();
            samples.push((runs, spent));
            spent
        });
    });
    // Other load on the machine can only lengthen a sample.
    let each =
        samples.iter().map(|(runs, spent): &(u64, Duration)| spent.as_secs_f64() / *runs as f64);
    each.min_by(f64::total_cmp)
}

fn measured<T>(
    criterion: &mut Criterion,
    name: String,
    bytes: usize,
    goal: Option<f64>,
    work: impl FnMut() -> T,
) -> Option<Measurement> {
    let seconds = fastest(criterion, &name, work)?;
    Some(Measurement { name, bytes, seconds, goal })
}

fn typical(criterion: &mut Criterion) -> Vec<Measurement> {
    assert!(check(REQUEST.as_bytes()), "the typical request is not valid");
    let (request, result) = (REQUEST.as_bytes(), RESULT.as_bytes());
    let rows = check_result(result, RESULT_NAME);
    assert!(rows.iter().all(|row| row.severity == Severity::Warning), "{rows:#?}");
    let goal = Some(TYPICAL_GOAL);
    let sizes = (request.len(), result.len());
    let rows = [
        measured(criterion, "typical request, check".into(), sizes.0, goal, || check(request)),
        measured(criterion, "typical request, lint".into(), sizes.0, None, || {
            lint_as(request, REQUEST_NAME)
        }),
        measured(criterion, "typical result, check".into(), sizes.1, None, || {
            check_result(result, RESULT_NAME)
        }),
        measured(criterion, "typical result, lint".into(), sizes.1, None, || {
            lint_as(result, RESULT_NAME)
        }),
    ];
    rows.into_iter().flatten().collect()
}

fn worst(criterion: &mut Criterion) -> Vec<Measurement> {
    let mut rows = Vec::new();
    for (name, bytes) in shapes::all(REQUEST) {
        let size = bytes.len();
        assert!(size <= REQUEST_BYTES_MAX, "{name}: {size}");
        let goal = Some(WORST_GOAL);
        // Lint reads like the check, after it detects the kind of document.
        let request = measured(criterion, name, size, goal, || lint_as(&bytes, REQUEST_NAME));
        rows.extend(request);
    }
    for (name, bytes) in shapes::all(REQUEST) {
        let (name, size) = (format!("as a result: {name}"), bytes.len());
        let goal = Some(WORST_GOAL);
        rows.extend(measured(criterion, name, size, goal, || check_result(&bytes, RESULT_NAME)));
    }
    rows
}

fn growth(criterion: &mut Criterion) {
    let mut last: Option<f64> = None;
    let mut table = String::from("\nOrdinary text, four times as much each time\n");
    for kib in [16, 64, 256] {
        let bytes = shapes::ordinary(REQUEST, kib * 1024);
        assert!(check(&bytes), "ordinary text is not valid");
        let name = format!("ordinary text, {kib} KiB");
        let Some(seconds) = fastest(criterion, &name, || check(&bytes)) else { return };
        let ratio = last.map_or(String::new(), |last| format!("{:.2} times", seconds / last));
        table += &format!("  {kib:>4} KiB {:>10}  {ratio}\n", shown(seconds));
        last = Some(seconds);
    }
    print!("{table}");
}

/// Returns the median time of a process, or None if it cannot run.
fn process(program: &str, arguments: &[&str]) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..20 {
        let start = Instant::now();
        let status = Command::new(program).args(arguments).stdout(Stdio::null()).status().ok()?;
        times.push(start.elapsed().as_secs_f64());
        assert!(status.success(), "{program} {arguments:?}: {status}");
    }
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn compare(ours: f64) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/check");
    let [script, request] = ["per_file.py", "request.md"].map(|name| here.join(name));
    let arguments = [script, request].map(|path| path.display().to_string());
    // A version manager's shim would be measured instead of Python.
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"];
    let python = python.into_iter().find(|path| Path::new(path).exists()).unwrap_or("python3");
    println!("\nUpstream's way, for scale: a Python process for each file");
    let whole = process(python, &["-I", &arguments[0], &arguments[1]]);
    let (Some(whole), Some(empty)) = (whole, process(python, &["-I", "-c", "pass"])) else {
        println!("  left out: there is no python3");
        return;
    };
    println!("  a process that checks   {:>10}", shown(whole));
    println!("  a process that does not {:>10}", shown(empty));
    println!("  our check               {:>10}", shown(ours));
    println!(
        "  {:.0} times; {:.0} times without the process",
        whole / ours,
        (whole - empty) / ours
    );
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(120))
        .sample_size(10)
        .nresamples(1000)
        .without_plots()
        .configure_from_args();
    let mut worst = worst(&mut criterion);
    let mut long = criterion.measurement_time(Duration::from_secs(2)).sample_size(50);
    let mut typical = typical(&mut long);
    let ours = typical.iter().find(|row| row.goal.is_some()).map(|row| row.seconds);
    table::print("The worst that 256 KiB can hold", WORST_SHOWN, &mut worst);
    table::print("Typical documents", usize::MAX, &mut typical);
    growth(&mut long);
    // Criterion's test mode (`--test`) needs no comparison.
    if let Some(ours) = ours.filter(|_| !std::env::args().any(|it| it == "--test")) {
        compare(ours);
    }
}
