//! Text that poses as more than output: turns of a chat with the reader, or a tool request. A
//! report must never excuse these, because programs act on the marks themselves.

use std::ops::Range;

use super::tokens::is_quote;
use super::window::{LiteralCheck, window_after, window_before};

/// The literals, and the check of the text around them.
pub(super) const CHECKS: [(LiteralCheck, &[&str]); 5] = [
    (
        always,
        &[
            "<|im_start|>",
            "<|im_end|>",
            "<|system|>",
            "<|user|>",
            "<|assistant|>",
            "<|endoftext|>",
            "<|begin_of_text|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eot_id|>",
            "<<SYS>>",
            "<</SYS>>",
            "<start_of_turn>",
            "<end_of_turn>",
            "<system-reminder>",
            "<function_calls>",
            "<tool_call>",
            "<tool_use>",
        ],
    ),
    (upper_case, &["[INST]", "[/INST]"]),
    (heading, &["### Instruction", "### System:", "### Human:", "### Assistant:", "### User:"]),
    (role, &["\"role\"", "'role'", "\\\"role\\\""]),
    (tool_request, &["request_type"]),
];

const WINDOW_BYTES: usize = 128;

fn always(_line: &str, at: Range<usize>) -> Option<Range<usize>> {
    Some(at)
}

/// Matches only upper case, because package managers print `[inst]`.
fn upper_case(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    line.get(at.clone()).is_some_and(|mark| mark.contains("INST]")).then_some(at)
}

/// Matches `### Instruction:` at the start of the line.
fn heading(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    let first = line.bytes().take(at.start).all(|byte| byte.is_ascii_whitespace());
    let ends = line.get(at.start..at.end)?.ends_with(':') || {
        let after = window_after(line, at.end, WINDOW_BYTES);
        let after = after.strip_prefix(['s', 'S']).unwrap_or(after);
        after.trim_start().starts_with(':')
    };
    (first && ends).then_some(at)
}

/// Matches a chat message as JSON: a role that can give orders, and content.
fn role(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    let mark = |c: char| c.is_whitespace() || is_quote(c) || c == '\\';
    let after = window_after(line, at.end, WINDOW_BYTES);
    let value = after.trim_start_matches(mark).strip_prefix(':')?.trim_start_matches(mark);
    let orders = ["system", "assistant", "developer"]
        .iter()
        .any(|role| value.strip_prefix(role).is_some_and(|rest| rest.starts_with(mark)));
    let content = |text: &str| text.contains("content");
    (orders && (content(after) || content(window_before(line, at.start, WINDOW_BYTES))))
        .then_some(at)
}

/// Matches `request_type: tool_request`, as YAML or JSON.
fn tool_request(line: &str, at: Range<usize>) -> Option<Range<usize>> {
    let mark = |c: char| matches!(c, ' ' | '\t' | '"' | '\'' | '\\');
    let after = window_after(line, at.end, WINDOW_BYTES).trim_start_matches(mark);
    let value = after.strip_prefix(':')?.trim_start_matches(mark);
    value.starts_with("tool_request").then_some(at)
}
