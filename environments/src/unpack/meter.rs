//! Counts what an image has unpacked to so far. The streams count their bytes here, so a limit ends
//! an unpacking in the middle of a file.

use std::cell::Cell;

use super::limits::UnpackLimits;
use crate::error::UnpackError;
use crate::fault::ExceededLimit;

/// Below this number of unpacked bytes, their ratio to the packed ones does not matter.
const RATIO_FREE_BYTES: u64 = 64 * 1024 * 1024;

/// The counts of one image.
pub(crate) struct UnpackMeter {
    limits: UnpackLimits,
    entries: Cell<u64>,
    packed: Cell<u64>,
    unpacked: Cell<u64>,
    /// Bytes of files, once for each hard link to them.
    linked: Cell<u64>,
}

impl UnpackMeter {
    pub(crate) fn new(limits: &UnpackLimits) -> Self {
        let [entries, packed, unpacked, linked] = [0; 4].map(Cell::new);
        Self { limits: *limits, entries, packed, unpacked, linked }
    }

    pub(crate) fn limits(&self) -> &UnpackLimits {
        &self.limits
    }

    pub(super) fn unpacked(&self) -> u64 {
        self.unpacked.get()
    }

    pub(crate) fn count_entry(&self) -> Result<(), UnpackError> {
        let entries = add(&self.entries, 1);
        check(entries, self.limits.entries_max, ExceededLimit::Entries)
    }

    pub(super) fn count_packed(&self, bytes: u64) {
        add(&self.packed, bytes);
    }

    pub(super) fn count_unpacked(&self, bytes: u64) -> Result<(), UnpackError> {
        let unpacked = add(&self.unpacked, bytes);
        self.check_bytes()?;
        if unpacked <= RATIO_FREE_BYTES {
            return Ok(());
        }
        let ratio_max = self.limits.ratio_max;
        match unpacked > self.packed.get().saturating_mul(ratio_max) {
            true => Err(exceeded(ExceededLimit::Ratio, ratio_max)),
            false => Ok(()),
        }
    }

    pub(super) fn count_linked(&self, bytes: u64) -> Result<(), UnpackError> {
        add(&self.linked, bytes);
        self.check_bytes()
    }

    fn check_bytes(&self) -> Result<(), UnpackError> {
        let bytes = self.unpacked.get().saturating_add(self.linked.get());
        check(bytes, self.limits.bytes_max, ExceededLimit::Bytes)
    }
}

fn add(count: &Cell<u64>, more: u64) -> u64 {
    let sum = count.get().saturating_add(more);
    count.set(sum);
    sum
}

fn check(count: u64, most: u64, limit: ExceededLimit) -> Result<(), UnpackError> {
    match count > most {
        true => Err(exceeded(limit, most)),
        false => Ok(()),
    }
}

fn exceeded(limit: ExceededLimit, most: u64) -> UnpackError {
    UnpackError::Limit { object: "the image".to_owned(), limit, most }
}
