//! The figures of the console: its memory, the time of a page of many drafts, and the delay of live
//! output. Each test prints what it has measured.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::timing::{Times, peak_rss_kib};
use toolexec_tests::{Bench, ssh_keygen_works};

use super::exchange::{connect, get};
use super::scene::ConsoleScene;

const IDLE_KIB_MAX: u64 = 20 * 1024;
const LIST_MS_MAX: f64 = 100.0;
/// For half of the lines, beside other work.
const OUTPUT_MS_MAX: f64 = 1000.0;
const SCRIPT: &str = "import sys; print(sys.argv[1])";

/// Prints its clock. The intervals differ from the console's own.
const CLOCK_LINES: usize = 40;
const CLOCK: &str = "import time
for _ in range(40):
    print('clock', time.time(), flush=True)
    time.sleep(0.13)
";

/// Idle: it has started, and has answered the page of the queue. The peak includes both.
#[test]
fn an_idle_console_needs_little_memory() {
    let test = "an_idle_console_needs_little_memory";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let draft = scene.draft_that_prints("a draft").id;
    scene.console.assert_answers();
    let idle = peak_rss_kib(scene.console.pid());
    println!("{test}: peak {idle} KiB after the start and the page of the queue");
    let standing = scene.admit_standing(SCRIPT);
    let result = scene.run_use(&standing.use_of(SCRIPT, "7"));
    for path in [
        format!("/requests/{draft}"),
        "/standing".to_owned(),
        format!("/standing/{}", standing.id),
        "/results".to_owned(),
        format!("/results/{}", result.id()),
        "/log".to_owned(),
        "/enrol".to_owned(),
    ] {
        assert_eq!(get(scene.console.port, &path).status, 200, "{path}");
    }
    let used = peak_rss_kib(scene.console.pid());
    println!("{test}: peak {used} KiB after a page of each kind");
    assert!((1..=IDLE_KIB_MAX).contains(&idle), "{idle} KiB");
}

#[test]
fn a_thousand_drafts_are_listed_in_a_tenth_of_a_second() {
    let test = "a_thousand_drafts_are_listed_in_a_tenth_of_a_second";
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    for number in 0..1000 {
        let path = scene.service.path(&format!("drafts/TR-20260101-000000Z-{number}.md"));
        fs::write(path, "---\npurpose: \"A draft.\"\n---\n").unwrap();
    }
    let mut times = Times::default();
    for _ in 0..9 {
        let begun = Instant::now();
        let answer = get(scene.console.port, "/");
        times.add(begun.elapsed());
        assert_eq!(answer.body.matches("name=\"ids\"").count(), 1000);
    }
    let (median, slowest) = (times.ms_at(50), times.ms_at(100));
    println!("{test}: median {median:.1} ms, slowest {slowest:.1} ms of 9");
    assert!(median <= LIST_MS_MAX * f64::from(time_factor()), "{median} ms");
}

/// Reads the stream of a run to its end. Returns the time between each line of the tool's clock and
/// its arrival.
fn delays(stream: impl BufRead) -> Times {
    let mut delays = Times::default();
    for line in stream.lines() {
        let line = line.unwrap();
        if line == "event: end" {
            break;
        }
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let arrived = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let text: String = serde_json::from_str(data).unwrap();
        for written in text.lines().filter_map(|line| line.strip_prefix("clock ")) {
            let written = Duration::from_secs_f64(written.parse().unwrap());
            delays.add(arrived.saturating_sub(written));
        }
    }
    delays
}

#[test]
fn live_output_arrives_at_once() {
    let test = "live_output_arrives_at_once";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let standing = scene.admit_standing(CLOCK);
    let request = standing.use_of(CLOCK, "7");
    let port = scene.console.port;
    let mut stream = connect(port);
    let (id, host) = (&request.id, format!("localhost:{port}"));
    write!(stream, "GET /requests/{id}/output HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    scene.submit_use(&request);
    let delays = delays(BufReader::new(stream));
    let record = scene.service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout().lines().count(), CLOCK_LINES);
    assert_eq!(delays.count(), CLOCK_LINES, "lines that arrived");
    let [median, most, slowest] = [50, 90, 100].map(|percent| delays.ms_at(percent));
    println!("{test}: median {median:.0} ms, nine of ten {most:.0} ms, all {slowest:.0} ms");
    assert!(median <= OUTPUT_MS_MAX * f64::from(time_factor()), "{median} ms");
}
