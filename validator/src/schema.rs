//! The keys that identify a request and its approval: type, version, id, dates, people, language,
//! backend. A name in the text must never be taken for a verified approval.

use model::{Language, RequestId, UtcTime, WithSpan, alternatives, quote};

use crate::CLOCK_SKEW_SEC;
use crate::check_context::CheckContext;
use crate::code::Code;
use crate::confusable;
use crate::extension::STANDING;
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::request::{Backend, RequestedBy};
use crate::violation::{Severity, Violation};
use crate::yaml::{ScalarKind, YamlNode};

const DAY_SEC: i64 = 24 * 3600;

pub(crate) struct RequestIdentity {
    pub(crate) id: Option<RequestId>,
    pub(crate) created: Option<UtcTime>,
    pub(crate) approved: Option<UtcTime>,
    pub(crate) approved_by: Option<String>,
    pub(crate) requested_by: Option<RequestedBy>,
    pub(crate) purpose: Option<String>,
    pub(crate) language: Option<Language>,
    pub(crate) backend: Option<Backend>,
}

impl RequestIdentity {
    pub(crate) fn read(
        fields: &FrontMatterFields<'_>,
        context: &CheckContext<'_>,
        report: &mut Report,
    ) -> Self {
        document_type(fields, "request_type", "tool_request", report);
        version(fields, report);
        let id = request_id(fields, context, report);
        let created = fields.text("created_utc", report);
        let created = created.and_then(|text| timestamp("created_utc", text, report));
        let requested_by = requested_by(fields, report);
        let approved_by = approval(fields, "approved_by", context, report)
            .and_then(|text| fields.one_line("approved_by", text, report))
            .map(|text| {
                confusable::check_name("approved_by", text, report);
                text.value.to_owned()
            });
        let approved = approval(fields, "approved_utc", context, report)
            .and_then(|text| timestamp("approved_utc", text, report));
        // A standing approval is older than the requests that use it.
        let after = created.filter(|_| fields.peek(STANDING).is_none());
        check_id_date(id.as_ref(), created, report);
        check_approval_date(after, approved, context.now, report);
        Self {
            id: id.map(|id| id.value),
            created: created.map(|at| at.value),
            approved: approved.map(|at| at.value),
            approved_by,
            requested_by,
            purpose: fields.sentence("purpose", report).map(|text| text.value.to_owned()),
            language: language(fields, report),
            backend: backend(fields, report),
        }
    }
}

pub(crate) fn document_type(
    fields: &FrontMatterFields<'_>,
    key: &str,
    value: &str,
    report: &mut Report,
) {
    if let Some(text) = fields.text(key, report)
        && text.value != value
    {
        let message = format!("`{key}`: must be {value}, not {}", quote(text.value));
        report.error(Code::SchemaRequestType, text.span, message);
    }
}

pub(crate) fn version(fields: &FrontMatterFields<'_>, report: &mut Report) {
    let Some(node) = fields.node("schema_version", report) else { return };
    match node.scalar() {
        Some(("1", ScalarKind::Number | ScalarKind::Text)) => {}
        Some((_, ScalarKind::Number | ScalarKind::Text)) => {
            report.error(Code::SchemaVersion, node.spot, "`schema_version`: must be 1");
        }
        _ => report.error(Code::FrontmatterType, node.spot, "`schema_version`: must be 1"),
    }
}

fn request_id(
    fields: &FrontMatterFields<'_>,
    context: &CheckContext<'_>,
    report: &mut Report,
) -> Option<WithSpan<RequestId>> {
    let text = fields.text("request_id", report)?;
    let id: RequestId = match text.value.parse() {
        Ok(id) => id,
        Err(error) => {
            let message = format!("`request_id`: {} is {error}", quote(text.value));
            report.error(Code::SchemaRequestId, text.span, message);
            return None;
        }
    };
    if id.has_dot() {
        let message = format!("`request_id`: {} contains a `.`", quote(text.value));
        let hint = "write letters, digits, `_` and `-`; a `.` begins the names of its other files";
        report.error_hint(Code::SchemaRequestId, text.span, message, hint);
    }
    check_file_name(context, id.as_str(), report);
    Some(WithSpan { value: id, span: text.span })
}

pub(crate) fn check_file_name(context: &CheckContext<'_>, id: &str, report: &mut Report) {
    if context.file_name.strip_suffix(".md") == Some(id) {
        return;
    }
    let message = format!("{}: the file is not named after its id", quote(context.file_name));
    let row = match context.file_name_severity {
        Severity::Error => Violation::error(Code::SchemaFileName, message),
        Severity::Warning => Violation::warning(Code::SchemaFileName, message),
    };
    report.add(row.hint(format!("name it {id}.md")));
}

