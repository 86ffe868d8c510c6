//! The metrics as readers get them: valid for Prometheus' own parser, in a file and on a socket,
//! and with a bounded number of time series.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

#[path = "../../tests/src/skip.rs"]
pub mod skip;

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use daemon::metrics::{AdmissionStopReason, Metrics, MetricsFile, MetricsSocket, TimedStep};
use fleet::gate::FleetGauges;
use model::{Outcome, UtcTime};
use policies::Policy;
use spool::RequestCounts;
use validator::{Code, Violation};

/// Removed on drop.
struct MetricsTestDir(PathBuf);

impl MetricsTestDir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for MetricsTestDir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Every family has values.
fn metrics_with_values() -> Metrics {
    let metrics = Metrics::new(UtcTime::from_unix(1_800_000_000));
    let counts = RequestCounts { waiting: 7, held: 1, running: 2, ..RequestCounts::default() };
    metrics.requests(&counts);
    metrics.record_published(Outcome::Ok);
    metrics.record_published(Outcome::ExitNonzero(3));
    metrics.record_published(Outcome::ExitNonzero(4));
    metrics.record_published(Outcome::Refused);
    let twice = Violation::error(Code::CommandShell, "one".to_owned());
    let of_a_family = Violation::error(Code::Secret("aws-key"), "two".to_owned());
    metrics.refusal_published(&[twice.clone(), twice, of_a_family]);
    for &timed in TimedStep::ALL {
        metrics.step_took(timed, Duration::from_millis(12));
    }
    metrics.step_took(TimedStep::Run, Duration::from_secs(4000));
    metrics.barrier(Duration::from_micros(700));
    metrics.fsyncs(3);
    metrics.running_sandboxes(2, 512 << 20);
    metrics.memory_budget(4 << 30);
    metrics.prewarmed_sandboxes(1);
    metrics.spool_free(123_456_789);
    metrics.log_entries(42);
    metrics.policy(&Policy::shipped("embedded").unwrap());
    metrics.admission(Some(AdmissionStopReason::NoSpace));
    metrics
}

/// The fastest of many batches, because on a busy host some are interrupted. The bound is far above
/// the printed time.
#[test]
fn counting_is_cheap() {
    let metrics = metrics_with_values();
    let batch = || {
        let begun = Instant::now();
        for _ in 0..500 {
            metrics.step_took(TimedStep::Run, Duration::from_millis(3));
            metrics.record_published(Outcome::Ok);
        }
        begun.elapsed() / 1000
    };
    let each = (0..20).map(|_| batch()).min().unwrap();
    println!("a count takes {each:?}");
    assert!(each < Duration::from_micros(50), "{each:?}");
}

#[track_caller]
fn value(text: &str, sample: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {sample} in {text}")).parse().unwrap()
}

#[test]
fn rendered_values_match_counts() {
    let text = metrics_with_values().render();
    for (sample, expected) in [
        ("toolexec_requests{state=\"waiting\"}", 7.0),
        ("toolexec_requests{state=\"publishing\"}", 0.0),
        ("toolexec_outcomes_total{outcome=\"exit_nonzero\"}", 2.0),
        ("toolexec_outcomes_total{outcome=\"indeterminate\"}", 0.0),
        ("toolexec_refusals_total{code=\"command.shell\"}", 1.0),
        ("toolexec_refusals_total{code=\"secret.aws-key\"}", 1.0),
        ("toolexec_step_seconds_count{step=\"run\"}", 2.0),
        ("toolexec_step_seconds_bucket{le=\"0.01\",step=\"run\"}", 0.0),
        ("toolexec_step_seconds_bucket{le=\"0.025\",step=\"run\"}", 1.0),
        ("toolexec_step_seconds_bucket{le=\"1800.0\",step=\"run\"}", 1.0),
        ("toolexec_step_seconds_bucket{le=\"+Inf\",step=\"run\"}", 2.0),
        ("toolexec_step_seconds_sum{step=\"run\"}", 4000.012),
        ("toolexec_barrier_seconds_count", 1.0),
        ("toolexec_fsyncs_total", 3.0),
        ("toolexec_running_sandboxes", 2.0),
        ("toolexec_prewarmed_sandboxes", 1.0),
        ("toolexec_memory_reserved_bytes", 536_870_912.0),
        ("toolexec_memory_budget_bytes", 4_294_967_296.0),
        ("toolexec_spool_free_bytes", 123_456_789.0),
        ("toolexec_log_entries", 42.0),
        ("toolexec_start_time_seconds", 1_800_000_000.0),
        ("toolexec_admission_stopped{reason=\"no_space\"}", 1.0),
        ("toolexec_admission_stopped{reason=\"disk\"}", 0.0),
    ] {
        assert!((value(&text, sample) - expected).abs() < 1e-9, "{sample}: {text}");
    }
    assert!(text.contains("toolexec_policy_loaded{name=\"embedded\",sha256=\""), "{text}");
    assert!(text.ends_with("# EOF\n"));
    let metrics = metrics_with_values();
    metrics.admission(None);
    assert!(value(&metrics.render(), "toolexec_admission_stopped{reason=\"no_space\"}") < 0.5);
}

