//! The write quota of a server. Drafts use disk space before a person has read them, so a part of
//! the file system is left free. The quota must never decide whether a draft is valid.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::fstatvfs;

use crate::failure::Failure;

const MIB: u64 = 1 << 20;
/// Limit per server process.
const WRITTEN_BYTES_MAX: u64 = 256 * MIB;
/// Space that must stay free on the file system of `drafts/`.
const AVAILABLE_BYTES_MIN: u64 = 1024 * MIB;
/// The smallest allocation of a file; the same again for its directory entry and inode.
const BLOCK_BYTES: u64 = 4096;

#[derive(Default)]
pub(super) struct WriteQuota {
    written_bytes: AtomicU64,
}

impl WriteQuota {
    pub(super) fn check(&self, drafts: impl AsFd, bytes: u64) -> Result<(), Failure> {
        let found = fstatvfs(drafts);
        let found = found.map_err(|errno| {
            let help = "ask a person to check its file system";
            Failure::Message(format!("drafts/: {errno}; help: {help}"))
        })?;
        let available_bytes = found.f_bavail.saturating_mul(found.f_frsize);
        refusal(self.written_bytes.load(Ordering::Relaxed), bytes, available_bytes)
            .map_or(Ok(()), |refusal| Err(Failure::Message(refusal)))
    }

    pub(super) fn add_written(&self, bytes: u64) {
        // Relaxed suffices: one draft is written at a time.
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

pub(super) fn disk_usage(files: impl IntoIterator<Item = u64>) -> u64 {
    let of_one = |bytes: u64| {
        bytes.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES).saturating_add(BLOCK_BYTES)
    };
    files.into_iter().map(of_one).fold(0, u64::saturating_add)
}

fn refusal(written_bytes: u64, bytes: u64, available_bytes: u64) -> Option<String> {
    if written_bytes.saturating_add(bytes) > WRITTEN_BYTES_MAX {
        return Some(format!(
            "drafts/: this server has written {} MiB and may write no more than {} MiB; help: ask \
             a person to review the drafts and restart it",
            written_bytes / MIB,
            WRITTEN_BYTES_MAX / MIB
        ));
    }
    (available_bytes.saturating_sub(bytes) < AVAILABLE_BYTES_MIN).then(|| {
        format!(
            "drafts/: the file system has {} MiB available, and {} MiB are reserved; help: ask a \
             person to free space",
            available_bytes / MIB,
            AVAILABLE_BYTES_MIN / MIB
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_limits_written_bytes_and_keeps_space_free() {
        let plenty = u64::MAX;
        assert_eq!(refusal(0, WRITTEN_BYTES_MAX, plenty), None);
        for (written, bytes) in [(1, WRITTEN_BYTES_MAX), (WRITTEN_BYTES_MAX, 1), (1, plenty)] {
            assert!(refusal(written, bytes, plenty).unwrap().contains("no more than 256"));
        }
        assert_eq!(refusal(0, 5, AVAILABLE_BYTES_MIN + 5), None);
        for available in [AVAILABLE_BYTES_MIN + 4, 0] {
            assert!(refusal(0, 5, available).unwrap().contains("and 1024 MiB are reserved"));
        }
    }

    #[test]
    fn written_bytes_and_empty_files_count() {
        assert_eq!(disk_usage([0, 1, 4096, 4097]), 4096 * (1 + 2 + 2 + 3));
        let quota = WriteQuota::default();
        let drafts = std::fs::File::open("/proc").unwrap();
        quota.add_written(WRITTEN_BYTES_MAX);
        assert!(quota.check(&drafts, 1).unwrap_err().to_string().contains("256"));
        assert!(WriteQuota::default().check(&drafts, 1).unwrap_err().to_string().contains("1024"));
    }
}
