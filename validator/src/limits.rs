//! The three resource limits: positive, and too small to overflow. Policy decides the maximum.

use std::fmt;

use model::{SourceSpan, WithSpan, quote};

use crate::code::Code;
use crate::document::{REQUEST_FRONT_MATTER_MAX, RequestDocument};
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::text;
use crate::violation::Violation;
use crate::yaml::ScalarKind;

/// One PiB in MiB: beyond any host, and far below overflow in bytes.
pub(crate) const MEMORY_MIB_MAX: u64 = 1 << 30;
/// One year.
pub(crate) const TIME_SEC_MAX: u64 = 366 * 24 * 3600;
pub(crate) const CORES_MAX: u32 = 65_536;

/// A number of processor cores in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CpuCores(u32);

impl CpuCores {
    /// Thousandths of a core; never zero.
    #[must_use]
    pub fn as_milli(self) -> u32 {
        self.0
    }

    /// Parses digits, optionally followed by a point and one to three more digits.
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 3 || whole.len() > 6 {
            return None;
        }
        let whole: u32 = whole.parse().ok()?;
        let thousandths: u32 = format!("{fraction:0<3}").parse().ok()?;
        let milli = whole.checked_mul(1000)?.checked_add(thousandths)?;
        (milli > 0 && whole <= CORES_MAX).then_some(Self(milli))
    }
}

impl fmt::Display for CpuCores {
    /// The shortest decimal: `2`, `0.5`, `1.25`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, thousandths) = (self.0 / 1000, self.0 % 1000);
        if thousandths == 0 {
            return write!(f, "{whole}");
        }
        let fraction = format!("{thousandths:03}");
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

pub(crate) struct RequestedLimits {
    pub(crate) cpu: Option<CpuCores>,
    pub(crate) memory_mib: Option<u64>,
    pub(crate) time_sec: Option<u64>,
}

impl RequestedLimits {
    pub(crate) fn read(fields: &FrontMatterFields<'_>, report: &mut Report) -> Self {
        Self {
            cpu: cpu(fields, report),
            memory_mib: whole(
                fields.number("memory_limit_mb", report),
                (Code::LimitsMemory, "`memory_limit_mb`: must be a positive whole number of MiB"),
                MEMORY_MIB_MAX,
                report,
            ),
            time_sec: whole(
                fields.number("time_limit_sec", report),
                (Code::LimitsTime, "`time_limit_sec`: must be a positive whole number of seconds"),
                TIME_SEC_MAX,
                report,
            ),
        }
    }
}

fn cpu(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<CpuCores> {
    let node = fields.node("cpu_limit", report)?;
    let Some((text, ScalarKind::Number | ScalarKind::Text)) = node.scalar() else {
        let message = "`cpu_limit`: must be a decimal number of cores";
        report.error(Code::FrontmatterType, node.spot, message);
        return None;
    };
    let cores = CpuCores::parse(text);
    if cores.is_none() {
        let message = format!("`cpu_limit`: {} is not a positive number of cores", quote(text));
        let hint = "write a number such as \"2\" or \"0.5\", with at most three decimals";
        report.error_hint(Code::LimitsCpu, node.spot, message, hint);
    }
    cores
}

fn whole(
    text: Option<WithSpan<&str>>,
    (code, form): (Code, &str),
    max: u64,
    report: &mut Report,
) -> Option<u64> {
    let text = text?;
    let digits = !text.value.starts_with('0') && text.value.bytes().all(|b| b.is_ascii_digit());
    let value = text.value.parse().ok().filter(|value| digits && *value <= max);
    if value.is_none() {
        let message = format!("{form} of at most {max}, not {}", quote(text.value));
        report.error(code, text.span, message);
    }
    value
}

/// The maximum that a policy grants for each limit. Public fields: plain numbers prove nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitCeilings {
    /// Thousandths of a core.
    pub cpu_milli: u64,
    /// MiB of memory.
    pub memory_mb: u64,
    /// Seconds of wall time.
    pub time_sec: u64,
}

/// Warns about each limit that equals its ceiling, because its need was probably not estimated.
#[must_use]
pub fn ceiling_warnings(bytes: &[u8], ceilings: LimitCeilings) -> Vec<Violation> {
    let mut unread = Report::default();
    let text = text::decode(bytes, &mut unread);
    let document = RequestDocument::read(&text, REQUEST_FRONT_MATTER_MAX, &mut unread);
    let Some(fields) = document
        .front_matter
        .as_ref()
        .and_then(|node| FrontMatterFields::of(node, String::new(), &mut unread))
    else {
        return Vec::new();
    };
    let limits = RequestedLimits::read(&fields, &mut unread);
    let mut report = Report::default();
    let mut warn_if_maximum = |key: &str, requested: Option<u64>, ceiling: u64| {
        if requested == Some(ceiling) {
            let spot = fields.peek(key).map_or(SourceSpan::WHOLE_FILE, |node| node.spot);
            let message = format!("`{key}`: equals the maximum of policy");
            let hint = "request what the tool needs";
            let row = Violation::warning(Code::LimitsCeiling, message).within(spot);
            report.add(row.hint(hint));
        }
    };
    warn_if_maximum("cpu_limit", limits.cpu.map(|cpu| cpu.as_milli().into()), ceilings.cpu_milli);
    warn_if_maximum("memory_limit_mb", limits.memory_mib, ceilings.memory_mb);
    warn_if_maximum("time_limit_sec", limits.time_sec, ceilings.time_sec);
    report.into_rows()
}