pub(crate) fn timestamp(
    key: &str,
    text: WithSpan<&str>,
    report: &mut Report,
) -> Option<WithSpan<UtcTime>> {
    match text.value.parse() {
        Ok(value) => Some(WithSpan { value, span: text.span }),
        Err(_) => {
            let message = format!("`{key}`: {} is not a real UTC time", quote(text.value));
            let hint = "write YYYY-MM-DDTHH:MM:SSZ";
            report.error_hint(Code::SchemaTimestamp, text.span, message, hint);
            None
        }
    }
}

fn check_id_date(
    id: Option<&WithSpan<RequestId>>,
    created: Option<WithSpan<UtcTime>>,
    report: &mut Report,
) {
    if let (Some(id), Some(created)) = (id, created)
        && (id.value.date().unix() - created.value.unix()).abs() > DAY_SEC
    {
        let message = "`request_id`: its date is more than a day from `created_utc`";
        report.error(Code::SchemaRequestId, id.span, message);
    }
}

/// Checks that the approval is neither before the request nor in the future.
fn check_approval_date(
    created: Option<WithSpan<UtcTime>>,
    approved: Option<WithSpan<UtcTime>>,
    now: UtcTime,
    report: &mut Report,
) {
    let Some(approved) = approved else { return };
    if let Some(created) = created
        && created.value.unix() > approved.value.unix() + CLOCK_SKEW_SEC
    {
        let message = "`approved_utc`: is before `created_utc`";
        report.error(Code::ApprovalDateOrder, approved.span, message);
    } else if approved.value.unix() > now.unix() + CLOCK_SKEW_SEC {
        let message = format!("`approved_utc`: is in the future; now {now}");
        report.error(Code::ApprovalDateOrder, approved.span, message);
    }
}

pub(crate) fn is_empty_approval(node: &YamlNode) -> bool {
    node.is_null() || node.scalar().is_some_and(|(text, _)| text.trim().is_empty())
}

/// Returns the text of an approval key, unless it is missing or empty.
pub(crate) fn approval<'n>(
    fields: &FrontMatterFields<'n>,
    key: &str,
    context: &CheckContext<'_>,
    report: &mut Report,
) -> Option<WithSpan<&'n str>> {
    let node = fields.peek(key);
    if !node.is_none_or(is_empty_approval) {
        return node.and_then(|node| fields.text_of(key, node, report));
    }
    let spot = node.map_or(fields.spot(), |node| node.spot);
    let message = format!("`{key}`: missing or empty; no person has approved this request");
    let row = match context.approval_severity {
        Severity::Error => Violation::error(Code::ApprovalMissing, message),
        Severity::Warning => Violation::warning(Code::ApprovalMissing, message),
    };
    let hint = "review the request, then fill in both lines, or let `toolexec approve` do it";
    report.add(row.within(spot).hint(hint));
    None
}

fn requested_by(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<RequestedBy> {
    let text = fields.text("requested_by", report)?;
    let requested_by = RequestedBy::named(text.value);
    if requested_by.is_none() {
        let message = format!("`requested_by`: {} is not a valid value", quote(text.value));
        let hint = format!("write {}", alternatives(RequestedBy::TEXTS));
        report.error_hint(Code::FrontmatterValue, text.span, message, hint);
    }
    requested_by
}

const SHELLS: [&str; 14] = [
    "shell_forbidden",
    "shell",
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "powershell",
    "pwsh",
    "cmd",
];

pub(crate) fn language(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<Language> {
    let text = fields.text("language", report)?;
    let language = Language::named(text.value);
    if language.is_none() {
        let lower = text.value.to_ascii_lowercase();
        let (code, what) = if SHELLS.contains(&lower.as_str()) {
            (Code::LanguageShell, "is a shell, and shells are forbidden")
        } else {
            (Code::LanguageUnknown, "is not a known language")
        };
        let message = format!("`language`: {} {what}", quote(text.value));
        let hint = format!("write {}", alternatives(Language::TEXTS));
        report.error_hint(code, text.span, message, hint);
    }
    language
}

fn backend(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<Backend> {
    fields.peek("backend")?;
    let text = fields.text("backend", report)?;
    let backend = Backend::named(text.value);
    if backend.is_none() {
        let message = format!("`backend`: {} is not a valid value", quote(text.value));
        let hint = format!("write {}, or remove the key", alternatives(Backend::TEXTS));
        report.error_hint(Code::BackendValue, text.span, message, hint);
    }
    backend
}
