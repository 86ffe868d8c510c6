//! Checks a request's text in the schema's order. It must never stop at the first violation.

use model::{RequestId, Sha256, SourceSpan, TextLine};

use crate::check_context::{CheckContext, ProseRules};
use crate::code::Code;
use crate::command;
use crate::consistency;
use crate::declarations::{self, CommandInputs, Declarations};
use crate::document::{REQUEST_FRONT_MATTER_MAX, RequestDocument};
use crate::extension::Extensions;
use crate::fields::FrontMatterFields;
use crate::least_privilege;
use crate::limits::RequestedLimits;
use crate::monty;
use crate::network::Network;
use crate::outputs::{self, DeclaredOutput};
use crate::prose;
use crate::report::Report;
use crate::request::{Backend, Constraint, RequestParts, Work};
use crate::request_key::RequestKey;
use crate::risk::Risk;
use crate::schema::RequestIdentity;
use crate::sections::{CODE, INPUTS, Section, Sections, has_section};
use crate::text;
use crate::violation::{Severity, Violation};
use crate::yaml::YamlNode;

const COMMAND: &str = "Command";
const INPUT_FILES: &str = "Input Files";
const OUTPUTS: &str = "Output Expectations";
const RISK: &str = "Risk Assessment";
const SECTIONS: [&str; 4] = [COMMAND, INPUT_FILES, OUTPUTS, RISK];
const TITLES: [&str; 6] = [COMMAND, INPUT_FILES, OUTPUTS, RISK, CODE, INPUTS];
/// The sections of the monty backend, with and without the optional one.
const MONTY_SECTIONS: [&str; 4] = [CODE, INPUTS, OUTPUTS, RISK];
const MONTY_SECTIONS_REQUIRED: [&str; 3] = [CODE, OUTPUTS, RISK];

pub(crate) struct RequestReading {
    pub(crate) violations: Vec<Violation>,
    /// True if any violation is an error.
    pub(crate) failed: bool,
    pub(crate) id: Option<RequestId>,
    pub(crate) parts: Option<Box<RequestParts>>,
}

/// The front matter as far as it could be read.
struct RequestFrontMatter {
    identity: RequestIdentity,
    network: Option<Network>,
    limits: RequestedLimits,
    inputs: Declarations<Sha256>,
    outputs: Declarations<DeclaredOutput>,
    constraints: Option<Vec<Constraint>>,
    extensions: Extensions,
    /// The body has code in place of a command.
    is_code: bool,
}

pub(crate) fn read(bytes: &[u8], context: &CheckContext<'_>) -> RequestReading {
    let mut report = Report::default();
    let text = text::decode(bytes, &mut report);
    let document = RequestDocument::read(&text, REQUEST_FRONT_MATTER_MAX, &mut report);
    let judged = context.prose_rules == ProseRules::Enforced;
    if judged {
        prose::check_secrets(&text, &document, &mut report);
    }
    let mut front = None;
    if let Some(node) = &document.front_matter {
        if judged {
            prose::check_front_matter(node, &document.front_matter_lines, &mut report);
            prose::check(&comments(&document.front_matter_lines), false, &mut report);
        }
        if let Some(fields) = FrontMatterFields::of(node, String::new(), &mut report) {
            let mut found = RequestFrontMatter::read(&fields, context, &mut report);
            if found.is_monty() {
                found.is_code = !is_script(&document);
                monty::check_front_matter(&fields, &found.unsupported_fields(), &mut report);
            }
            front = Some(found);
        }
    }
    let body = RequestBody::read(&document, front.as_ref(), context.prose_rules, &mut report);
    if let (Some(node), Some(front)) = (&document.front_matter, &front) {
        check_hosts_used(node, front, &body, &mut report);
    }
    let id = front.as_ref().and_then(|front| front.identity.id.clone());
    let parts = front.and_then(|front| complete_parts(front, body));
    let excused = context.approval_severity == Severity::Warning;
    if parts.is_none() && !report.failed() && !excused {
        // Every gap should have its violation. This one keeps a bug from passing as valid.
        report.error(Code::FrontmatterValue, SourceSpan::WHOLE_FILE, "request: could not be read");
    }
    let failed = report.failed();
    RequestReading { violations: report.into_rows(), failed, id, parts }
}

