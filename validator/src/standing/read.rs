//! Reads a standing approval in the order of its text. It must never stop at the first violation.

use model::{EnvironmentReference, Language, SourceSpan, StandingId, UtcTime, WithSpan, quote};

use super::examples::{self, ReadExample};
use super::inputs::{self, ReadInput, may_be_code};
use super::key::StandingKey;
use super::model::{
    InputSlot, StandingApproval, StandingInput, StandingParameter, StandingTerms, TemplateWord,
    WordValue,
};
use super::parameters::{self, ReadParameter};
use super::values::{flag, whole};
use super::words::{self, ReadWord};
use crate::check_context::{CheckContext, ProseRules};
use crate::code::Code;
use crate::confusable;
use crate::declarations::Declarations;
use crate::document::{REQUEST_FRONT_MATTER_MAX, RequestDocument};
use crate::extension;
use crate::fields::FrontMatterFields;
use crate::limits::RequestedLimits;
use crate::network::Network;
use crate::outputs::{self, DeclaredOutput};
use crate::prose;
use crate::report::Report;
use crate::request::Constraint;
use crate::request_check::constraints;
use crate::risk::{RiskLevel, Sensitivity};
use crate::schema::{self, approval, timestamp};
use crate::sections::Sections;
use crate::text;
use crate::violation::{Severity, Violation};

/// The value of `request_type`.
pub(crate) const REQUEST_TYPE: &str = "standing_approval";
const COMMAND: &str = "Command";
const EFFECT: &str = "Widest Effect";
const SECTIONS: [&str; 2] = [COMMAND, EFFECT];
pub(super) const USES_MAX: u64 = 1_000_000;
pub(super) const BYTES_MAX: u64 = 1 << 40;

impl StandingApproval {
    /// Reads an approved document at this time. `file_name` is without directories.
    ///
    /// # Errors
    /// All violations, at least one of them an error.
    pub fn read(bytes: &[u8], file_name: &str, now: UtcTime) -> Result<Self, Vec<Violation>> {
        Self::read_by(bytes, (file_name, now), ProseRules::Enforced)
    }

    /// Reads a document that was admitted before. The rules about its prose grow stricter with every
    /// version, and do not end what a person has signed.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_recorded(
        bytes: &[u8],
        file_name: &str,
        now: UtcTime,
    ) -> Result<Self, Vec<Violation>> {
        Self::read_by(bytes, (file_name, now), ProseRules::Skipped)
    }

    /// Reads a document that may lack its approval, which is then only a warning. Returns all
    /// violations, and the document if none of them is an error.
    #[must_use]
    pub fn read_draft(
        bytes: &[u8],
        file_name: &str,
        now: UtcTime,
    ) -> (Vec<Violation>, Option<Self>) {
        let context = CheckContext {
            file_name,
            file_name_severity: Severity::Error,
            approval_severity: Severity::Warning,
            now,
            prose_rules: ProseRules::Enforced,
        };
        read(bytes, &context)
    }

    fn read_by(
        bytes: &[u8],
        (file_name, now): (&str, UtcTime),
        prose_rules: ProseRules,
    ) -> Result<Self, Vec<Violation>> {
        let context = CheckContext {
            file_name,
            file_name_severity: Severity::Error,
            approval_severity: Severity::Error,
            now,
            prose_rules,
        };
        let (violations, standing) = read(bytes, &context);
        standing.ok_or(violations)
    }
}

