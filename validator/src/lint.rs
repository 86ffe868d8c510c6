//! Checks any file for `toolexec lint`. It must never yield a request: the lint proves nothing.

use model::UtcTime;

use crate::REQUEST_BYTES_MAX;
use crate::check_context::{CheckContext, ProseRules};
use crate::code::Code;
use crate::document::{self, RESULT_FRONT_MATTER_MAX};
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::request_check;
use crate::result;
use crate::standing;
use crate::text;
use crate::violation::{Severity, Violation};

model::closed_set! {
    /// The kind that a file declares.
    #[derive(Hash)]
    pub enum DocumentKind {
        /// A tool request, by `request_type` or a name beginning with `TR-`.
        Request = "request",
        /// A tool result, by `result_type` or a name beginning with `TS-`.
        Result = "result",
        /// A standing approval, by `request_type` or a name beginning with `SA-`.
        Standing = "standing approval",
        /// Neither; it is checked as a request.
        Unknown = "unknown",
    }
}

/// The requirement on the approval fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ApprovalRequirement {
    /// The approval fields must be filled in.
    Approved,
    /// A missing or empty approval field is only a warning.
    DraftOnly,
}

/// Checks a file as the kind that it declares, and returns every violation in order of position.
#[must_use]
pub fn lint(
    bytes: &[u8],
    file_name: &str,
    expect: ApprovalRequirement,
    now: UtcTime,
) -> (DocumentKind, Vec<Violation>) {
    let kind = kind(bytes, file_name);
    if kind == DocumentKind::Result {
        return (kind, result::check_result(bytes, file_name));
    }
    if bytes.len() > REQUEST_BYTES_MAX {
        let bytes = bytes.len();
        let message = format!("file: {bytes} bytes; the limit is {REQUEST_BYTES_MAX} bytes");
        return (kind, vec![Violation::error(Code::TextTooLarge, message)]);
    }
    let context = CheckContext {
        file_name,
        file_name_severity: Severity::Warning,
        approval_severity: match expect {
            ApprovalRequirement::Approved => Severity::Error,
            ApprovalRequirement::DraftOnly => Severity::Warning,
        },
        now,
        prose_rules: ProseRules::Enforced,
    };
    match kind {
        DocumentKind::Standing => (kind, standing::read(bytes, &context).0),
        _ => (kind, request_check::read(bytes, &context).violations),
    }
}

fn kind(bytes: &[u8], file_name: &str) -> DocumentKind {
    let by_name = match file_name {
        name if name.starts_with("TR-") => DocumentKind::Request,
        name if name.starts_with("TS-") => DocumentKind::Result,
        name if name.starts_with("SA-") => DocumentKind::Standing,
        _ => DocumentKind::Unknown,
    };
    if bytes.len() > result::RESULT_BYTES_MAX {
        return by_name;
    }
    let mut unread = Report::default();
    let text = text::decode(bytes, &mut unread);
    let Some(yaml) = document::front_matter_source(&text) else { return by_name };
    // A key is present only if it is written out or escaped, so most files need no second reading.
    let may_have = |key: &str| yaml.contains('\\') || yaml.contains(key);
    let (request, result) = ("request_type", "result_type");
    let decided = match by_name {
        DocumentKind::Request => !may_have(result),
        DocumentKind::Result => !may_have(request),
        // The name decides: a standing approval has the key of requests.
        DocumentKind::Standing => true,
        DocumentKind::Unknown => !may_have(request) && !may_have(result),
    };
    if decided {
        return by_name;
    }
    let front = document::read_front_matter(yaml, RESULT_FRONT_MATTER_MAX, &mut unread);
    let fields =
        front.as_ref().and_then(|node| FrontMatterFields::of(node, String::new(), &mut unread));
    match fields {
        Some(fields) if is_standing(&fields) => DocumentKind::Standing,
        Some(fields) if fields.peek(request).is_some() => DocumentKind::Request,
        Some(fields) if fields.peek(result).is_some() => DocumentKind::Result,
        _ => by_name,
    }
}

fn is_standing(fields: &FrontMatterFields<'_>) -> bool {
    let kind = fields.peek("request_type").and_then(|node| node.scalar());
    kind.is_some_and(|(text, _)| text == standing::REQUEST_TYPE)
}
