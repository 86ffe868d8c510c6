//! The cost of AIS for one request: reading a bundle of seven artifacts, judging it, and the
//! canonical form alone. The figures are valid only for the machine that measured them.
//!
//! `cargo bench -p policies --bench ais`

#![allow(clippy::unwrap_used, reason = "a bench that cannot prepare its case must stop")]

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../tests/ais/scene.rs"]
mod scene;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use policies::ais::{AisBundle, GuardInput, canonical, judge};
use scene::{AisScene, trust};

fn costs(criterion: &mut Criterion) {
    let scene = AisScene::good();
    let signed = scene.signed();
    let bytes = signed.to_string().into_bytes();
    let bundle = AisBundle::read(&bytes).unwrap();
    let trust = trust(&scene.trust);
    let case = GuardInput {
        bundle: &bundle,
        trust: &trust,
        rules: &scene.rules,
        request: Some(&scene.request),
        supply: &scene.environment,
        now: scene.now,
        nonce_used: &|_| false,
    };
    assert!(judge(&case).refusal().is_none());
    criterion.bench_function("read a bundle", |it| it.iter(|| AisBundle::read(black_box(&bytes))));
    criterion
        .bench_function("judge it", |it| it.iter(|| judge(black_box(&case)).refusal().is_none()));
    criterion.bench_function("canonical form", |it| it.iter(|| canonical(black_box(&signed))));
}

criterion_group!(benches, costs);
criterion_main!(benches);
