//! The wire encoding of SSH (RFC 4251, section 5), as signatures, keys and revocation lists use it.
//! A reader never reads past the end of its input. It must be finished, so that no bytes remain
//! that another reader could interpret differently.

#[derive(Clone, Copy)]
pub(crate) struct WireReader<'a>(&'a [u8]);

/// Fewer bytes than announced, or more than understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WireFormatError;

impl<'a> WireReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn finish(&self) -> Result<(), WireFormatError> {
        if self.is_empty() { Ok(()) } else { Err(WireFormatError) }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], WireFormatError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(WireFormatError)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireFormatError> {
        self.take(N)?.try_into().map_err(|_| WireFormatError)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireFormatError> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireFormatError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, WireFormatError> {
        self.array().map(u64::from_be_bytes)
    }

    /// Reads a `string`: its length in four bytes, then the bytes.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], WireFormatError> {
        let length = usize::try_from(self.u32()?).map_err(|_| WireFormatError)?;
        self.take(length)
    }

    /// Reads a `string` that is UTF-8 without a NUL, at which C programs would stop.
    pub(crate) fn text(&mut self) -> Result<&'a str, WireFormatError> {
        let text = std::str::from_utf8(self.string()?).map_err(|_| WireFormatError)?;
        if text.contains('\0') { Err(WireFormatError) } else { Ok(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::{WireFormatError, WireReader};

    #[test]
    fn what_is_announced_must_be_there() {
        let mut wire = WireReader::new(b"\0\0\0\x02ab\0\0\0\x03ab");
        assert_eq!(wire.text(), Ok("ab"));
        assert_eq!(wire.finish(), Err(WireFormatError));
        assert_eq!(wire.string(), Err(WireFormatError));
        assert_eq!(WireReader::new(b"\xff\xff\xff\xff").string(), Err(WireFormatError));
        assert_eq!(WireReader::new(b"\0\0\0").u32(), Err(WireFormatError));
        assert_eq!(WireReader::new(b"\0\0\0\x02a\0").text(), Err(WireFormatError));
        assert_eq!(WireReader::new(b"").finish(), Ok(()));
    }
}
