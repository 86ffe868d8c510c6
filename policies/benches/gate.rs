//! The cost of the gate for one event: from bytes, as the command reads it, and as the daemon makes
//! it. The figures are valid only for the machine that measured them.
//!
//! `cargo bench -p policies --bench gate`

#![allow(clippy::unwrap_used, reason = "a bench that cannot prepare its case must stop")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use model::{Language, RequestId, Sha256, UtcTime};
use policies::aana::{
    AuthorizationState, Event, Fact, ProposedRun, RiskDomain, ToolCategory, gate_bytes,
};
use serde_json::Value;

const CASES: &str = include_str!("../tests/aana/contract_cases.json");

fn costs(criterion: &mut Criterion) {
    let now: UtcTime = "2026-11-22T14:40:00Z".parse().unwrap();
    let cases: Value = serde_json::from_str(CASES).unwrap();
    for name in ["safe_public_read_accept", "write_accept_confirmed"] {
        let cases = cases["cases"].as_array().unwrap();
        let case = cases.iter().find(|it| it["name"] == name).unwrap();
        let bytes = case["event"].to_string().into_bytes();
        criterion.bench_function(name, |it| it.iter(|| gate_bytes(black_box(&bytes), now)));
    }
    criterion.bench_function("no event", |it| it.iter(|| gate_bytes(black_box(b"{}"), now)));
    let id: RequestId = "TR-20260209-160501Z-python-stats".parse().unwrap();
    let sha256 = Sha256::of(b"text");
    let argv = ["python3", "/in/stats.py", "--out", "/out"].map(str::to_owned);
    let facts = [
        Fact::Approval { principal: "alice@example.org" },
        Fact::Approval { principal: "bob@example.org" },
        Fact::Policy { sha256 },
        Fact::Request { sha256 },
        Fact::Input { sha256 },
    ];
    let run = ProposedRun {
        request_id: &id,
        language: Language::Python,
        category: ToolCategory::Write,
        domain: RiskDomain::Research,
        state: AuthorizationState::Confirmed,
        argv: &argv,
        inputs: &[("stats.py", sha256)],
        facts: &facts,
        now,
    };
    assert!(Event::of(&run).gate().passes());
    criterion
        .bench_function("a request of ours", |it| it.iter(|| Event::of(black_box(&run)).gate()));
}

criterion_group!(benches, costs);
criterion_main!(benches);
