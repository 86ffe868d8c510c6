//! The canonical form of Appendix A: the bytes that are signed. Readers must never disagree about
//! them, so a text that JSON readers understand differently is never accepted.

use serde_json::{Number, Value};
use validator::{JSON_INTEGER_MAX, JsonError, StrictJson};

/// The maximum size of a document for [`read_document`] in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;

/// Returns the canonical bytes of a value. Object names are in the order of their Unicode code
/// points. No blanks are written. Whole numbers are written as digits, others with the fewest
/// digits of the same binary64, as in ECMAScript and Go. Texts are written as Go's encoder does:
/// `<`, `>`, `&`, U+2028 and U+2029 as `\u` escapes.
///
/// The form differs from RFC 8785 in these escapes, and in the order of names beyond the Basic
/// Multilingual Plane.
#[must_use]
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write(value, &mut out);
    out.into_bytes()
}

/// Reads any JSON document for [`canonical`]. An object must not repeat a name. Numbers with a
/// fraction or an exponent may have any size. A whole number of 2^53 or more is refused, because
/// readers round it.
///
/// # Errors
/// Too many bytes, invalid JSON, a repeated name, over 128 levels, or a too large whole number.
pub fn read_document(bytes: &[u8]) -> Result<Value, JsonError> {
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(JsonError::TooLarge { bytes_max: DOCUMENT_BYTES_MAX });
    }
    let StrictJson(value) = serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        JsonError::Malformed { line: error.line().max(1), message }
    })?;
    match rounded(bytes) {
        Some(number) => Err(JsonError::NumberTooLarge(number)),
        None => Ok(value),
    }
}

/// Returns the first whole number of a JSON text beyond the range in which binary64 is exact.
fn rounded(text: &[u8]) -> Option<String> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte == b'"' {
            at = after_string(text, at + 1);
        } else if byte == b'-' || byte.is_ascii_digit() {
            let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let length = text[at..].iter().take_while(part).count();
            let token = String::from_utf8_lossy(&text[at..at + length]).into_owned();
            let whole = token.trim_start_matches('-');
            let small = || whole.parse::<u64>().is_ok_and(|size| size <= JSON_INTEGER_MAX);
            if whole.bytes().all(|byte| byte.is_ascii_digit()) && !small() {
                return Some(token);
            }
            at += length;
        } else {
            at += 1;
        }
    }
    None
}

fn after_string(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&digits(number)),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, out);
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            // The byte order of UTF-8 is that of code points. The map may be in insertion order.
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                separate(index, out);
                write_text(name, out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn digits(number: &Number) -> String {
    let float = match number.as_f64() {
        Some(float) if number.is_f64() => float,
        _ => return number.to_string(),
    };
    let size = float.abs();
    if size == 0.0 {
        // Also minus zero (RFC 8785, section 3.2.2.3).
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return format!("{float}");
    }
    let text = format!("{float:e}");
    if text.contains("e-") { text } else { text.replacen('e', "e+", 1) }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
