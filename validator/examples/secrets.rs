//! Measures a scan for secrets: `cargo run --release -p validator --example secrets`. It must never
//! fail a build, because machines differ.
#![allow(dead_code, reason = "the tests use all of what this shares with them")]
#![allow(clippy::unwrap_used, reason = "a failing measurement may panic")]

#[path = "../tests/secrets/assigned.rs"]
mod assigned;
#[path = "../tests/secrets/form.rs"]
mod form;
#[path = "../tests/support/mod.rs"]
mod support;
#[path = "../tests/secrets/tokens.rs"]
mod tokens;

use std::hint::black_box;
use std::time::Instant;

use assigned::NOT_ASSIGNED;
use form::{FORMS, build};
use tokens::{BASE64, URL64, random};
use validator::{secret_kinds, withholding_code};

const REQUEST_BYTES: usize = 2400;
const HOSTILE_BYTES: usize = 256 * 1024;
const SHOWN: usize = 25;

/// Returns the mean time of one call in microseconds.
fn time(rounds: u32, mut call: impl FnMut()) -> f64 {
    call();
    let start = Instant::now();
    (0..rounds).for_each(|_| call());
    start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
}

fn hostile() -> Vec<String> {
    let all: String = secret_kinds().iter().map(|kind| kind.source).collect();
    let mut units: Vec<String> = FORMS.iter().map(|(_, pieces)| build(pieces, 1, -400)).collect();
    units.extend(FORMS.iter().map(|(_, pieces)| format!("z{} ", build(pieces, 1, 1))));
    units.extend(NOT_ASSIGNED.iter().map(|it| format!("{it} ")));
    units.extend([all, random(BASE64, 4096, 1), random(URL64, 4096, 1)]);
    for unit in [
        "a",
        "=",
        ":",
        "-",
        "_",
        ".",
        "x.y",
        "eyJ",
        "-eyJ",
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.",
        "://",
        "a://b:c@",
        "a://b:$c@d ",
        "bearer ",
        "bearer a.",
        "basic ",
        "basic YTpi ",
        "---BEGIN ",
        "auth",
        "auth=",
        "\"auth\":",
        "pwd",
        "pwd=",
        "pwd:a ",
        "pwd=aaaaaaa ",
        "token=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ",
        "key",
        "api_key",
        "token: $",
        "secret=\"",
        "pwd=(aaaaaaaaaaaaaaaaaaaaa",
        "pass=",
        "psk:",
        "sk-",
        "-us1",
        "JQQJ99",
        "AZDO",
        "+ASt",
        "sk-proj-",
        "T3BlbkFJ",
        "glpat-",
        "AAAAAAAAAAAAAAAAAAAAAAAA.AAAAAA.",
        "\\n",
        "%3D",
        "\u{301}",
        "password",
    ] {
        units.push(unit.to_owned());
    }
    units
}

fn main() {
    let request = support::valid().repeat(2);
    let request = &request[..REQUEST_BYTES];
    let whole = time(20_000, || {
        black_box(withholding_code(black_box(request)));
    });
    let lines = time(20_000, || {
        for line in black_box(request).lines() {
            black_box(withholding_code(line));
        }
    });
    println!("{whole:9.1} us  a request of {REQUEST_BYTES} bytes\n{lines:9.1} us  by lines");
    let mut slow: Vec<(f64, String)> = Vec::new();
    for unit in hostile() {
        let text = unit.repeat(HOSTILE_BYTES / unit.len() + 1);
        let each = time(20, || {
            black_box(withholding_code(black_box(&text)));
        });
        slow.push((each, unit.chars().take(60).collect()));
    }
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("of {} texts of 256 KiB the slowest:", slow.len());
    for (each, unit) in slow.iter().take(SHOWN) {
        println!("{each:9.1} us  {unit}");
    }
}
