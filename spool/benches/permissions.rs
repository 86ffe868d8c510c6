//! Measures the cost of `get` with a million permissions, or `GRANTS` of the environment:
//! `cargo bench -p spool --bench permissions`. Real answers of sixteen tools each make the trail in
//! memory (`/dev/shm`), where syncing is free. Then it is opened again and queried.

#![allow(clippy::unwrap_used, reason = "a bench that cannot run must stop")]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use policies::permissions::{
    AcceptedAnswer, AnswerData, AnsweredRequest, Author, InMemoryStore, OperationContext,
    PermissionAnswer, PermissionCalls, PermissionManager, PermissionSource, PermissionTerms,
    ToolAuthorizationState, ToolName,
};
use spool::PermissionStore;

const TOOLS: usize = 16;
const QUERIES: usize = 200_000;

fn main() {
    let grants = std::env::var("GRANTS").ok().and_then(|text| text.parse().ok());
    let sources = grants.unwrap_or(1_000_000) / TOOLS;
    let scratch = scratch(Path::new("/dev/shm"));
    let place = scratch.join("permissions");
    let before = Instant::now();
    let mut made = PermissionStore::open(&place, PermissionTerms::default()).unwrap();
    (0..sources).for_each(|number| grant(&mut made, number));
    println!("{} grants made by {sources} answers in {:.1?}", sources * TOOLS, before.elapsed());
    let resident = resident_mib();
    drop(made);
    let (mut durable, loaded) = open(&place);
    println!("loaded, as written: {loaded:.2?}; {} MiB of trail", size_mib(&place));
    durable.start_new_trail(&moment()).unwrap();
    drop(durable);
    let (mut durable, loaded) = open(&place);
    println!("loaded, begun anew: {loaded:.2?}; {} MiB of trail", size_mib(&place));
    println!("resident memory with it: {resident} MiB");
    let mut scoped = InMemoryStore::default();
    (0..sources).for_each(|number| grant(&mut scoped, number));
    println!("{:<34} {:>9} {:>9} {:>9}", "get", "p50", "p99", "max");
    row("Durable, one tool", &mut durable, sources, 1);
    row("Durable, sixteen tools at once", &mut durable, sources, TOOLS);
    row("Scoped, one tool", &mut scoped, sources, 1);
    drop(durable);
    fs::remove_dir_all(&scratch).unwrap();
    spending();
}

/// Creates a directory of this process. The store also writes beside its own directory.
fn scratch(parent: &Path) -> PathBuf {
    let scratch = parent.join(format!("toolexec-permissions-{}", std::process::id()));
    fs::create_dir(&scratch).unwrap();
    scratch
}

fn open(place: &Path) -> (PermissionStore, Duration) {
    let begun = Instant::now();
    let durable = PermissionStore::open(place, PermissionTerms::default()).unwrap();
    (durable, begun.elapsed())
}

fn size_mib(place: &Path) -> u64 {
    fs::metadata(place.join("trail.jsonl")).unwrap().len() >> 20
}

fn resident_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn source(number: usize) -> PermissionSource {
    PermissionSource {
        name: "support.agent".parse().unwrap(),
        subject: format!("workflow-execution-{number:08}").parse().unwrap(),
        accesscontrol: Some(format!("tenant:{}", number % 100).parse().unwrap()),
    }
}

fn moment() -> OperationContext {
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    let now = "2026-02-09T12:00:00Z".parse().unwrap();
    OperationContext { now, traceparent, by: Author::Program("bench".into()) }
}

fn calls(first: usize, count: usize) -> PermissionCalls {
    let mut calls = PermissionCalls::new();
    for at in first..first + count {
        let tool: ToolName = format!("toolexec.run.tool-{at:02}").parse().unwrap();
        calls.add(tool, Vec::new()).unwrap();
    }
    calls
}

fn grant<M: PermissionManager>(store: &mut M, number: usize) {
    let (source, calls, moment) = (source(number), calls(0, TOOLS), moment());
    let filed = store.add_request(&source, &calls, &moment, number as u64).unwrap();
    let ask = &filed.ask;
    let answers =
        AnsweredRequest { id: ask.id.clone(), sha256: ask.sha256, source: source.clone() };
    let granted = calls.iter().map(|(tool, _)| tool.clone()).collect();
    let data = AnswerData { granted, denied: Vec::new(), commentary: None };
    let answer =
        AcceptedAnswer::vouched_for(PermissionAnswer::new(answers, data, BTreeMap::new()), "bench");
    store.set(&source, &answer, &moment).unwrap();
}

/// Measures queries for scattered sources. Each query is prepared before the clock starts.
fn row<M: PermissionManager>(name: &str, store: &mut M, sources: usize, tools: usize) {
    let moment = moment();
    let mut times = Vec::with_capacity(QUERIES);
    let mut at = 1;
    for turn in 0..QUERIES {
        at = (at * 48_271 + turn) % sources;
        let (source, requested) = (source(at), calls(at % (TOOLS - tools + 1), tools));
        let begun = Instant::now();
        let found = store.get(&source, &requested, &moment).unwrap();
        let took = begun.elapsed();
        assert!(found.values().all(|it| *it == ToolAuthorizationState::Approved));
        black_box(found);
        times.push(took);
    }
    times.sort();
    let (p50, p99, max) = (times[QUERIES / 2], times[QUERIES * 99 / 100], times[QUERIES - 1]);
    println!("{name:<34} {p50:>9.2?} {p99:>9.2?} {max:>9.2?}");
}

/// Measures the cost of a change on the disk of the temporary directory.
fn spending() {
    let scratch = scratch(&std::env::temp_dir());
    let mut store =
        PermissionStore::open(&scratch.join("permissions"), PermissionTerms::default()).unwrap();
    let mut times: Vec<Duration> = (0..200)
        .map(|number| {
            let begun = Instant::now();
            grant(&mut store, number);
            begun.elapsed() / 2
        })
        .collect();
    times.sort();
    println!(
        "{:<34} {:>9.2?} {:>9.2?} {:>9.2?}",
        "one change, durable", times[100], times[198], times[199]
    );
    fs::remove_dir_all(&scratch).unwrap();
}
