//! The stream of messages: each has a magic number, a kind, a length and a payload.

use super::fields::{MessageFields, put_bytes};
use super::message::GuestMessage;

const MAGIC: &[u8; 4] = b"TXS2";
const PAYLOAD_BYTES_MAX: usize = 4096;

model::closed_set! {
    /// The reason why the bytes of a guest are not messages.
    pub enum StatusFault {
        Magic = "magic": "The message does not begin with its magic number.",
        Length = "length": "The message is longer than 4096 bytes.",
        Content = "content": "The message has an unknown kind or another form.",
        Order = "order": "The message is not the next one.",
        Count = "count": "The guest sent too many messages.",
        Incomplete = "incomplete": "The last message is cut.",
    }
}

/// Bytes of a guest that may end within a message.
#[derive(Debug, Default)]
pub struct MessageStream {
    bytes: Vec<u8>,
}

impl MessageStream {
    /// Adds bytes of the guest.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next message, or `None` until its last byte is there.
    ///
    /// # Errors
    /// As soon as the bytes cannot begin a message.
    pub fn next_message(&mut self) -> Result<Option<GuestMessage>, StatusFault> {
        let mut fields = MessageFields(&self.bytes);
        let magic = fields.0.get(..MAGIC.len().min(fields.0.len())).unwrap_or_default();
        if !MAGIC.starts_with(magic) {
            return Err(StatusFault::Magic);
        }
        let header = (fields.take(MAGIC.len()), fields.u32(), fields.u32());
        let (Some(_), Some(kind), Some(length)) = header else { return Ok(None) };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > PAYLOAD_BYTES_MAX {
            return Err(StatusFault::Length);
        }
        let Some(payload) = fields.take(length) else { return Ok(None) };
        let message = GuestMessage::decode(kind, payload).ok_or(StatusFault::Content)?;
        self.bytes = fields.0.to_vec();
        Ok(Some(message))
    }

    /// Returns whether a message has begun.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        !self.bytes.is_empty()
    }
}

impl GuestMessage {
    /// Returns the bytes of the message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (kind, payload) = self.payload();
        let mut bytes = [*MAGIC, kind.to_le_bytes()].concat();
        // A payload is always shorter than the maximum.
        if put_bytes(&mut bytes, &payload).is_none() {
            bytes.clear();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{GuestToolEnd, GuestToolUsage};
    use super::*;

    fn messages() -> Vec<GuestMessage> {
        let usage =
            GuestToolUsage { pids_refused: 1, oom_kills: 2, out_full: true, output_bytes: 3 };
        vec![
            GuestMessage::Started { kernel: "6.1.0".to_owned() },
            GuestMessage::Ended(GuestToolEnd::Exited(5), usage),
            GuestMessage::Ended(GuestToolEnd::Signalled(9), GuestToolUsage::default()),
            GuestMessage::LeftOut { reason: model::RejectReason::Symlink, name: "a/b".to_owned() },
            GuestMessage::Written { entries: 3, left_out: 1 },
            GuestMessage::Failed { why: "mount: no".to_owned() },
        ]
    }

    fn one(bytes: &[u8]) -> Result<Option<GuestMessage>, StatusFault> {
        let mut stream = MessageStream::default();
        stream.push(bytes);
        stream.next_message()
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let bytes: Vec<u8> = messages().iter().flat_map(GuestMessage::encode).collect();
        let (mut stream, mut read) = (MessageStream::default(), Vec::new());
        for byte in bytes {
            stream.push(&[byte]);
            read.extend(stream.next_message().unwrap());
        }
        assert_eq!(read, messages());
        assert!(!stream.is_partial());
    }

    #[test]
    fn nonsense_is_refused_at_its_first_byte() {
        assert_eq!(one(b"X"), Err(StatusFault::Magic));
        assert_eq!(one(b"TXS"), Ok(None));
        assert_eq!(one(b"TXS1"), Err(StatusFault::Magic));
        assert_eq!(one(b"TXS2\x01\0\0\0\x01\x10\0\0"), Err(StatusFault::Length));
        assert_eq!(one(b"TXS2\x09\0\0\0\0\0\0\0"), Err(StatusFault::Content));
        assert_eq!(one(b"TXS2\x01\0\0\0\x01\0\0\0x"), Err(StatusFault::Content), "no length");
        let longer = b"TXS2\x01\0\0\0\x06\0\0\0\x01\0\0\0ab";
        assert_eq!(one(longer), Err(StatusFault::Content), "a byte too many");
    }

    #[test]
    fn an_impossible_end_is_refused() {
        let ended = |head: [u8; 3]| {
            let payload = [&head[..], &[0; 24]].concat();
            one(&[&b"TXS2\x02\0\0\0\x1b\0\0\0"[..], &payload].concat())
        };
        assert!(ended([0, 255, 1]).is_ok());
        for head in [[2, 0, 0], [1, 0, 0], [1, 65, 0], [0, 0, 2]] {
            assert_eq!(ended(head), Err(StatusFault::Content), "{head:?}");
        }
    }

    #[test]
    fn texts_have_no_control_characters() {
        let message = GuestMessage::Failed { why: "a\x1b[2Jb\nc\u{202e}".to_owned() };
        let read = one(&message.encode()).unwrap();
        assert_eq!(read, Some(GuestMessage::Failed { why: "a?[2Jb?c?".to_owned() }));
        let long = GuestMessage::Failed { why: "x".repeat(9999) };
        assert!(one(&long.encode()).unwrap().is_some());
    }
}