/// Reads the document. The standing approval is complete only if no violation is an error.
pub(crate) fn read(
    bytes: &[u8],
    context: &CheckContext<'_>,
) -> (Vec<Violation>, Option<StandingApproval>) {
    let mut report = Report::default();
    let text = text::decode(bytes, &mut report);
    let document = RequestDocument::read(&text, REQUEST_FRONT_MATTER_MAX, &mut report);
    if context.prose_rules == ProseRules::Enforced {
        prose::check_secrets(&text, &document, &mut report);
    }
    let mut front = None;
    if let Some(node) = &document.front_matter {
        if context.prose_rules == ProseRules::Enforced {
            prose::check_front_matter(node, &document.front_matter_lines, &mut report);
        }
        if let Some(fields) = FrontMatterFields::of(node, String::new(), &mut report) {
            front = Some(StandingFrontMatter::read(&fields, context, &mut report));
        }
    }
    let words = read_body(&document, context, &mut report);
    let terms = front.and_then(|front| front.complete(words, &mut report));
    let whole = terms.filter(|_| !report.failed());
    (report.into_rows(), whole.map(|terms| StandingApproval::new(bytes, terms)))
}

fn read_body(
    document: &RequestDocument<'_>,
    context: &CheckContext<'_>,
    report: &mut Report,
) -> Vec<ReadWord> {
    let mut sections = Sections::read(document, &SECTIONS, report);
    if context.prose_rules == ProseRules::Enforced {
        prose::check(&sections.prose, false, report);
        for section in sections.all.iter().filter(|section| section.title != COMMAND) {
            prose::check(&section.lines, false, report);
        }
        sections.check_page(document, &SECTIONS, &[COMMAND], report);
    }
    sections.refuse_html(&SECTIONS, report);
    sections.check(&SECTIONS, report);
    if let Some(section) = sections.get(EFFECT)
        && section.lines.iter().all(|line| line.text.trim().is_empty())
    {
        let message = format!("`## {EFFECT}`: says nothing");
        let hint = "say in words what the widest permitted run can do";
        report.error_hint(Code::StandingEffect, section.spot, message, hint);
    }
    sections.get(COMMAND).map_or_else(Vec::new, |section| words::read(section, report))
}

/// The front matter as far as it could be read.
struct StandingFrontMatter {
    id: Option<StandingId>,
    created: Option<UtcTime>,
    approved_by: Option<String>,
    approved: Option<UtcTime>,
    purpose: Option<String>,
    audience: Option<String>,
    agents: Option<Vec<String>>,
    subject: Option<String>,
    not_before: Option<WithSpan<UtcTime>>,
    not_after: Option<WithSpan<UtcTime>>,
    uses_max: Option<u64>,
    uses_per_hour_max: Option<u64>,
    language: Option<Language>,
    environment: Option<EnvironmentReference>,
    network: Option<Network>,
    limits: RequestedLimits,
    inputs_bytes_max: Option<u64>,
    runs_code_of_inputs: Option<bool>,
    inputs: Option<Vec<ReadInput>>,
    parameters: Option<Vec<ReadParameter>>,
    outputs: Declarations<DeclaredOutput>,
    constraints: Option<Vec<Constraint>>,
    risk: Option<WithSpan<RiskLevel>>,
    sensitivity: Option<Sensitivity>,
    examples: Option<Vec<ReadExample>>,
    spot: SourceSpan,
}