/// Returns whether a request of the monty backend runs a script: it has a command and no code.
fn is_script(document: &RequestDocument<'_>) -> bool {
    has_section(document, COMMAND) && !has_section(document, CODE)
}

/// Returns the lines of the front matter that contain a comment. Their values are then read a
/// second time, as prose, which is never stricter.
fn comments<'a>(lines: &[TextLine<'a>]) -> Vec<TextLine<'a>> {
    let commented = |text: &str| {
        text.contains('#') && (text.starts_with('#') || text.contains(" #") || text.contains("\t#"))
    };
    lines.iter().filter(|line| commented(line.text)).copied().collect()
}

impl RequestFrontMatter {
    fn read(
        fields: &FrontMatterFields<'_>,
        context: &CheckContext<'_>,
        report: &mut Report,
    ) -> Self {
        fields.refuse_unknown(RequestKey::TEXTS, true, report);
        let front = Self {
            identity: RequestIdentity::read(fields, context, report),
            network: Network::read(fields, context.prose_rules, report),
            limits: RequestedLimits::read(fields, report),
            inputs: declarations::inputs(fields, report),
            outputs: outputs::read(fields, report),
            constraints: constraints(fields, report),
            extensions: Extensions::read(fields, report),
            is_code: false,
        };
        outputs::check_patch(front.input_names().as_deref(), &front.outputs, report);
        front
    }

    fn is_monty(&self) -> bool {
        self.identity.backend == Some(Backend::Monty)
    }

    fn input_names(&self) -> Option<Vec<&str>> {
        let inputs = self.inputs.as_ref()?;
        Some(inputs.iter().map(|input| input.path.as_str()).collect())
    }

    fn unsupported_fields(&self) -> monty::UnsupportedFields<'_> {
        monty::UnsupportedFields {
            language: self.identity.language,
            network: self.network.as_ref(),
            files: match self.is_code {
                true => [
                    self.inputs.as_ref().map_or(0, Vec::len),
                    self.outputs.as_ref().map_or(0, Vec::len),
                ],
                false => [0, 0],
            },
        }
    }
}

pub(crate) fn constraints(
    fields: &FrontMatterFields<'_>,
    report: &mut Report,
) -> Option<Vec<Constraint>> {
    let items = fields.list("constraints", report)?;
    let mut found = Vec::new();
    for item in items {
        let text = fields.text_of("constraints", item, report)?;
        found.push(Constraint::new(fields.one_line("constraints", text, report)?.value));
    }
    Some(found)
}

/// The body as far as it could be read.
struct RequestBody {
    work: Option<Work>,
    risk: Option<Risk>,
}

impl RequestBody {
    fn read(
        document: &RequestDocument<'_>,
        front: Option<&RequestFrontMatter>,
        words: ProseRules,
        report: &mut Report,
    ) -> Self {
        let is_code = front.is_some_and(|front| front.is_code);
        let known: &[&str] = if is_code { &MONTY_SECTIONS } else { &SECTIONS };
        let mut sections = Sections::read(document, known, report);
        if words == ProseRules::Enforced {
            check_prose(document, &sections, report);
            sections.check_page(document, &TITLES, &[COMMAND, CODE], report);
        }
        sections.refuse_html(&[INPUT_FILES, INPUTS, OUTPUTS, RISK], report);
        let work = if is_code {
            let least = sections.get(INPUTS).is_none();
            sections.check(if least { &MONTY_SECTIONS_REQUIRED } else { known }, report);
            monty::read(&sections, report).map(Work::Code)
        } else {
            sections.check(known, report);
            command(&sections, front, report)
        };
        if let (Some(section), Some(front)) = (sections.get(OUTPUTS), front) {
            consistency::outputs(section, &front.outputs, report);
        }
        let network = front.and_then(|front| front.network.as_ref());
        let risk = sections.get(RISK).and_then(|section| Risk::read(section, network, report));
        Self { work, risk }
    }
}

