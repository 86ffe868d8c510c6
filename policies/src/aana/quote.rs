//! Values in the notation of upstream's messages, which is Python's. A message must never be as
//! long as the value that it quotes, nor contain a character that a terminal would interpret.

use model::escape_line;
use serde_json::Value;

const SHOWN_MAX: usize = 80;

pub(super) fn quoted(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    cut(out)
}

pub(super) fn quoted_list(names: &[&str]) -> String {
    let mut out = String::new();
    for (number, name) in names.iter().enumerate() {
        if number == SHOWN_MAX {
            out.push_str(", …");
            break;
        }
        out.push_str(if number == 0 { "" } else { ", " });
        let mut name_out = String::new();
        text(name, &mut name_out);
        out.push_str(&cut(name_out));
    }
    out
}

fn cut(shown: String) -> String {
    match shown.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    }
}

/// Writes a value and stops after the part that will be shown.
fn write(value: &Value, out: &mut String) {
    if out.len() > SHOWN_MAX * 4 {
        return;
    }
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(it) => text(it, out),
        Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().take(SHOWN_MAX).enumerate() {
                out.push_str(if number == 0 { "" } else { ", " });
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (number, (name, item)) in members.iter().take(SHOWN_MAX).enumerate() {
                out.push_str(if number == 0 { "" } else { ", " });
                text(name, out);
                out.push_str(": ");
                write(item, out);
            }
            out.push('}');
        }
    }
}

fn text(text: &str, out: &mut String) {
    let end = text.char_indices().nth(SHOWN_MAX).map_or(text.len(), |(at, _)| at);
    let text = text[..end].replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    match quote {
        '\'' => out.push_str(&escape_line(&text.replace('\'', "\\'"))),
        _ => out.push_str(&escape_line(&text)),
    }
    out.push(quote);
}
