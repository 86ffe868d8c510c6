//! Load: many requests are submitted at once, two writers keep submitting, one submits invalid
//! objects, and SIGKILL ends the daemon every few seconds. At the end every well-formed request has
//! exactly one record, every other object one refusal, and no other record exists.
//! `TOOLEXEC_LOAD=10000 cargo test -p toolexec-tests --test daemon load -- --nocapture` is the full
//! load and prints the tally. Must never fail because time is short, only because progress stops.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::{
    CountedTool, RunCounter, RunCounts, configure_for_crash_tests,
};
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, Record, RequestText, Service, list, wait_for_no_process};

const REQUESTS: usize = 600;
/// The share of requests from the two writers together, and of invalid objects.
const WRITTEN_PERCENT: usize = 10;
const INVALID_PERCENT: usize = 5;
/// One in this many requests lacks its approval.
const UNAPPROVED_EVERY: usize = 20;
/// Time between two kills; not a multiple of any interval of the daemon.
const KILL_INTERVAL: Duration = Duration::from_millis(2_700);
/// The test fails if no record is published for this long.
const STUCK_AFTER: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedRecord {
    Run,
    Refusal,
}

/// Files that are prepared beside `approved/` and submitted by a rename.
struct LoadGenerator<'a> {
    spool: PathBuf,
    counter: &'a RunCounter,
    template: RequestText,
    text: String,
    due: BTreeMap<String, ExpectedRecord>,
}

impl<'a> LoadGenerator<'a> {
    fn new(spool: PathBuf, counted: &'a RunCounter) -> Self {
        let template = RequestText::python("the tool does not read it");
        let command = format!("python script.py {}", counted.run_argument(&template.id));
        let template = template.command(&command);
        let text = template.text();
        fs::create_dir(spool.join("aside")).unwrap();
        Self { spool, counter: counted, template, text, due: BTreeMap::new() }
    }

    /// Writes a request and returns its id.
    fn prepare(&mut self, name: &str) -> String {
        let id = format!("{}-{name}", self.template.id);
        let number = self.due.len();
        let due = if number % UNAPPROVED_EVERY == 7 {
            ExpectedRecord::Refusal
        } else {
            ExpectedRecord::Run
        };
        let mut text = self.text.replace(&self.template.id, &id);
        if due == ExpectedRecord::Refusal {
            text = text.replacen("approved_by: \"tester\"", "approved_by: \"\"", 1);
        }
        self.counter.expect(&id);
        let inputs = self.spool.join("aside").join(format!("{id}.inputs"));
        fs::create_dir(&inputs).unwrap();
        fs::write(inputs.join("script.py"), "the tool does not read it").unwrap();
        fs::write(self.spool.join("aside").join(format!("{id}.md")), text).unwrap();
        self.due.insert(id.clone(), due);
        id
    }

    fn prepare_all(&mut self, prefix: &str, count: usize) -> Vec<String> {
        (0..count).map(|number| self.prepare(&format!("{prefix}-{number}"))).collect()
    }

    /// Returns the names of invalid objects, which identify them in the records.
    fn expect_invalid(&mut self, count: usize) -> Vec<String> {
        let names: Vec<_> =
            (0..count).map(|number| format!("{}-rubbish-{number}", self.template.id)).collect();
        self.due.extend(names.iter().map(|name| (name.clone(), ExpectedRecord::Refusal)));
        names
    }
}

fn submit_one(spool: &Path, id: &str) {
    for end in [".inputs", ".md"] {
        let name = format!("{id}{end}");
        fs::rename(spool.join("aside").join(&name), spool.join("approved").join(&name)).unwrap();
    }
}

