//! The request to the guest: the tool's arguments, environment and limits.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::fields::{MessageFields, put_bytes, put_u32};

const MAGIC: &[u8; 4] = b"TXR1";

/// The most bytes of a request. A socket holds them, so that sending never waits for the guest.
const REQUEST_BYTES_MAX: usize = 128 * 1024;

/// One request. Without arguments the guest starts no tool: it is a probe.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GuestRequest {
    /// The most bytes of `/out`.
    pub out_bytes: u64,
    /// The most files and directories of `/out`.
    pub out_inodes: u64,
    /// The most processes and threads of the tool.
    pub pids: u64,
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
}

impl GuestRequest {
    /// Returns the bytes of the request, or `None` if they exceed 128 KiB.
    #[must_use]
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut payload = Vec::new();
        for number in [self.out_bytes, self.out_inodes, self.pids] {
            payload.extend_from_slice(&number.to_le_bytes());
        }
        put_u32(&mut payload, self.argv.len())?;
        put_u32(&mut payload, self.env.len())?;
        for argument in &self.argv {
            put_bytes(&mut payload, argument.as_bytes())?;
        }
        for (name, value) in &self.env {
            put_bytes(&mut payload, name.as_bytes())?;
            put_bytes(&mut payload, value.as_bytes())?;
        }
        let mut request = MAGIC.to_vec();
        put_bytes(&mut request, &payload)?;
        (request.len() <= REQUEST_BYTES_MAX).then_some(request)
    }

    /// Reads a request.
    ///
    /// # Errors
    /// If the source ends early, or its bytes are not a request.
    pub fn read_from(from: &mut impl Read) -> io::Result<Self> {
        let (mut magic, mut length) = ([0; 4], [0; 4]);
        from.read_exact(&mut magic)?;
        from.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if &magic != MAGIC || length > REQUEST_BYTES_MAX {
            return Err(not_a_request());
        }
        let mut payload = vec![0; length];
        from.read_exact(&mut payload)?;
        Self::decode(&payload).ok_or_else(not_a_request)
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        let mut fields = MessageFields(payload);
        let (out_bytes, out_inodes, pids) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let (arguments, variables) = (fields.u32()?, fields.u32()?);
        let mut request = Self { out_bytes, out_inodes, pids, ..Self::default() };
        for _ in 0..arguments {
            request.argv.push(os_string(fields.bytes()?));
        }
        for _ in 0..variables {
            request.env.push((os_string(fields.bytes()?), os_string(fields.bytes()?)));
        }
        fields.is_empty().then_some(request)
    }
}

fn os_string(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

fn not_a_request() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the bytes are not a request")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> GuestRequest {
        GuestRequest {
            out_bytes: 1 << 26,
            out_inodes: 1000,
            pids: 64,
            argv: vec!["/usr/bin/python3".into(), "".into(), OsString::from_vec(vec![0xff])],
            env: vec![("PATH".into(), "/usr/bin".into()), ("EMPTY".into(), "".into())],
        }
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let bytes = request().encode().unwrap();
        assert_eq!(GuestRequest::read_from(&mut bytes.as_slice()).unwrap(), request());
    }

    #[test]
    fn a_cut_request_is_refused() {
        let bytes = request().encode().unwrap();
        for end in 0..bytes.len() {
            assert!(GuestRequest::read_from(&mut &bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_large_request_is_not_sent() {
        let argv = vec!["x".repeat(REQUEST_BYTES_MAX).into()];
        assert_eq!(GuestRequest { argv, ..request() }.encode(), None);
    }
}