impl StandingFrontMatter {
    fn read(
        fields: &FrontMatterFields<'_>,
        context: &CheckContext<'_>,
        report: &mut Report,
    ) -> Self {
        fields.refuse_unknown(StandingKey::TEXTS, false, report);
        schema::document_type(fields, "request_type", REQUEST_TYPE, report);
        schema::version(fields, report);
        let text = |key: &str, report: &mut Report| {
            let text = fields.sentence(key, report)?;
            Some(text.value.to_owned())
        };
        let created = fields.text("created_utc", report);
        let created = created.and_then(|text| timestamp("created_utc", text, report));
        let approved_by = approval(fields, "approved_by", context, report)
            .and_then(|text| fields.one_line("approved_by", text, report));
        if let Some(name) = approved_by {
            confusable::check_name("approved_by", name, report);
        }
        let approved = approval(fields, "approved_utc", context, report)
            .and_then(|text| timestamp("approved_utc", text, report));
        let front = Self {
            id: id(fields, context, report),
            created: created.map(|at| at.value),
            approved_by: approved_by.map(|name| name.value.to_owned()),
            approved: approved.map(|at| at.value),
            purpose: text("purpose", report),
            audience: text("x-audience", report),
            agents: agents(fields, report),
            subject: subject(fields, report),
            not_before: time(fields, "not_before_utc", report),
            not_after: time(fields, "not_after_utc", report),
            uses_max: count(fields, "uses_max", report),
            uses_per_hour_max: count(fields, "uses_per_hour_max", report),
            language: schema::language(fields, report),
            environment: environment(fields, report),
            network: Network::read(fields, context.prose_rules, report),
            limits: RequestedLimits::read(fields, report),
            inputs_bytes_max: whole(fields, "inputs_bytes_max", BYTES_MAX, report),
            runs_code_of_inputs: flag(fields, "runs_code_of_inputs", report),
            inputs: inputs::read(fields, report),
            parameters: parameters::read(fields, report),
            outputs: outputs::read(fields, report),
            constraints: constraints(fields, report),
            risk: choose(fields, "risk", report),
            sensitivity: choose(fields, "sensitivity", report).map(|it| it.value),
            examples: examples::read(fields, report),
            spot: fields.spot(),
        };
        let fixed = front.inputs.as_deref().map(inputs::fixed_names);
        outputs::check_patch(fixed.as_deref(), &front.outputs, report);
        front
    }

    /// Checks what depends on several keys, and returns the terms if nothing is missing.
    fn complete(self, words: Vec<ReadWord>, report: &mut Report) -> Option<StandingTerms> {
        check_times(self.not_before, self.not_after, report);
        let (inputs, parameters) = (self.inputs?, self.parameters?);
        check_uses((self.uses_max?, self.uses_per_hour_max?), self.spot, report);
        // A part that could not be read would be reported as missing.
        if !report.failed() {
            check_names(&inputs, &parameters, &words, report);
            let run = (inputs.as_slice(), self.language?, self.risk?);
            check_code(run, self.runs_code_of_inputs?, &words, report);
        }
        let terms = StandingTerms {
            id: self.id?,
            created: self.created?,
            approved_by: self.approved_by,
            approved: self.approved,
            purpose: self.purpose?,
            audience: self.audience?,
            agents: self.agents?,
            subject: self.subject,
            not_before: self.not_before?.value,
            not_after: self.not_after?.value,
            uses_max: self.uses_max?,
            uses_per_hour_max: self.uses_per_hour_max?,
            language: self.language?,
            environment: self.environment,
            network: self.network?,
            cpu: self.limits.cpu?,
            memory_limit_mb: self.limits.memory_mib?,
            time_limit_sec: self.limits.time_sec?,
            inputs_bytes_max: self.inputs_bytes_max?,
            runs_code_of_inputs: self.runs_code_of_inputs?,
            inputs: inputs.into_iter().map(|read| read.input).collect(),
            parameters: parameters.into_iter().map(|read| read.parameter).collect(),
            words: words.into_iter().map(|read| read.word).collect(),
            outputs: outputs::complete(self.outputs)?,
            constraints: self.constraints?,
            risk: self.risk?.value,
            sensitivity: self.sensitivity?,
        };
        if !report.failed() {
            examples::check(&terms, &self.examples?, report);
        }
        Some(terms)
    }
}

fn id(
    fields: &FrontMatterFields<'_>,
    context: &CheckContext<'_>,
    report: &mut Report,
) -> Option<StandingId> {
    let text = fields.text("standing_id", report)?;
    let id: Option<StandingId> = text.value.parse().ok();
    match &id {
        Some(id) => schema::check_file_name(context, id.as_str(), report),
        None => {
            let message = format!("`standing_id`: {} is not an id", quote(text.value));
            let hint = "write SA-YYYYMMDD-HHMMSSZ-<slug>, slug of letters, digits, `_` and `-`";
            report.error_hint(Code::StandingId, text.span, message, hint);
        }
    }
    id
}

