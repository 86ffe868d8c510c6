//! The lines of the gate: one query or one answer each, of bounded length.

use std::io::{self, ErrorKind};

use fleet::gate::{GATE_LINE_BYTES_MAX, GateAnswer, GateQuery};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// The longest reason in an answer, in characters.
const REASON_CHARS_MAX: usize = 4096;

/// Reads the next query. Returns `None` after the last one.
///
/// # Errors
/// The line is too long, has no line feed, or is not a query.
pub(super) async fn read_query(
    reader: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<GateQuery>> {
    let limit = u64::try_from(GATE_LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut line = Vec::new();
    reader.take(limit).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a whole line, or one too long"));
    }
    serde_json::from_slice(&line)
        .map(Some)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))
}

/// Returns the line of an answer, without the parts that would make it too long.
pub(super) fn answer_line(answer: GateAnswer) -> Vec<u8> {
    let answer = shortened(answer);
    let whole = line(&answer);
    if whole.len() <= GATE_LINE_BYTES_MAX {
        return whole;
    }
    // Only the maps of a very large fleet are so long.
    line(&match answer {
        GateAnswer::Ready(mut gauges) => {
            gauges.beat_age_sec.clear();
            gauges.disputed.clear();
            GateAnswer::Ready(gauges)
        }
        GateAnswer::Stopped { reason, mut gauges } => {
            gauges.beat_age_sec.clear();
            gauges.disputed.clear();
            GateAnswer::Stopped { reason, gauges }
        }
        other => other,
    })
}

/// Returns the answer with a reason of one bounded line.
fn shortened(answer: GateAnswer) -> GateAnswer {
    let short = |reason: String| -> String {
        model::escape_line(&reason).chars().take(REASON_CHARS_MAX).collect()
    };
    match answer {
        GateAnswer::Stopped { reason, gauges } => {
            GateAnswer::Stopped { reason: short(reason), gauges }
        }
        GateAnswer::Refused { reason } => GateAnswer::Refused { reason: short(reason) },
        GateAnswer::Undecided { reason } => GateAnswer::Undecided { reason: short(reason) },
        GateAnswer::Ready(_) | GateAnswer::Start => answer,
    }
}

/// Returns the JSON of an answer with a line feed. Without JSON the line is empty, which no client
/// takes for an answer.
fn line(answer: &GateAnswer) -> Vec<u8> {
    let mut line = serde_json::to_vec(answer).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fleet::gate::FleetGauges;

    use super::*;

    fn read(mut bytes: &[u8]) -> io::Result<Option<GateQuery>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read_query(&mut bytes))
    }

    #[test]
    fn a_query_is_one_line_of_json() {
        assert_eq!(read(b"\"status\"\n\"status\"\n").unwrap(), Some(GateQuery::Status));
        assert_eq!(read(b"").unwrap(), None);
        let start = br#"{"start":{"request":"TR-1","document_sha256":"00","standing":null}}"#;
        let mut line = start.to_vec();
        line.push(b'\n');
        assert!(matches!(read(&line).unwrap(), Some(GateQuery::Start(_))));
    }

    #[test]
    fn anything_else_is_an_error() {
        let long = vec![b' '; GATE_LINE_BYTES_MAX + 1];
        let keys = r#""request":"TR-1","document_sha256":"00","standing":null,"surplus":1"#;
        let unknown = format!("{{\"start\":{{{keys}}}}}\n").into_bytes();
        for bytes in [&b"\"status\""[..], b"\n", b"start\n", &long, &unknown] {
            assert!(read(bytes).is_err(), "{} bytes", bytes.len());
        }
    }

    #[test]
    fn an_answer_is_one_bounded_line() {
        let reason = format!("a\nb{}", "x".repeat(2 * GATE_LINE_BYTES_MAX));
        let line = answer_line(GateAnswer::Undecided { reason });
        assert!(line.len() < GATE_LINE_BYTES_MAX);
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        let hosts = (0..2000).map(|at| (format!("host-{at}-{}", "x".repeat(40)), 1.0));
        let beat_age_sec = BTreeMap::from_iter(hosts);
        let gauges = FleetGauges { beat_age_sec, queued: 7, ..FleetGauges::default() };
        let line = answer_line(GateAnswer::Ready(gauges));
        assert!(line.len() < GATE_LINE_BYTES_MAX);
        let read: GateAnswer = serde_json::from_slice(&line).unwrap();
        assert!(matches!(read, GateAnswer::Ready(gauges) if gauges.queued == 7));
    }
}
