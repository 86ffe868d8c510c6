//! The wire encoding of SSH (RFC 4251, section 5), as signatures, keys and revocation lists use it.
//! A reader never reads past the end of its input. It must be finished, so that no bytes remain
//! that another reader could interpret differently.

/// The bytes that remain.
#[derive(Clone, Copy)]
pub(crate) struct Wire<'a>(&'a [u8]);

/// Fewer bytes than announced, or more than understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed;

impl<'a> Wire<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn finish(&self) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// Reads a `string`: its length in four bytes, then the bytes.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.u32()?).map_err(|_| Malformed)?;
        self.take(length)
    }

    /// Reads a `string` that is UTF-8 without a NUL, at which C programs would stop.
    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        let text = std::str::from_utf8(self.string()?).map_err(|_| Malformed)?;
        if text.contains('\0') { Err(Malformed) } else { Ok(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Malformed, Wire};

    #[test]
    fn what_is_announced_must_be_there() {
        let mut wire = Wire::new(b"\0\0\0\x02ab\0\0\0\x03ab");
        assert_eq!(wire.text(), Ok("ab"));
        assert_eq!(wire.finish(), Err(Malformed));
        assert_eq!(wire.string(), Err(Malformed));
        assert_eq!(Wire::new(b"\xff\xff\xff\xff").string(), Err(Malformed));
        assert_eq!(Wire::new(b"\0\0\0").u32(), Err(Malformed));
        assert_eq!(Wire::new(b"\0\0\0\x02a\0").text(), Err(Malformed));
        assert_eq!(Wire::new(b"").finish(), Ok(()));
    }
}
