//! The cost of waiting requests for the running one, and of an idle daemon: `cargo build --release
//! --workspace && cargo bench -p toolexec-tests --bench queue`. Requests leave `approved/` one
//! after the other while a fixed number waits; the time from one departure to the next is the cost.
//! `WAITING` (100000), `MEASURED` (200) and `IDLE_SEC` (60) change the numbers,
//! `TOOLEXEC_PROOF_CONFIG` adds lines of configuration. Must leave nothing behind.

#![allow(clippy::unwrap_used, reason = "a bench that cannot run must stop")]

use std::time::{Duration, Instant};

use toolexec_tests::crash_support::{CountedTool, configure_for_crash_tests};
use toolexec_tests::timing::{
    Departures, PreparedRequests, cpu_ms, env_number, rss_kib, voluntary_switches,
};
use toolexec_tests::{Bench, Service};

const FEW: usize = 10;
/// Requests until the costs of the start are over.
const WARM_UP: usize = 20;

fn main() {
    let Some(tool) = CountedTool::build("bench queue") else { return };
    let (waiting, measured) = (env_number("WAITING", 100_000), env_number("MEASURED", 200));
    measure_idle(&tool);
    println!(
        "{:<20} {:>12} {:>12} {:>12} {:>12}",
        "waiting", "ms each", "CPU, ms each", "first, ms", "RSS, KiB"
    );
    // Measured before and after, which shows variations of the machine.
    let [first, many, again] =
        [FEW, waiting, FEW].map(|waiting| measure_departures(&tool, waiting, measured));
    let ratio = many / f64::midpoint(first, again);
    let met = if ratio <= 1.2 { "met" } else { "MISSED" };
    println!("with {waiting} waiting, to with {FEW}: {ratio:.2} (goal at most 1.2: {met})");
}

/// Returns the milliseconds between two departures while this many requests wait.
fn measure_departures(tool: &CountedTool, waiting: usize, measured: usize) -> f64 {
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &tool.service_config(&bench));
    configure_for_crash_tests(&service);
    let mut requests = PreparedRequests::of(&service);
    requests.write_waiting(waiting);
    let next = requests.prepare(WARM_UP + measured);
    let mut departures = Departures::of(&service.path("approved"));
    let started = Instant::now();
    let command = service.command();
    service.spawn_as(command);
    let (mut first, mut begun, mut cpu, mut rss) = (Duration::ZERO, Instant::now(), 0.0, 0);
    for (number, name) in next.iter().enumerate() {
        assert!(!departures.wait().is_empty());
        // Keeps the number of waiting requests constant.
        requests.submit_one(name);
        match number {
            0 => first = started.elapsed(),
            WARM_UP => (begun, cpu) = (Instant::now(), cpu_ms(service.process().0)),
            _ if number % 50 == 0 => rss = rss.max(rss_kib(service.process().0)),
            _ => {}
        }
    }
    let later = f64::from(u32::try_from(measured - 1).unwrap());
    let each = begun.elapsed().as_secs_f64() * 1e3 / later;
    let cpu = (cpu_ms(service.process().0) - cpu) / later;
    let rss = rss.max(rss_kib(service.process().0));
    service.signal("KILL");
    service.wait();
    let first = first.as_secs_f64() * 1e3;
    println!("{waiting:<20} {each:>12.2} {cpu:>12.2} {first:>12.1} {rss:>12}");
    each
}

/// Measures a daemon that has run something and is idle.
fn measure_idle(tool: &CountedTool) {
    let seconds = env_number("IDLE_SEC", 60);
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &tool.service_config(&bench));
    configure_for_crash_tests(&service);
    service.spawn();
    PreparedRequests::of(&service).submit_warm_up(3);
    std::thread::sleep(Duration::from_secs(3));
    let pid = service.process().0;
    let before = voluntary_switches(pid);
    std::thread::sleep(Duration::from_secs(u64::try_from(seconds).unwrap()));
    let woken = f64::from(u32::try_from(voluntary_switches(pid) - before).unwrap());
    let each_minute = woken * 60.0 / f64::from(u32::try_from(seconds).unwrap());
    let rss = rss_kib(pid);
    let goal = |met| if met { "met" } else { "MISSED" };
    let (small, quiet) = (goal(rss <= 15 * 1024), goal(each_minute <= 3.0));
    println!("idle: {rss} KiB resident (goal at most 15360: {small})");
    println!("idle: {each_minute:.1} wakeups a minute (goal at most 3: {quiet})\n");
}
