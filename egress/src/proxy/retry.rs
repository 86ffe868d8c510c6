//! Reads a host's first TLS message, only to detect that it asks for another ClientHello (RFC 8446,
//! 4.1.4): until one is accepted, another in plain text may still change the host name. Pure; never
//! panics.

use super::hello::HelloReader;

/// The most bytes that are examined. At most the 43rd is needed, after a few alerts.
pub(super) const BEGINNING_BYTES_MAX: usize = 1024;

const ALERT_RECORD: u8 = 21;
const HANDSHAKE_RECORD: u8 = 22;
const SERVER_HELLO: usize = 2;
/// The `random` of a ServerHello that is a HelloRetryRequest.
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerHelloKind {
    /// A valid beginning.
    Unfinished,
    /// The host has accepted the ClientHello.
    Accepted,
    /// The host asks for another one.
    Retry,
    /// Not an answer to a ClientHello.
    Unknown,
}

pub(super) fn read(bytes: &[u8]) -> ServerHelloKind {
    let mut rest = HelloReader(bytes);
    let mut message = Vec::new();
    loop {
        let known = rest.0;
        let kind = match known.first() {
            None => return unfinished(bytes),
            Some(kind) if known.get(1).is_none_or(|it| *it == 3) => *kind,
            Some(_) => return ServerHelloKind::Unknown,
        };
        let Some(length) = rest.take(3).and_then(|_| rest.number(2)) else {
            return unfinished(bytes);
        };
        let fragment = &rest.0[..length.min(rest.0.len())];
        match kind {
            HANDSHAKE_RECORD if length > 0 => message.extend_from_slice(fragment),
            // A warning may come first, but not in the middle of a message.
            ALERT_RECORD if message.is_empty() => {}
            _ => return ServerHelloKind::Unknown,
        }
        if let Some(word) = classify(&message) {
            return word;
        }
        if rest.take(length).is_none() {
            return unfinished(bytes);
        }
    }
}

fn unfinished(bytes: &[u8]) -> ServerHelloKind {
    if bytes.len() < BEGINNING_BYTES_MAX {
        ServerHelloKind::Unfinished
    } else {
        ServerHelloKind::Unknown
    }
}

/// Returns none until the beginning of the message determines its kind.
fn classify(message: &[u8]) -> Option<ServerHelloKind> {
    let mut fields = HelloReader(message);
    if fields.number(1)? != SERVER_HELLO {
        return Some(ServerHelloKind::Unknown);
    }
    fields.take(3 + 2)?;
    Some(if fields.take(RETRY.len())? == RETRY {
        ServerHelloKind::Retry
    } else {
        ServerHelloKind::Accepted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_hello(random: [u8; 32], most: usize) -> Vec<u8> {
        let message = [&[2, 0, 0, 34, 3, 3][..], &random].concat();
        let record = |part: &[u8]| {
            let length = u8::try_from(part.len()).expect("short");
            [&[22, 3, 3, 0, length][..], part].concat()
        };
        message.chunks(most).flat_map(record).collect()
    }

    #[test]
    fn a_retry_request_is_distinguished_from_an_answer_in_any_pieces() {
        for most in [1, 7, 255] {
            for (random, word) in
                [(RETRY, ServerHelloKind::Retry), ([7; 32], ServerHelloKind::Accepted)]
            {
                let whole = [&[21, 3, 3, 0, 2, 1, 112][..], &server_hello(random, most)].concat();
                for cut in 0..whole.len() {
                    assert_eq!(read(&whole[..cut]), ServerHelloKind::Unfinished, "{most} {cut}");
                }
                assert_eq!(read(&whole), word, "{most}");
            }
        }
    }

    #[test]
    fn what_answers_no_hello_is_unknown() {
        let hello_request = [22, 3, 3, 0, 4, 0, 0, 0, 0];
        let split_by_alert = [22, 3, 3, 0, 1, 2, 21, 3, 3, 0, 2, 1, 0];
        let warnings = [21, 3, 3, 0, 2, 1, 112].repeat(BEGINNING_BYTES_MAX / 7 + 1);
        let wrong = [
            b"HTTP/1.1 400".as_slice(),
            &hello_request,
            &split_by_alert,
            &[22, 3, 3, 0, 0],
            &warnings,
        ];
        for bytes in wrong {
            assert_eq!(read(bytes), ServerHelloKind::Unknown, "{bytes:?}");
        }
    }
}
