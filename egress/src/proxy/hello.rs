//! Reads the first message of TLS, only for the server name. Pure; never panics. A ClientHello may
//! span several records and arrive in any pieces. The bytes are refused unless they are exactly one
//! ClientHello with at most one plain name: no other parser may find another name in them.

/// The longest ClientHello in bytes. Those with post-quantum keys have about 2,000.
const HELLO_BYTES_MAX: usize = 16 * 1024;

const CHANGE_CIPHER_RECORD: u8 = 20;
const HANDSHAKE_RECORD: u8 = 22;
const DATA_RECORD: u8 = 23;
const RECORD_BYTES_MAX: usize = 16 * 1024;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
/// Encrypted ClientHello, and its drafts back to the one that encrypts only the name.
const HIDDEN: [u16; 7] = [0xfe0d, 0xfe0c, 0xfe0b, 0xfe0a, 0xfe09, 0xfe08, 0xffce];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HelloState {
    /// A valid beginning.
    Unfinished,
    /// A whole ClientHello. Bytes after its last record are ignored.
    Complete(ClientHello),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientHello {
    /// The server name, in lower case and without a trailing dot.
    pub(super) name: Option<String>,
    /// In bytes, to the end of its last record.
    pub(super) length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HelloParseError {
    NotTls,
    /// TLS, but cut, doubled, too big, or with other content.
    Malformed,
    /// The real name is encrypted.
    HiddenName,
}

pub(super) fn read(bytes: &[u8]) -> Result<HelloState, HelloParseError> {
    let mut message = Vec::new();
    let mut records = HelloReader(bytes);
    let mut first = true;
    loop {
        let Some(fragment) = record(&mut records, first)? else {
            return Ok(HelloState::Unfinished);
        };
        message.extend_from_slice(fragment);
        first = false;
        match complete(&message)? {
            Some(body) => {
                let length = bytes.len() - records.0.len();
                return server_name(body)
                    .map(|name| HelloState::Complete(ClientHello { name, length }));
            }
            None if message.len() > HELLO_BYTES_MAX => return Err(HelloParseError::Malformed),
            None => {}
        }
    }
}

/// Another ClientHello may follow records that an honest client sends meanwhile and the host
/// discards: the compatibility mark for middleboxes (ChangeCipherSpec), and early data whose keys
/// the host rejected.
pub(super) fn read_second(bytes: &[u8]) -> Result<HelloState, HelloParseError> {
    let mut rest = HelloReader(bytes);
    while matches!(rest.0.first(), Some(&(CHANGE_CIPHER_RECORD | DATA_RECORD))) {
        if rest.take(3).and_then(|_| rest.counted(2)).is_none() {
            return Ok(HelloState::Unfinished);
        }
    }
    let before = bytes.len() - rest.0.len();
    Ok(match read(rest.0)? {
        HelloState::Unfinished => HelloState::Unfinished,
        HelloState::Complete(ClientHello { name, length }) => {
            HelloState::Complete(ClientHello { name, length: before + length })
        }
    })
}

/// Returns an error as soon as the beginning of the next record is wrong.
fn record<'a>(
    records: &mut HelloReader<'a>,
    first: bool,
) -> Result<Option<&'a [u8]>, HelloParseError> {
    let wrong = if first { HelloParseError::NotTls } else { HelloParseError::Malformed };
    let known = records.0;
    let good = known.first().is_none_or(|it| *it == HANDSHAKE_RECORD)
        && known.get(1).is_none_or(|it| *it == 3)
        && known.get(2).is_none_or(|it| *it <= 4);
    if !good {
        return Err(wrong);
    }
    let Some(&[_, _, _, high, low]) = known.first_chunk::<5>() else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length == 0 || length > RECORD_BYTES_MAX {
        return Err(wrong);
    }
    let Some(fragment) = known.get(5..5 + length) else { return Ok(None) };
    records.0 = &known[5 + length..];
    Ok(Some(fragment))
}

fn complete(message: &[u8]) -> Result<Option<&[u8]>, HelloParseError> {
    if message.first().is_some_and(|it| *it != CLIENT_HELLO) {
        return Err(HelloParseError::Malformed);
    }
    let mut fields = HelloReader(message.get(1..).unwrap_or_default());
    let Some(length) = fields.number(3) else { return Ok(None) };
    if length > HELLO_BYTES_MAX || fields.0.len() > length {
        return Err(HelloParseError::Malformed);
    }
    Ok((fields.0.len() == length).then_some(fields.0))
}

fn server_name(body: &[u8]) -> Result<Option<String>, HelloParseError> {
    let mut fields = HelloReader(body);
    let extensions = (|| {
        fields.take(2 + 32)?;
        fields.counted(1).filter(|session| session.len() <= 32)?;
        fields.counted(2)?;
        fields.counted(1)?;
        if fields.0.is_empty() { Some(&[][..]) } else { fields.counted(2) }
    })();
    let mut extensions = HelloReader(extensions.ok_or(HelloParseError::Malformed)?);
    if !fields.0.is_empty() {
        return Err(HelloParseError::Malformed);
    }
    let mut name = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2).and_then(|it| u16::try_from(it).ok());
        let (Some(kind), Some(content)) = (kind, extensions.counted(2)) else {
            return Err(HelloParseError::Malformed);
        };
        if HIDDEN.contains(&kind) {
            return Err(HelloParseError::HiddenName);
        }
        if kind == SERVER_NAME {
            let one = only_name(content).filter(|_| name.is_none());
            name = Some(one.ok_or(HelloParseError::Malformed)?);
        }
    }
    Ok(name)
}

fn only_name(content: &[u8]) -> Option<String> {
    let mut outer = HelloReader(content);
    let mut list = HelloReader(outer.counted(2)?);
    let kind = list.number(1)?;
    let name = list.counted(2)?;
    let alone = outer.0.is_empty() && list.0.is_empty() && kind == 0;
    let plain = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    let name = std::str::from_utf8(name).ok()?;
    (alone && plain).then(|| super::rules::normalize_name(name))
}

/// The remaining bytes of a sequence of fields.
pub(super) struct HelloReader<'a>(pub(super) &'a [u8]);

impl<'a> HelloReader<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self, width: usize) -> Option<usize> {
        let bytes = self.take(width)?;
        Some(bytes.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
    }

    /// Reads bytes that are preceded by their length.
    pub(super) fn counted(&mut self, width: usize) -> Option<&'a [u8]> {
        let length = self.number(width)?;
        self.take(length)
    }
}

#[cfg(test)]
#[path = "hello_tests.rs"]
mod tests;