fn submit_invalid(spool: &Path, number: usize, name: &str) {
    let path = spool.join("approved").join(format!("{name}.md"));
    match number % 5 {
        0 => symlink("/etc/hostname", path).unwrap(),
        1 => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        2 => fs::create_dir(path).unwrap(),
        3 => {
            let aside = spool.join("aside").join(name);
            fs::write(&aside, format!("---\nno: {name}\n---\nrequest")).unwrap();
            fs::rename(aside, path).unwrap();
        }
        _ => {
            let aside = spool.join("aside").join(name);
            fs::write(&aside, vec![b'x'; 300 * 1024]).unwrap();
            fs::rename(aside, path).unwrap();
        }
    }
}

#[derive(Default)]
struct LoadStats {
    kills: usize,
    rss_kib_max: u64,
    elapsed: Duration,
}

#[test]
fn under_load_and_kills_every_request_is_recorded_once() {
    let test = "under_load_and_kills_every_request_is_recorded_once";
    let Some(tool) = CountedTool::build(test) else { return };
    let value = std::env::var("TOOLEXEC_LOAD");
    let count = value.map_or(REQUESTS, |value| value.parse().unwrap());
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &tool.service_config(&bench));
    configure_for_crash_tests(&service);
    let counted = tool.count();

    let mut load = LoadGenerator::new(service.spool(), &counted);
    let at_once = load.prepare_all("burst", count);
    let written = count * WRITTEN_PERCENT / 100 / 2;
    let writers = ["left", "right"].map(|name| load.prepare_all(name, written));
    let invalid = load.expect_invalid(count * INVALID_PERCENT / 100);
    let due = load.due;

    let spool = service.spool();
    service.spawn();
    let begun = Instant::now();
    let writing = AtomicUsize::new(3);
    let mut seen = std::thread::scope(|scope| {
        let (spool, writing) = (&spool, &writing);
        for ids in &writers {
            scope.spawn(move || {
                for id in ids {
                    submit_one(spool, id);
                    std::thread::sleep(Duration::from_millis(20));
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        scope.spawn(|| {
            for (number, name) in invalid.iter().enumerate() {
                submit_invalid(spool, number, name);
                std::thread::sleep(Duration::from_millis(40));
            }
            writing.fetch_sub(1, Ordering::SeqCst);
        });
        for id in &at_once {
            submit_one(spool, id);
        }
        let seen = kill_until_done(&mut service, writing, &due);
        assert_eq!(writing.load(Ordering::SeqCst), 0);
        seen
    });
    seen.elapsed = begun.elapsed();
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0), "{}", service.log());
    wait_for_no_process(service.state().join("staging").to_str().unwrap());

    let (outcomes, faults) = judge(&service, &due, &counted.counts());
    print_tally(&due, &outcomes, &seen);
    assert!(faults.is_empty(), "{} faults of {}:\n{}", faults.len(), due.len(), faults.join("\n"));
    assert!(seen.kills > 0, "the load ended before the first kill");
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
    assert_eq!(list(&service.path("work")), Vec::<String>::new());
    assert_eq!(service.staging_slots(), Vec::<String>::new());
    let verified = service.verify();
    assert_eq!(verified.code, Some(0), "{}", verified.stderr);
    assert_eq!(verified.stdout.lines().count(), due.len());
    service.fsck().assert_code(0);
}

/// Kills and restarts the daemon until everything has left `approved/`.
fn kill_until_done(
    service: &mut Service<'_>,
    writing: &AtomicUsize,
    due: &BTreeMap<String, ExpectedRecord>,
) -> LoadStats {
    let mut seen = LoadStats::default();
    let (mut killed_at, mut moved_at, mut published) = (Instant::now(), Instant::now(), 0);
    loop {
        std::thread::sleep(Duration::from_millis(100));
        seen.rss_kib_max = seen.rss_kib_max.max(rss_kib(service));
        let now = service.visible_results().len();
        if now != published {
            (published, moved_at) = (now, Instant::now());
        }
        let stuck = moved_at.elapsed() > STUCK_AFTER * time_factor();
        assert!(!stuck, "{published} of {} told, and no more: {}", due.len(), service.log());
        if let Some(status) = service.exit_status() {
            panic!("it ended with {status}: {}", service.log());
        }
        let written = writing.load(Ordering::SeqCst) == 0;
        // Inputs without their request are recorded at the end.
        let waits = list(&service.path("approved")).iter().any(|name| name.ends_with(".md"));
        if written && !waits && list(&service.path("work")).is_empty() {
            // A daemon that is still starting would not end in order at a signal.
            if service.log().contains("ready") {
                return seen;
            }
            continue;
        }
        // The first kill meets the burst, even if the host finishes it within one interval.
        let is_first = seen.kills == 0 && published > 0;
        if is_first || killed_at.elapsed() >= KILL_INTERVAL * time_factor() {
            service.signal("KILL");
            service.wait();
            seen.kills += 1;
            let command = service.command();
            service.spawn_as(command);
            killed_at = Instant::now();
        }
    }
}

fn rss_kib(service: &Service<'_>) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", service.process().0));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").trim().parse().unwrap())
}

/// Checks for one record of each expected one. Returns the number for each outcome, and the faults.
fn judge(
    service: &Service<'_>,
    due: &BTreeMap<String, ExpectedRecord>,
    counts: &RunCounts,
) -> (BTreeMap<String, usize>, Vec<String>) {
    let mut outcomes = BTreeMap::new();
    let mut recorded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in service.records() {
        *outcomes.entry(record.outcome().to_owned()).or_default() += 1;
        let of = owner_of(&record, due);
        recorded.entry(of).or_default().push(record.outcome().to_owned());
    }
    let mut faults = Vec::new();
    for (id, due) in due {
        let count = counts.get(id).copied().unwrap_or_default();
        let outcomes = recorded.remove(id).unwrap_or_default();
        let right = match (due, outcomes.as_slice()) {
            (ExpectedRecord::Run, [one]) if one == "ok" => count == 1,
            (ExpectedRecord::Run, [one]) if one == "indeterminate" => count <= 1,
            (ExpectedRecord::Refusal, [one]) if one == "refused" => count == 0,
            _ => false,
        };
        if !right {
            faults.push(format!("{id}: ran {count} times, told as {outcomes:?}"));
        }
    }
    faults.extend(recorded.iter().map(|(id, outcomes)| format!("{id}: unexpected: {outcomes:?}")));
    (outcomes, faults)
}

/// Returns the name of the object that a record belongs to.
fn owner_of(record: &Record, due: &BTreeMap<String, ExpectedRecord>) -> String {
    let id = record.id();
    if let Some(at) = id.find("TR-").filter(|at| due.contains_key(&id[*at..])) {
        return id[at..].to_owned();
    }
    // An invalid object has no id. Its name is the word with `-rubbish-` in the text.
    let found = record.text.find("-rubbish-").map(|at| {
        let begin = record.text[..at].rfind("TR-").unwrap_or(at);
        let rest = &record.text[begin..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        rest[..end].to_owned()
    });
    found.unwrap_or_else(|| id.to_owned())
}

fn print_tally(
    due: &BTreeMap<String, ExpectedRecord>,
    outcomes: &BTreeMap<String, usize>,
    seen: &LoadStats,
) {
    let runs = due.values().filter(|due| **due == ExpectedRecord::Run).count();
    println!("well-formed, approved            {runs:>8}");
    println!("everything else                  {:>8}", due.len() - runs);
    for (outcome, count) in outcomes {
        println!("records: {outcome:<24}{count:>8}");
    }
    println!("kills                            {:>8}", seen.kills);
    let seconds = seen.elapsed.as_secs_f64();
    println!("seconds                          {seconds:>8.1}");
    let per_second = u32::try_from(due.len()).map_or(f64::MAX, f64::from) / seconds;
    println!("told in a second                 {per_second:>8.1}");
    println!("resident at most, KiB            {:>8}", seen.rss_kib_max);
}
