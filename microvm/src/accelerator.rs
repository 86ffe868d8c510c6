//! The accelerator of a guest, and the frequency of the time stamp counter that it sees.
//!
//! Under TCG the guest reads the host's counter, and cannot measure its frequency on a busy host.
//! Therefore the wrapper measures it. KVM gives the frequency to the guest itself.

use std::thread;
use std::time::{Duration, Instant};

use quanta::Clock;

model::closed_set! {
    /// The accelerator of a guest.
    pub enum GuestAccelerator {
        /// The processor's virtualisation.
        Kvm = "kvm",
        /// QEMU's translator. It is not a boundary that its authors defend.
        Tcg = "tcg",
    }
}

model::serialize_closed_set!(GuestAccelerator);

const MEASURED: Duration = Duration::from_millis(50);
const PAIRS: usize = 32;

/// A counter that seems to have this frequency may be a clock of nanoseconds in its place.
const NANOSECONDS_KHZ: u64 = 1_000_000;

/// Measures the counter's frequency. Returns `None` if this host's counter cannot be used.
pub(crate) fn counter_khz() -> Option<u64> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let clock = Clock::new();
    let (first_at, first) = closest_pair(&clock)?;
    thread::sleep(MEASURED);
    let (last_at, last) = closest_pair(&clock)?;
    frequency(last_at.saturating_duration_since(first_at), last.checked_sub(first)?)
}

/// Reads clock and counter together several times, and returns the pair that took least time.
fn closest_pair(clock: &Clock) -> Option<(Instant, u64)> {
    let pairs = (0..PAIRS).map(|_| {
        let before = Instant::now();
        let counter = clock.raw();
        (before.elapsed(), before, counter)
    });
    pairs.min_by_key(|(took, _, _)| *took).map(|(_, at, counter)| (at, counter))
}

fn frequency(elapsed: Duration, ticks: u64) -> Option<u64> {
    let khz = u128::from(ticks).saturating_mul(1_000_000).checked_div(elapsed.as_nanos())?;
    let khz = u64::try_from(khz).ok()?;
    let plausible = (100_000..20_000_000).contains(&khz);
    (plausible && khz.abs_diff(NANOSECONDS_KHZ) > NANOSECONDS_KHZ / 1000).then_some(khz)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skip::skip;

    #[test]
    fn the_frequency_is_ticks_for_each_millisecond() {
        let elapsed = Duration::from_millis(50);
        assert_eq!(frequency(elapsed, 130_000_000), Some(2_600_000));
        assert_eq!(frequency(elapsed, 50_000_010), None, "nanoseconds");
        assert_eq!(frequency(elapsed, 0), None);
        assert_eq!(frequency(Duration::ZERO, 1), None);
        assert_eq!(frequency(elapsed, u64::MAX), None);
    }

    #[test]
    fn two_measurements_agree() {
        let (Some(first), Some(second)) = (counter_khz(), counter_khz()) else {
            return skip("two_measurements_agree", "this host's counter cannot be used");
        };
        assert!(first.abs_diff(second) < first / 100, "{first} and {second}");
    }
}
