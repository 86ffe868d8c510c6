//! Ports for programs that are given a port before they listen.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports below those that the kernel gives to connections and to port 0, so that nothing else gets
/// one between this call and the start of the program.
const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;
/// The ports of one process, before those of the next one begin.
const PER_PROCESS: u32 = 16;

static CALLS: AtomicU32 = AtomicU32::new(0);

/// Returns a port of the loopback interface without a listener.
///
/// # Panics
/// Panics if every port of the range is in use.
#[must_use]
pub fn unused_port() -> u16 {
    let begin = std::process::id().wrapping_mul(PER_PROCESS);
    for _ in 0..COUNT {
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(FIRST + begin.wrapping_add(call) % COUNT).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("every port from {FIRST} to {} is in use", FIRST + COUNT);
}
