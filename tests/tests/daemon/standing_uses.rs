//! The uses of a standing approval over kills: `uses_max` is never exceeded, and a use whose line was
//! written is spent. The runs are counted from outside. `STANDING_USES` and `STANDING_KILLS` set the
//! length of the stream: `STANDING_USES=2000 STANDING_KILLS=200 cargo test -p toolexec-tests --test \
//! daemon -- standing_uses --nocapture`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::{CountedTool, FailpointDaemon, RunCounter};
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{
    Bench, STANDING_HOST, STANDING_NAMESPACE, SavedStanding, Service, ServiceConfig, StandingText,
    list, ssh_keygen_works,
};

const SCRIPT: &str = "the tool does not read it";
/// Runs of one name are this many requests apart, so that two never overlap.
const NAMES: usize = 64;
/// Failpoints that no admitted use reaches: `crash` tests the first two, `retention.rs` the others.
const TESTED_ELSEWHERE: [&str; 4] =
    ["quarantined", "object-quarantined", "retention-hidden", "retention-removed"];
/// Longest time for a daemon to reach a failpoint; many times what it needs.
const REACHED_WITHIN: Duration = Duration::from_secs(30);
const SIGKILL: i32 = 9;

fn setting(name: &str, shipped: usize) -> usize {
    std::env::var(name).map_or(shipped, |text| text.parse().unwrap())
}

struct UseStream<'a> {
    service: Service<'a>,
    standing: SavedStanding,
    names: Vec<String>,
    uses_max: usize,
    submitted: usize,
}

impl<'a> UseStream<'a> {
    /// Starts a daemon with an admitted standing approval.
    fn start(
        bench: &'a Bench,
        (tool, counted): (&CountedTool, &RunCounter),
        uses_max: usize,
    ) -> Self {
        let (key, signers) = SavedStanding::make_approver(bench);
        let config = ServiceConfig { allowed_signers: Some(signers), ..tool.service_config(bench) };
        let mut service = Service::prepare(bench, &config);
        service.configure(&format!("log: {{origin: {STANDING_HOST}, heartbeat_sec: 0}}"));
        service.spawn();
        let names: Vec<String> =
            (0..NAMES).map(|number| counted.run_argument(&format!("n{number}"))).collect();
        let listed: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let first = &names[0];
        let text = StandingText::of_script(SCRIPT)
            .edit("integer: [1, 100]", &format!("choice: [{}]", listed.join(", ")))
            .edit("script.py, \"7\"]", &format!("script.py, \"{first}\"]"))
            .edit("uses_max: 100", &format!("uses_max: {uses_max}"))
            .edit("uses_per_hour_max: 100", &format!("uses_per_hour_max: {uses_max}"));
        let standing = text.save(bench.scratch().path());
        standing.sign(STANDING_NAMESPACE, &key);
        let approved = service.path("approved");
        standing.place_in(&approved);
        service.wait_for("the standing approval to be taken", |_| {
            !approved.join(format!("{}.md", standing.id)).exists()
        });
        Self { service, standing, names, uses_max, submitted: 0 }
    }

    fn submit(&mut self, uses: usize) {
        let aside = self.service.path("aside");
        fs::create_dir_all(&aside).unwrap();
        for _ in 0..uses {
            let name = &self.names[self.submitted % NAMES];
            let request = self.standing.use_of(SCRIPT, name);
            SavedStanding::place_use(&request, &aside, &self.service.path("approved"));
            self.submitted += 1;
        }
    }

    fn settle(&self) {
        let begun = Instant::now();
        while !self.is_settled() {
            assert!(begun.elapsed() < Duration::from_secs(240), "{}", self.service.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts the daemon and waits until it kills itself at this failpoint.
    fn run_to(&mut self, failpoint: &str) {
        let mut command = self.service.command();
        command.env("TOOLEXEC_FAILPOINT", failpoint);
        self.service.spawn_as(command);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.service.exit_status() {
                break status;
            }
            let waits = begun.elapsed() < REACHED_WITHIN * time_factor();
            assert!(waits, "{failpoint} is not reached: {}", self.service.log());
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.signal(), Some(SIGKILL), "{failpoint}: {}", self.service.log());
    }

    fn kill(&mut self) {
        self.service.signal("KILL");
        self.service.wait();
    }

    fn is_settled(&self) -> bool {
        let waiting = list(&self.service.path("approved"));
        let waits = waiting.iter().any(|name| name.ends_with(".md"));
        !waits && list(&self.service.path("work")).is_empty()
    }

    fn ledger(&self) -> String {
        fs::read_to_string(self.service.state().join("ledger")).unwrap()
    }

    fn uses(&self) -> usize {
        self.ledger().matches("\"standing\":").count()
    }

    /// Returns true if some uses are spent and others are not, or if a claim is in progress.
    fn is_in_use(&self) -> bool {
        let is_partly_spent = (1..self.uses_max).contains(&self.uses());
        is_partly_spent || !list(&self.service.path("work")).is_empty()
    }

    /// Counts the lines of the ledger, the runs, and the records.
    fn check(&self, counted: &RunCounter) {
        let lines = self.uses();
        assert_eq!(lines, self.uses_max, "lines of uses");
        let mut numbers: Vec<usize> = self
            .ledger()
            .split("\"use\":")
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap().parse().unwrap())
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=self.uses_max).collect::<Vec<_>>());
        let runs: u32 = counted.counts().values().sum();
        assert!(usize::try_from(runs).unwrap() <= self.uses_max, "{runs} runs");
        let records = self.service.records();
        let of = |outcome: &str| records.iter().filter(|it| it.outcome() == outcome).count();
        let (ok, lost, refused) = (of("ok"), of("indeterminate"), of("refused"));
        println!("{lines} uses, {runs} runs: {ok} ok, {lost} indeterminate, {refused} refused");
        assert_eq!(ok + lost, self.uses_max, "every use has a record");
        assert_eq!(refused, self.submitted - self.uses_max);
        self.service.verify().assert_code(0);
    }
}

