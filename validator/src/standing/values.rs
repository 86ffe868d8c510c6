//! Single values of a standing approval.

use model::quote;

use crate::code::Code;
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::yaml::ScalarKind;

/// Reads a whole number of 1 to `max`.
pub(super) fn whole(
    fields: &FrontMatterFields<'_>,
    key: &str,
    max: u64,
    report: &mut Report,
) -> Option<u64> {
    let text = fields.number(key, report)?;
    let number = text.value.parse::<u64>().ok();
    let number = number.filter(|it| it.to_string() == text.value && (1..=max).contains(it));
    if number.is_none() {
        let shown = quote(text.value);
        let message = format!("{}: {shown} is not a number of 1 to {max}", fields.name(key));
        report.error(Code::StandingUses, text.span, message);
    }
    number
}

/// Reads `true` or `false`.
pub(super) fn flag(fields: &FrontMatterFields<'_>, key: &str, report: &mut Report) -> Option<bool> {
    let node = fields.node(key, report)?;
    match node.scalar() {
        Some(("true", ScalarKind::Bool)) => Some(true),
        Some(("false", ScalarKind::Bool)) => Some(false),
        _ => {
            let message = format!("{}: must be true or false", fields.name(key));
            report.error(Code::FrontmatterType, node.spot, message);
            None
        }
    }
}
