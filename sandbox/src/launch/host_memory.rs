//! The free memory of the host: the last safeguard if no control group counts a run's memory. A
//! tool can make the kernel hold more (locks, mappings) than the sampler sees; the host's figure
//! misses nothing but includes all other programs. It must end a run only if the host is almost out
//! of memory and has lost, since the start, more than the run's limit plus its sampled usage.

use std::fs;
use std::io;

/// A host is almost out of memory below this fraction (one in 16) of its total.
const LOW_MEMORY_FRACTION: u64 = 16;

/// `MemTotal` and `MemAvailable` at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostMemory {
    total_bytes: u64,
    available_bytes: u64,
}

impl HostMemory {
    pub(super) fn now() -> io::Result<Self> {
        let text = fs::read_to_string("/proc/meminfo")?;
        let missing = "/proc/meminfo: MemTotal or MemAvailable is missing";
        Self::of(&text).ok_or_else(|| io::Error::other(missing))
    }

    /// Parses proc_meminfo(5).
    fn of(text: &str) -> Option<Self> {
        let bytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
        };
        Some(Self { total_bytes: bytes("MemTotal")?, available_bytes: bytes("MemAvailable")? })
    }

    /// Returns whether a run must end that began at `self`; `seen` is sampled, `most` its limit.
    pub(super) fn must_end(self, now: Self, seen: u64, most: u64) -> bool {
        let gone = self.available_bytes.saturating_sub(now.available_bytes);
        now.available_bytes < now.total_bytes / LOW_MEMORY_FRACTION
            && gone > seen.saturating_add(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn with(available: u64) -> HostMemory {
        HostMemory { total_bytes: 16 * GIB, available_bytes: available * GIB / 4 }
    }

    #[test]
    fn only_a_host_almost_out_of_memory_ends_a_run() {
        // In quarters of a GiB: from 40 to 20, to 4 (the last that is not too little) and to 3.
        let lost = |now| with(40).must_end(with(now), GIB / 4, GIB / 4);
        assert_eq!([20, 4, 3].map(lost), [false, false, true]);
        // A host with little memory from the start; then with the run's sampled usage and limit.
        assert!(!with(3).must_end(with(2), GIB / 4, GIB / 4));
        assert!(!with(40).must_end(with(3), 9 * GIB, GIB));
        assert!(!with(40).must_end(with(3), u64::MAX, u64::MAX));
    }

    #[test]
    fn a_machine_is_read_by_name() {
        let text = "MemTotal:       4 kB\nMemFree:  9 kB\nMemAvailable:   3 kB\n";
        assert_eq!(
            HostMemory::of(text),
            Some(HostMemory { total_bytes: 4096, available_bytes: 3072 })
        );
        assert_eq!(HostMemory::of("MemTotal: 4 kB\n"), None);
        assert!(HostMemory::now().is_ok());
    }
}
