//! The fields of messages: numbers in little-endian order, and texts after their length.

/// Takes fields from the beginning of a message.
pub(super) struct MessageFields<'a>(pub(super) &'a [u8]);

impl<'a> MessageFields<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.u32()?).ok()?;
        self.take(count)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

pub(super) fn put_u32(to: &mut Vec<u8>, value: usize) -> Option<()> {
    to.extend_from_slice(&u32::try_from(value).ok()?.to_le_bytes());
    Some(())
}

pub(super) fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    put_u32(to, bytes.len())?;
    to.extend_from_slice(bytes);
    Some(())
}
