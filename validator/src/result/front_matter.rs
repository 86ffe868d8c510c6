//! A result's front matter: upstream's keys and values. Two keys on one fact must never differ.

use model::{RequestId, ResultId, Sha256, UtcTime, WithSpan, quote};

use crate::code::Code;
use crate::fields::FrontMatterFields;
use crate::network::NetworkAccess;
use crate::report::Report;
use crate::schema;
use crate::violation::Violation;

const DAY_SEC: i64 = 24 * 3600;

pub(super) fn check(fields: &FrontMatterFields<'_>, file_name: &str, report: &mut Report) {
    schema::document_type(fields, "result_type", "tool_result", report);
    schema::version(fields, report);
    let id = check_ids(fields, file_name, report);
    if let Some(text) = fields.text("created_utc", report)
        && let Some(created) = schema::timestamp("created_utc", text, report)
        && let Some(at) = id.as_ref().and_then(|id| time_of(&id.value))
        && (created.value.unix() - at.unix()).abs() > DAY_SEC
    {
        let message = "`created_utc`: more than a day from the time in `result_id`";
        report.error(Code::SchemaRequestId, created.span, message);
    }
    for key in ["executor", "backend"] {
        fields.sentence(key, report);
    }
    check_numbers(fields, report);
    check_network(fields, report);
    for key in ["stdout_sha256", "stderr_sha256"] {
        if fields.peek(key).is_some() {
            digest(fields, key, report);
        }
    }
}

/// Returns the time in an id of either form.
fn time_of(id: &ResultId) -> Option<UtcTime> {
    const STAMP: std::ops::Range<usize> = 3..19;
    let stamp = id.as_str().get(STAMP)?;
    let read = |separator| UtcTime::from_compact(stamp, separator).ok();
    read(b'-').or_else(|| read(b'T'))
}

fn check_ids(
    fields: &FrontMatterFields<'_>,
    file_name: &str,
    report: &mut Report,
) -> Option<WithSpan<ResultId>> {
    let request = fields.text("request_id", report);
    let text = fields.text("result_id", report)?;
    let Ok(id) = text.value.parse::<ResultId>() else {
        let message = format!("`result_id`: {} is not a result id", quote(text.value));
        report.error(Code::SchemaRequestId, text.span, message);
        return None;
    };
    if file_name.strip_suffix(".md") != Some(id.as_str()) {
        let message = format!("{}: the file is not named after its id", quote(file_name));
        let row = Violation::warning(Code::SchemaFileName, message);
        report.add(row.hint(format!("name it {id}.md")));
    }
    // A refusal with REFUSED- has no valid request id to repeat.
    if let Some(request) = request
        && !id.subject().starts_with("REFUSED-")
        && (request.value.parse::<RequestId>().is_err() || request.value != id.subject())
    {
        let message = "`request_id`: differs from the one in `result_id`";
        report.error(Code::SchemaRequestId, request.span, message);
    }
    Some(WithSpan { value: id, span: text.span })
}

fn check_numbers(fields: &FrontMatterFields<'_>, report: &mut Report) {
    if let Some(code) = fields.number("exit_code", report)
        && code.value.parse::<i32>().is_err()
    {
        report_value(code, "`exit_code`: must be a whole number", report);
    }
    if let Some(seconds) = fields.number("runtime_sec", report)
        && !seconds.value.parse::<f64>().is_ok_and(|it| it.is_finite() && it >= 0.0)
    {
        report_value(seconds, "`runtime_sec`: must be a number of seconds, not negative", report);
    }
}

fn report_value(text: WithSpan<&str>, message: &str, report: &mut Report) {
    report.error(Code::FrontmatterValue, text.span, message);
}

fn check_network(fields: &FrontMatterFields<'_>, report: &mut Report) {
    let used = fields.text("network_used", report);
    if let Some(used) = used
        && NetworkAccess::named(used.value).is_none()
    {
        let message = format!("`network_used`: {} is not a valid value", quote(used.value));
        report.error_hint(Code::NetworkValue, used.span, message, "write none or allowlist");
    }
    if fields.peek("network_destinations").is_none() {
        return;
    }
    let destinations = fields.list("network_destinations", report).unwrap_or_default();
    for item in destinations {
        if let Some(text) = fields.text_of("network_destinations", item, report)
            && !is_destination(text.value)
        {
            let message = format!("`network_destinations`: {} is not a host", quote(text.value));
            let hint = "write `host` or `host:port`; no URL or path";
            report.error_hint(Code::NetworkHost, text.span, message, hint);
        }
    }
    if let Some(first) = destinations.first()
        && used.is_some_and(|used| used.value == "none")
    {
        let message = "`network_destinations`: hosts are listed although `network_used` is `none`";
        report.error(Code::NetworkAllowlistUnused, first.spot, message);
    }
}

/// Returns true for a host name or IP address with an optional port. Policy is not applied.
fn is_destination(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address with a port is in brackets.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let digits = |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && !port.starts_with('0');
    let label = |label: &str| {
        let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
        label.len() <= 63
            && edge(label.bytes().next())
            && edge(label.bytes().next_back())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let address = bare.unwrap_or(host).parse::<std::net::Ipv6Addr>().is_ok();
    let named = host.len() <= 253 && host.split('.').all(label);
    port.is_none_or(|port| digits(port) && port.parse::<u16>().is_ok()) && (address || named)
}

/// Returns the digest under this key; reports an invalid one.
pub(super) fn digest(
    fields: &FrontMatterFields<'_>,
    key: &str,
    report: &mut Report,
) -> Option<Sha256> {
    let node = fields.node(key, report)?;
    let digest = node.scalar().and_then(|(text, _)| text.parse().ok());
    if digest.is_none() {
        let message = format!("{}: not 64 hexadecimal digits", fields.name(key));
        report.error(Code::InputsHashFormat, node.spot, message);
    }
    digest
}