fn check_hosts_used(
    node: &YamlNode,
    front: &RequestFrontMatter,
    body: &RequestBody,
    report: &mut Report,
) {
    let mut unread = Report::default();
    let wants_network =
        matches!(&front.network, Some(Network::Allowlist(hosts)) if !hosts.is_empty());
    let Some(fields) =
        FrontMatterFields::of(node, String::new(), &mut unread).filter(|_| wants_network)
    else {
        return;
    };
    let work = match &body.work {
        Some(Work::Command { line, .. }) => line.as_str(),
        _ => return,
    };
    let rationale = body.risk.as_ref().map_or("", Risk::network_rationale);
    let purpose = front.identity.purpose.as_deref().unwrap_or("");
    least_privilege::check_hosts(&fields, &[work, rationale, purpose], report);
}

fn command(
    sections: &Sections<'_>,
    front: Option<&RequestFrontMatter>,
    report: &mut Report,
) -> Option<Work> {
    let inputs = front.and_then(|front| front.inputs.as_ref());
    let work = front.and_then(|front| outputs::work_folder(&front.outputs));
    let names = front.and_then(RequestFrontMatter::input_names);
    let starts_in_work = work.is_some();
    let named = names.as_deref().map(|names| CommandInputs { names, starts_in_work });
    let command = sections
        .get(COMMAND)
        .and_then(|section| command::read(section, sections.is_hidden(section), named, report));
    if let (Some(section), Some(front)) = (sections.get(INPUT_FILES), front) {
        consistency::inputs(section, &front.inputs, report);
    }
    if let (Some(command), Some(names)) = (&command, &names)
        && front.is_some_and(RequestFrontMatter::is_monty)
    {
        let spot = sections.get(COMMAND).map_or(SourceSpan::WHOLE_FILE, Section::spot_of_text);
        monty::check_script(spot, &command.argv, names, report);
    }
    // Reports unused inputs only once the request has no errors.
    if let (Some(command), Some(inputs), false) = (&command, inputs, report.failed()) {
        least_privilege::check_inputs(&command.argv, (inputs.as_slice(), work), report);
    }
    command.map(|command| Work::Command { argv: command.argv, line: command.line })
}

/// Checks the text that only people read: all but the command and the code.
fn check_prose(document: &RequestDocument<'_>, sections: &Sections<'_>, report: &mut Report) {
    // Without a front matter block, the keys are in the body and are not prose.
    if document.front_matter.is_some() || !document.front_matter_lines.is_empty() {
        prose::check(&sections.prose, false, report);
    }
    for section in &sections.all {
        let strict = [INPUT_FILES, OUTPUTS].contains(&section.title);
        if ![COMMAND, CODE].contains(&section.title) {
            prose::check(&section.lines, strict, report);
        }
    }
}

fn complete_parts(front: RequestFrontMatter, body: RequestBody) -> Option<Box<RequestParts>> {
    let RequestFrontMatter { identity, network, limits, inputs, outputs, .. } = front;
    let RequestFrontMatter { constraints, extensions, .. } = front;
    Some(Box::new(RequestParts {
        id: identity.id?,
        created: identity.created?,
        approved: identity.approved?,
        approved_by: identity.approved_by?,
        requested_by: identity.requested_by?,
        purpose: identity.purpose?,
        language: identity.language?,
        backend: identity.backend,
        network: network?,
        cpu: limits.cpu?,
        memory_limit_mb: limits.memory_mib?,
        time_limit_sec: limits.time_sec?,
        inputs: declarations::complete_inputs(inputs)?,
        outputs_expected: outputs::complete(outputs)?,
        constraints: constraints?,
        work: body.work?,
        risk: body.risk?,
        requester: extensions.requester,
        audience: extensions.audience,
        agent: extensions.agent,
        standing: extensions.standing,
        environment: extensions.environment,
        unknown_extensions: extensions.unknown,
    }))
}