/// The first kill comes at the first use, the others at random times. The seed is printed.
#[test]
fn kills_never_exceed_the_number_of_uses() {
    let test = "kills_never_exceed_the_number_of_uses";
    if !ssh_keygen_works(test) {
        return;
    }
    let Some(tool) = CountedTool::build(test) else { return };
    let bench = Bench::new();
    let counted = tool.count();
    let (uses, kills) = (setting("STANDING_USES", 60), setting("STANDING_KILLS", 8));
    let mut stream = UseStream::start(&bench, (&tool, &counted), uses / 4);
    // The requests wait for a daemon, so that the kills meet the uses.
    stream.kill();
    stream.submit(uses);
    stream.service.spawn();
    stream.service.wait_for("the first use", |_| stream.uses() > 0);
    let (mut seed, mut met) = (u64::from(std::process::id()), 0);
    println!("seed {seed}");
    for _ in 0..kills {
        stream.kill();
        met += usize::from(stream.is_in_use());
        stream.service.spawn();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_millis(5 + (seed >> 33) % 150));
    }
    println!("{met} of {kills} kills met a use");
    assert!(met > 0, "no kill met a use");
    stream.settle();
    stream.check(&counted);
}

#[test]
fn a_kill_at_each_failpoint_never_exceeds_the_number_of_uses() {
    let test = "a_kill_at_each_failpoint_never_exceeds_the_number_of_uses";
    if !ssh_keygen_works(test) {
        return;
    }
    let Some(daemon) = FailpointDaemon::get(test) else { return };
    let Some(tool) = CountedTool::build(test) else { return };
    let bench = Bench::new();
    daemon.install(&bench);
    let counted = tool.count();
    let mut names = FailpointDaemon::names();
    names.retain(|name| !TESTED_ELSEWHERE.contains(&name.as_str()));
    let mut stream = UseStream::start(&bench, (&tool, &counted), names.len());
    stream.kill();
    for failpoint in &names {
        stream.submit(1);
        if failpoint == "claim-hidden" {
            // Only recovery hides a claim: one whose request was not begun.
            stream.run_to("claimed");
        }
        stream.run_to(failpoint);
    }
    stream.service.spawn();
    stream.submit(names.len());
    stream.settle();
    stream.check(&counted);
}

/// A second daemon cannot use the same state, so it cannot use the same standing approval.
#[test]
fn two_daemons_share_no_standing_approval() {
    let test = "two_daemons_share_no_standing_approval";
    if !ssh_keygen_works(test) {
        return;
    }
    let Some(tool) = CountedTool::build(test) else { return };
    let bench = Bench::new();
    let counted = tool.count();
    let stream = UseStream::start(&bench, (&tool, &counted), 2);
    let other = bench.home().join("other.yaml");
    let config = fs::read_to_string(stream.service.config()).unwrap();
    let spool = stream.service.spool().display().to_string();
    let elsewhere = bench.home().join("other-spool");
    fs::create_dir_all(elsewhere.join("approved")).unwrap();
    fs::write(&other, config.replace(&spool, &elsewhere.display().to_string())).unwrap();
    let output = bench.command("toolexecd").arg("--config").arg(&other).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("lock"), "{text}");
}

/// The kernel refuses to start the program after the line of the use was written.
#[test]
fn a_use_that_ends_in_a_setup_error_is_spent_and_has_its_number() {
    let test = "a_use_that_ends_in_a_setup_error_is_spent_and_has_its_number";
    if !ssh_keygen_works(test) {
        return;
    }
    let Some(tool) = CountedTool::build(test) else { return };
    let bench = Bench::new();
    let counted = tool.count();
    let good = tool.program().with_file_name("tool.good");
    fs::copy(tool.program(), &good).unwrap();
    // A truncated ELF file: the header announces more than the file contains.
    let header = fs::read(&good).unwrap()[..64].to_vec();
    fs::write(tool.program(), header).unwrap();
    let mut stream = UseStream::start(&bench, (&tool, &counted), 2);
    stream.submit(1);
    stream.settle();
    let failed = stream.service.records().remove(0);
    failed.assert_outcome("setup_error");
    assert!(failed.text.contains("\n  use: 1\n"), "{}", failed.text);
    stream.kill();
    fs::rename(&good, tool.program()).unwrap();
    stream.service.spawn();
    stream.submit(2);
    stream.settle();
    let records = stream.service.records();
    assert_eq!(records.len(), 3, "{records:#?}");
    let of = |outcome: &str| records.iter().find(|it| it.outcome() == outcome).unwrap();
    let (ran, refused) = (of("ok"), of("refused"));
    assert!(ran.text.contains("\n  use: 2\n"), "{}", ran.text);
    assert!(refused.text.contains("uses_max is reached"), "{}", refused.text);
    assert_eq!(counted.counts().values().sum::<u32>(), 1, "runs");
    stream.service.verify().assert_code(0);
}