fn fleet_metrics() -> Metrics {
    let metrics = metrics_with_values();
    metrics.begin_fleet(vec!["host-a".to_owned(), "host-b".to_owned()]);
    let ages = [("host-a", 0.5), ("host-b", 31.0), ("host-z\"} 1\n", 7.0)];
    let gauges = FleetGauges {
        queued: 5,
        claimed: 2,
        unreported: 1,
        beat_age_sec: ages.map(|(host, age)| (host.to_owned(), age)).into(),
        witnesses: 1,
        disputed: vec!["host-b".to_owned(), "host-y".to_owned()],
        database_sec: 0.002,
    };
    metrics.fleet_status(true, Some(&gauges));
    metrics.fleet_start_took(Duration::from_millis(2));
    metrics
}

#[test]
fn a_host_of_a_fleet_has_its_metrics() {
    let metrics = fleet_metrics();
    let text = metrics.render();
    for (sample, expected) in [
        ("toolexec_fleet_ready", 1.0),
        ("toolexec_fleet_queued", 5.0),
        ("toolexec_fleet_claimed", 2.0),
        ("toolexec_fleet_unreported", 1.0),
        ("toolexec_fleet_witnesses", 1.0),
        ("toolexec_fleet_disputed{host=\"host-a\"}", 0.0),
        ("toolexec_fleet_disputed{host=\"host-b\"}", 1.0),
        ("toolexec_fleet_beat_age_seconds{host=\"host-a\"}", 0.5),
        ("toolexec_fleet_beat_age_seconds{host=\"host-b\"}", 31.0),
        ("toolexec_fleet_database_seconds", 0.002),
        ("toolexec_fleet_start_seconds_count", 1.0),
        ("toolexec_fleet_start_seconds_bucket{le=\"0.001\"}", 0.0),
        ("toolexec_fleet_start_seconds_bucket{le=\"0.002\"}", 1.0),
        ("toolexec_log_entries", 42.0),
    ] {
        assert!((value(&text, sample) - expected).abs() < 1e-9, "{sample}: {text}");
    }
    // Only hosts of the list have a time series.
    assert!(!text.contains("host-y") && !text.contains("host-z"), "{text}");
    assert_eq!(text.matches("# EOF\n").count(), 1);
    // A gate that gives no figures leaves the last ones.
    metrics.fleet_status(false, None);
    let text = metrics.render();
    assert!(value(&text, "toolexec_fleet_ready") < 0.5);
    assert!((value(&text, "toolexec_fleet_queued") - 5.0).abs() < 1e-9);
}

#[test]
fn a_host_without_a_fleet_has_no_metrics_of_one() {
    let metrics = metrics_with_values();
    metrics.fleet_status(true, Some(&FleetGauges::default()));
    metrics.fleet_start_took(Duration::from_secs(1));
    assert!(!metrics.render().contains("toolexec_fleet"), "{}", metrics.render());
}

#[test]
fn replaced_policy_is_not_rendered() {
    let metrics = metrics_with_values();
    let text = Policy::shipped_text("embedded").unwrap().replace("name: embedded", "name: another");
    metrics.policy(&Policy::parse(text.as_bytes(), "test").unwrap());
    let rendered = metrics.render();
    assert_eq!(rendered.matches("\ntoolexec_policy_loaded{").count(), 1, "{rendered}");
    assert!(rendered.contains("{name=\"another\",sha256="), "{rendered}");
}