/// A missing key is the same as null: requests name no environment.
fn environment(
    fields: &FrontMatterFields<'_>,
    report: &mut Report,
) -> Option<EnvironmentReference> {
    const KEY: &str = "environment";
    if fields.peek(KEY)?.is_null() {
        return None;
    }
    extension::environment(fields, KEY, report)
}

fn agents(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<Vec<String>> {
    let items = fields.list("agents", report)?;
    let mut found: Vec<String> = Vec::new();
    for node in items {
        let text = fields.text_of("agents", node, report)?;
        let text = fields.one_line("agents", text, report)?;
        confusable::check_name("agents", text, report);
        if text.value.contains(['*', '?']) || found.iter().any(|other| other == text.value) {
            let message = format!("`agents`: {} is a pattern, or named twice", quote(text.value));
            let hint = "write each agent's exact name once";
            report.error_hint(Code::StandingAgents, text.span, message, hint);
        }
        found.push(text.value.to_owned());
    }
    if found.is_empty() {
        let spot = fields.peek("agents").map_or(fields.spot(), |node| node.spot);
        let message = "`agents`: no agent may use it";
        report.error_hint(Code::StandingAgents, spot, message, "name one agent at least");
    }
    Some(found)
}

fn subject(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<String> {
    let node = fields.node("subject", report)?;
    if node.is_null() {
        return None;
    }
    let text = fields.text_of("subject", node, report)?;
    let text = fields.one_line("subject", text, report)?;
    confusable::check_name("subject", text, report);
    Some(text.value.to_owned())
}

fn time(
    fields: &FrontMatterFields<'_>,
    key: &str,
    report: &mut Report,
) -> Option<WithSpan<UtcTime>> {
    let text = fields.text(key, report)?;
    timestamp(key, text, report)
}

fn check_times(
    from: Option<WithSpan<UtcTime>>,
    to: Option<WithSpan<UtcTime>>,
    report: &mut Report,
) {
    if let (Some(from), Some(to)) = (from, to)
        && from.value >= to.value
    {
        let message = "`not_after_utc`: is not after `not_before_utc`";
        report.error(Code::StandingTime, to.span, message);
    }
}

fn count(fields: &FrontMatterFields<'_>, key: &str, report: &mut Report) -> Option<u64> {
    whole(fields, key, USES_MAX, report)
}

fn check_uses((all, hourly): (u64, u64), spot: SourceSpan, report: &mut Report) {
    if hourly > all {
        let message = format!("`uses_per_hour_max`: {hourly} is more than `uses_max`, {all}");
        report.error(Code::StandingUses, spot, message);
    }
}

fn choose<T: model::ClosedSet>(
    fields: &FrontMatterFields<'_>,
    key: &str,
    report: &mut Report,
) -> Option<WithSpan<T>> {
    let text = fields.text(key, report)?;
    let chosen = T::ALL.iter().find(|value| value.as_str() == text.value).copied();
    if chosen.is_none() {
        let message = format!("`{key}`: {} is not a valid value", quote(text.value));
        let hint = format!("write {}", model::alternatives(T::TEXTS));
        report.error_hint(Code::FrontmatterValue, text.span, message, hint);
    }
    chosen.map(|value| WithSpan { value, span: text.span })
}

/// Checks that every name is declared once, used, and no word refers to another.
fn check_names(
    inputs: &[ReadInput],
    parameters: &[ReadParameter],
    words: &[ReadWord],
    report: &mut Report,
) {
    let slots = inputs.iter().filter_map(|read| match &read.input {
        StandingInput::Slot(slot) => Some((slot, read.span)),
        StandingInput::Fixed(_) => None,
    });
    let slots: Vec<_> = slots.collect();
    let slot_names = slots.iter().map(|(slot, span)| (slot.name.as_str(), *span));
    let names = parameters.iter().map(|read| (read.parameter.name.as_str(), read.span));
    let mut seen: Vec<&str> = Vec::new();
    for (name, span) in names.chain(slot_names) {
        if seen.contains(&name) {
            let message = format!("`{name}`: the name is used twice");
            report.error(Code::StandingParameter, span, message);
        }
        seen.push(name);
    }
    for read in words {
        let TemplateWord::Value { value, .. } = &read.word else { continue };
        let problem = match value {
            WordValue::Parameter(name) => {
                let known = parameters.iter().any(|read| read.parameter.name == *name);
                (!known).then(|| format!("`## Command`: {{{name}}} is not declared"))
            }
            WordValue::Slot(name) => match slots.iter().find(|(slot, _)| slot.name == *name) {
                None => Some(format!("`## Command`: {{in:{name}}} is not a slot")),
                Some((slot, _)) if slot.count != (1, 1) => {
                    Some(format!("`## Command`: {{in:{name}}} may have several files, or none"))
                }
                Some(_) => None,
            },
        };
        if let Some(message) = problem {
            let hint = "declare it under `parameters`, or a slot with `count: [1, 1]`";
            report.error_hint(Code::StandingParameter, read.span, message, hint);
        }
    }
    for read in parameters {
        let StandingParameter { name, .. } = &read.parameter;
        let is_used = words.iter().any(|word| {
            matches!(&word.word, TemplateWord::Value { value: WordValue::Parameter(used), .. } if used == name)
        });
        if !is_used {
            let message = format!("`{name}`: no word of the command has this parameter");
            report.error_hint(Code::StandingParameter, read.span, message, "remove it");
        }
    }
}

/// Options of interpreters whose next word is code, a module or a file that is executed.
const CODE_OPTIONS: [&str; 12] = [
    "-m",
    "-c",
    "-e",
    "-p",
    "-r",
    "-I",
    "--eval",
    "--print",
    "--require",
    "--import",
    "--loader",
    "run",
];

/// Returns whether the interpreter may execute files of this slot: as the script, or by an option.
/// A word whose value is chosen may name any of them.
fn runs_slot(words: &[ReadWord], slot: &InputSlot) -> bool {
    let is_option = |word: &TemplateWord| match word {
        TemplateWord::Literal(text) => text.starts_with('-'),
        TemplateWord::Value { beginning, .. } => beginning.starts_with('-'),
    };
    let names = |word: &TemplateWord| match word {
        TemplateWord::Literal(text) => {
            slot.files.matches(text.strip_prefix("/in/").unwrap_or(text))
        }
        TemplateWord::Value { value: WordValue::Slot(used), .. } => *used == slot.name,
        TemplateWord::Value { value: WordValue::Parameter(_), .. } => true,
    };
    let script = words.iter().skip(1).find(|read| !is_option(&read.word));
    let after_option = words.iter().zip(words.iter().skip(1)).filter(|(option, _)| {
        matches!(&option.word, TemplateWord::Literal(text) if CODE_OPTIONS.contains(&text.as_str()))
    });
    script.is_some_and(|read| names(&read.word))
        || after_option.map(|(_, read)| &read.word).any(names)
}

/// Checks that the signer permits code that no digest fixes, where a run could execute it.
fn check_code(
    (inputs, language, risk): (&[ReadInput], Language, WithSpan<RiskLevel>),
    permits: bool,
    words: &[ReadWord],
    report: &mut Report,
) {
    for read in inputs {
        let StandingInput::Slot(slot) = &read.input else { continue };
        let is_code = runs_slot(words, slot) || may_be_code(slot, language);
        if !permits && is_code {
            let message = format!("slot `{}`: its files may be executed as {language}", slot.name);
            let hint = "give its files another extension, or write `runs_code_of_inputs: true`";
            report.error_hint(Code::StandingCode, read.span, message, hint);
        }
    }
    if permits && risk.value == RiskLevel::Low {
        let message = "`risk`: is low, but the run executes code that no person has read";
        report.error_hint(Code::StandingCode, risk.span, message, "write medium or high");
    }
}
