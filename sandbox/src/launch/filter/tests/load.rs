//! Compares the load time of the programs with that of the same rules as one long row of
//! comparisons. `cargo test -p sandbox trees_load -- --nocapture` prints the times of one run.

use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::sys;

const ROUNDS: usize = 60;

type Instructions = Vec<libc::sock_filter>;

/// Builds one comparison and one return for each call whose answer differs from the rest.
fn row(calls: &[(u32, u32)], rest: u32) -> Instructions {
    let plain = |code, k| libc::sock_filter { code, jt: 0, jf: 0, k };
    let arch = super::super::tree::ARCH;
    let mut program = vec![
        plain(0x20, 4),
        libc::sock_filter { code: 0x15, jt: 1, jf: 0, k: arch },
        plain(0x06, libc::SECCOMP_RET_KILL_PROCESS),
        plain(0x20, 0),
    ];
    for (call, answer) in calls {
        program.push(libc::sock_filter { code: 0x15, jt: 0, jf: 1, k: *call });
        program.push(plain(0x06, *answer));
    }
    program.push(plain(0x06, rest));
    program
}

/// Loads these in order in a fresh thread. Returns the time of the last one.
fn last_of(programs: &[&[libc::sock_filter]]) -> Duration {
    thread::scope(|scope| {
        let loaded = scope.spawn(|| {
            nix::sys::prctl::set_no_new_privs().unwrap();
            let mut took = Duration::ZERO;
            for program in programs {
                let begin = Instant::now();
                sys::load_seccomp(program).unwrap();
                took = begin.elapsed();
            }
            took
        });
        loaded.join().unwrap()
    })
}

#[test]
fn trees_load_faster_than_rows() {
    let policy = policy();
    let base = policy.rules(Profile::Base, MemoryWatch::Kernel, FilterAccess::Nothing);
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    for (call, rule) in &base {
        match rule {
            CallRule::Deny(_) => refused.push((*call, libc::SECCOMP_RET_ERRNO | 1)),
            CallRule::Allow | CallRule::Only { .. } => {
                allowed.push((*call, libc::SECCOMP_RET_ALLOW))
            }
        }
    }
    let allow_row = row(&allowed, libc::SECCOMP_RET_ERRNO | 38);
    let refuse_row = row(&refused, libc::SECCOMP_RET_ALLOW);
    let empty = row(&[], libc::SECCOMP_RET_ALLOW);
    let (outer, last) = (
        policy.outer(),
        policy.last(
            Profile::Of(Language::Python),
            MemoryWatch::Kernel,
            FilterAccess::Nothing,
            DenialMode::ByListener,
        ),
    );
    let word = ProbeToken::new(1);
    let (outer, last) = (outer.with_token(word), last.with_token(word));
    let cases: [(&str, Vec<&[libc::sock_filter]>); 6] = [
        ("nothing but the architecture", vec![&empty]),
        ("outer", vec![&outer]),
        ("last, outer inherited", vec![&outer, &last]),
        ("last alone", vec![&last]),
        ("allowlist as a row", vec![&allow_row]),
        ("refusals as a row, after it", vec![&allow_row, &refuse_row]),
    ];
    // The shortest of all rounds: on a busy host most loads may be interrupted, but not all.
    let mut shortest = [Duration::MAX; 6];
    for _ in 0..ROUNDS {
        for (took, (_, programs)) in shortest.iter_mut().zip(&cases) {
            *took = last_of(programs).min(*took);
        }
    }
    let mut times = Vec::new();
    for (took, (name, programs)) in shortest.iter().zip(&cases) {
        let (len, us) = (programs[programs.len() - 1].len(), took.as_secs_f64() * 1e6);
        println!("{name:32} {len:4} instructions  min {us:6.1} us");
        times.push(us);
    }
    let begin = Instant::now();
    let again = super::policy();
    println!("reading the texts {:?}", begin.elapsed());
    let begin = Instant::now();
    drop(again.outer());
    println!("compiling outer {:?}", begin.elapsed());
    // One sixth on an idle machine.
    let (trees, rows) = (times[1] + times[2], times[4] + times[5]);
    assert!(trees < rows / 2.0, "{trees} us against {rows} us");
}