#[test]
fn prometheus_parser_accepts_the_text() {
    let skip = |why: &str| skip::skip("prometheus_parser_accepts_the_text", why);
    let Some(python) = std::env::var_os("TOOLEXEC_PYTHON").filter(|it| Path::new(it).exists())
    else {
        return skip("TOOLEXEC_PYTHON names no oracle; tests/prepare installs it");
    };
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracles/openmetrics.py");
    let judge = |text: &str| {
        let mut command = Command::new(&python);
        command.arg(&oracle).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let text = fleet_metrics().render();
    let output = judge(&text);
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    let samples = String::from_utf8(output.stdout).unwrap();
    assert_eq!(samples.lines().count(), text.lines().filter(|it| !it.starts_with('#')).count());
    assert!(samples.contains("toolexec_outcomes_total outcome=exit_nonzero 2\n"), "{samples}");
    assert!(!judge(&text.replace("# EOF\n", "")).status.success(), "half a text is none");
}

#[test]
fn concurrent_counts_are_complete() {
    let metrics = Arc::new(Metrics::new(UtcTime::from_unix(0)));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let metrics = Arc::clone(&metrics);
            thread::spawn(move || {
                for _ in 0..1000 {
                    metrics.record_published(Outcome::Ok);
                    metrics.step_took(TimedStep::Whole, Duration::from_millis(1));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|one| one.join().unwrap());
    let text = metrics.render();
    assert!((value(&text, "toolexec_outcomes_total{outcome=\"ok\"}") - 8000.0).abs() < 0.5);
    assert!((value(&text, "toolexec_step_seconds_count{step=\"whole\"}") - 8000.0).abs() < 0.5);
}

#[test]
fn file_is_written_after_a_change_and_at_most_once_per_interval() {
    let directory = MetricsTestDir::new("metrics-file");
    let path = directory.at("toolexec.prom");
    let metrics = metrics_with_values();
    // Longer than a pause of this process between the steps below.
    let mut file = MetricsFile::new(path.clone(), Duration::from_secs(3));
    file.write_if_due(&metrics).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), metrics.render());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(file.due(&metrics), None, "nothing changed: no wake-up is due");

    metrics.log_entries(42);
    assert_eq!(file.due(&metrics), None, "set to what it was");
    metrics.log_entries(43);
    let due = file.due(&metrics).unwrap();
    assert!(due > Instant::now(), "too soon after the last");
    file.write_if_due(&metrics).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("toolexec_log_entries 42\n"));
    thread::sleep(due.saturating_duration_since(Instant::now()));
    file.write_if_due(&metrics).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("toolexec_log_entries 43\n"));
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 1, "no draft is left");

    metrics.log_entries(44);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(file.write(&metrics).is_err());
    assert!(file.due(&metrics).is_none_or(|due| due > Instant::now()), "tried again later");
}

fn http_exchange(path: &Path, question: &[u8]) -> String {
    let mut stream = UnixStream::connect(path).unwrap();
    // The server may have closed the connection of an ignored client, before or after the end of
    // its question.
    stream.write_all(question).unwrap_or_default();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap_or_default();
    answer
}

const HTTP_REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn socket_serves_metrics_and_slow_clients_do_not_block() {
    let directory = MetricsTestDir::new("metrics-socket");
    let path = directory.at("metrics.sock");
    let metrics = Arc::new(metrics_with_values());
    let socket = MetricsSocket::listen(&path, Arc::clone(&metrics)).unwrap();
    let answer = http_exchange(&path, HTTP_REQUEST);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    assert_eq!(body, metrics.render());
    assert!(http_exchange(&path, b"HEAD / HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
    assert!(http_exchange(&path, b"POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));

    // Clients that send nothing, never end the request, or do not read.
    let silent = UnixStream::connect(&path).unwrap();
    let begun = Instant::now();
    assert!(http_exchange(&path, HTTP_REQUEST).starts_with("HTTP/1.1 200 "));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(silent);
    assert_eq!(http_exchange(&path, &vec![b'a'; 1 << 20][..100_000]), "");
    assert!(http_exchange(&path, HTTP_REQUEST).starts_with("HTTP/1.1 200 "));

    let curl = Command::new("curl")
        .args(["-s", "--unix-socket", path.to_str().unwrap(), "http://x/metrics"])
        .output();
    match curl {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), metrics.render()),
        Err(error) => skip::skip("metrics by curl", &error.to_string()),
    }

    assert!(MetricsSocket::listen(&path, Arc::clone(&metrics)).is_err(), "the path is in use");
    drop(socket);
    assert!(!path.exists());
}

#[test]
fn stale_socket_is_replaced_and_other_files_are_not() {
    let directory = MetricsTestDir::new("metrics-left");
    let path = directory.at("metrics.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let socket = MetricsSocket::listen(&path, Arc::new(metrics_with_values())).unwrap();
    assert!(http_exchange(&path, HTTP_REQUEST).starts_with("HTTP/1.1 200 "));
    drop(socket);
    let file = directory.at("a-file");
    fs::write(&file, "mine").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(MetricsSocket::listen(&file, Arc::new(metrics_with_values())).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}
