//! `subscriptions/listen` with `taskIds`, before the library reads it. The library drops the field,
//! so these requests get a method of our own. Every other message passes unchanged.

use std::io;

use rmcp::model::{ConstString, SubscriptionsListenRequestMethod};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

pub(super) const LISTEN: &str = SubscriptionsListenRequestMethod::VALUE;
/// The method of a request that subscribes to tasks, as the library passes it on.
pub(super) const TASK_LISTEN: &str = "toolexec/subscriptions/listen";
/// Limit of a request that subscribes to tasks. A longer one is left to the library.
pub(super) const LISTEN_BYTES_MAX: usize = 64 << 10;

/// Part of the method that an escaped `/` leaves as it is. Most messages are not parsed twice.
const LISTEN_WORD: &[u8] = b"listen";

/// Returns the message with our method if it subscribes to tasks.
pub(super) fn renamed(message: &[u8]) -> Option<Vec<u8>> {
    if !message.windows(LISTEN_WORD.len()).any(|word| word == LISTEN_WORD) {
        return None;
    }
    let mut message: Value = serde_json::from_slice(message).ok()?;
    message.pointer("/params/notifications/taskIds")?;
    let method = message.get_mut("method").filter(|method| **method == LISTEN)?;
    *method = TASK_LISTEN.into();
    serde_json::to_vec(&message).ok()
}

/// Copies the messages of a client, one a line, until its end.
pub(super) async fn copy_messages(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    let mut is_long = false;
    loop {
        let read = from.fill_buf().await?;
        if read.is_empty() {
            return to.write_all(&line).await;
        }
        let part = read.split_inclusive(|byte| *byte == b'\n').next().unwrap_or(read);
        let (size, is_end) = (part.len(), part.ends_with(b"\n"));
        line.extend_from_slice(part);
        from.consume(size);
        if is_end || line.len() > LISTEN_BYTES_MAX {
            // The rest of a long line is not a message.
            let is_short = is_end && !is_long && line.len() <= LISTEN_BYTES_MAX;
            if let Some(mut renamed) = is_short.then(|| renamed(&line)).flatten() {
                renamed.push(b'\n');
                line = renamed;
            }
            to.write_all(&line).await?;
            line.clear();
            is_long = !is_end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBSCRIBES: &str =
        r#"{"method":"subscriptions/listen","params":{"notifications":{"taskIds":["a"]}}}"#;

    async fn copied(text: &str) -> String {
        let mut to = Vec::new();
        copy_messages(text.as_bytes(), &mut to).await.unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn only_a_subscription_to_tasks_is_renamed() {
        let found: Value =
            serde_json::from_slice(&renamed(SUBSCRIBES.as_bytes()).unwrap()).unwrap();
        let mut expected: Value = serde_json::from_str(SUBSCRIBES).unwrap();
        expected["method"] = TASK_LISTEN.into();
        assert_eq!(found, expected);
        let escaped = SUBSCRIBES.replace('/', "\\/");
        assert!(renamed(escaped.as_bytes()).is_some(), "{escaped}");
        for other in [
            SUBSCRIBES.replace("taskIds", "resourceSubscriptions"),
            SUBSCRIBES.replace("subscriptions/listen", "tools/listen"),
            SUBSCRIBES.replace("}}}", "}}"),
            format!("[{SUBSCRIBES}]"),
        ] {
            assert_eq!(renamed(other.as_bytes()), None, "{other}");
        }
    }

    #[tokio::test]
    async fn other_lines_and_long_lines_are_copied_as_they_are() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(3 * LISTEN_BYTES_MAX));
        let spaced = SUBSCRIBES.replace(':', " : ");
        let padded = |size| format!("{}{SUBSCRIBES}\n", " ".repeat(size));
        for text in [
            String::new(),
            "\n\n".to_owned(),
            format!("{long}\n{{}}\n"),
            // The end of a long line would be a subscription by itself.
            padded(LISTEN_BYTES_MAX),
            padded(2 * LISTEN_BYTES_MAX),
            format!("{}\nno end", spaced.replace("taskIds", "others")),
        ] {
            assert_eq!(copied(&text).await, text);
        }
        let copied = copied(&format!("{long}\n{spaced}\n{long}\n")).await;
        let lines: Vec<_> = copied.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].contains(TASK_LISTEN), "{}", lines[1]);
        assert_eq!([lines[0], lines[2]], [long.as_str(); 2]);
    }
}
