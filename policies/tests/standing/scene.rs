//! Standing approvals and requests as values, and generators of both. The text for our parser and the
//! JSON for the second checker are printed from the same values.

use model::{EnvironmentReference, Sha256, StandingReference, UtcTime};
use validator::{
    ComposedAgent, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition, Draft,
    FileLocation, OneLine, OwnerUid, Request, RequestedBy, StandingApproval, quote_words,
};

pub(super) fn at(text: &str) -> UtcTime {
    text.parse().unwrap()
}

const ID: &str = "SA-20260209-160501Z-means";
const APPROVED: &str = "2026-02-09T16:12:00Z";
/// The output of each standing approval.
const MEAN: &str = "mean.json";
const SEED: [&str; 3] =
    ["No network unless allowlisted", "No writes outside /out", "No persistence"];

fn script() -> Sha256 {
    Sha256::of(b"script")
}

/// Returns a reference to an environment of this name, with the digest of this text.
pub(super) fn environment(name: &str, content: &str) -> String {
    format!("{name}@sha256:{}", Sha256::of(content.as_bytes()))
}

/// A standing approval.
#[derive(Clone)]
pub(super) struct StandingCase {
    pub(super) subject: Option<String>,
    pub(super) environment: Option<String>,
    pub(super) hosts: Vec<String>,
    pub(super) cpu: &'static str,
    pub(super) memory_mb: u64,
    pub(super) time_sec: u64,
    pub(super) inputs_bytes_max: u64,
    /// Both as JSON, which is YAML too.
    pub(super) inputs: String,
    pub(super) parameters: String,
    pub(super) words: Vec<String>,
    /// The folder whose patch the output is.
    pub(super) patch_of: Option<String>,
    pub(super) runs_code: bool,
    pub(super) risk: &'static str,
    pub(super) sensitivity: &'static str,
}

impl StandingCase {
    pub(super) fn means() -> Self {
        let words = ["python", "means.py", "{in:table}", "--last={last}", "{column}", "{by}"];
        Self {
            subject: None,
            environment: None,
            hosts: Vec::new(),
            cpu: "1",
            memory_mb: 512,
            time_sec: 60,
            inputs_bytes_max: 9 << 20,
            inputs: format!(
                "[{{\"name\": \"means.py\", \"sha256\": \"{}\"}}, {{\"slot\": \"table\", \"name\": \
                 \"sales-*.csv\", \"kind\": \"file\", \"count\": [1, 1], \"bytes_max\": 8388608}}]",
                script()
            ),
            parameters: "[{\"name\": \"last\", \"integer\": [1, 3650]}, {\"name\": \"column\", \
                         \"text\": \"identifier\", \"chars_max\": 32}, {\"name\": \"by\", \
                         \"choice\": [\"day\", \"week\", \"month\"]}]"
                .to_owned(),
            words: words.map(str::to_owned).to_vec(),
            patch_of: None,
            runs_code: false,
            risk: "low",
            sensitivity: "internal",
        }
    }

    fn text(&self) -> String {
        let network = if self.hosts.is_empty() { "none" } else { "allowlist" };
        let (subject, environment) = self.subject_and_environment();
        let patch = self.patch_of.as_ref().map(|folder| format!(", \"x-patch-of\": \"{folder}\""));
        let patch = patch.unwrap_or_default();
        let words: String = self.words.iter().map(|word| format!("- {word}\n")).collect();
        let good: Vec<String> = self.words.iter().map(|word| example(word)).collect();
        format!(
            "---\nrequest_type: standing_approval\nschema_version: 1\nstanding_id: \"{ID}\"\n\
             created_utc: \"2026-02-09T16:05:01Z\"\napproved_by: \"alice\"\n\
             approved_utc: \"{APPROVED}\"\npurpose: \"The mean of the last days of a table.\"\n\
             x-audience: \"desk-1\"\nagents: [\"core\"]\nsubject: {subject}\n\
             not_before_utc: \"2026-02-09T16:12:00Z\"\nnot_after_utc: \"2026-02-23T00:00:00Z\"\n\
             uses_max: 200\nuses_per_hour_max: 20\nlanguage: \"python\"\n\
             environment: {environment}\n\
             network: \"{network}\"\nnetwork_allowlist: {hosts:?}\ncpu_limit: \"{cpu}\"\n\
             memory_limit_mb: {memory}\ntime_limit_sec: {time}\ninputs_bytes_max: {bytes}\n\
             runs_code_of_inputs: {code}\ninputs: {inputs}\nparameters: {parameters}\n\
             outputs_expected: [{{\"path\": \"{MEAN}\", \"description\": \"the mean\"{patch}}}]\n\
             risk: \"{risk}\"\nsensitivity: \"{sensitivity}\"\nconstraints: {SEED:?}\n\
             examples: [{{\"admitted\": true, \"words\": {good:?}, \"files\": [\"{file}\"]}}, \
             {{\"admitted\": false, \"words\": [\"python\"], \"files\": []}}]\n---\n\n# Means\n\n\
             ## Command\n\n{words}\n## Widest Effect\n\nAny table.\n",
            hosts = self.hosts,
            cpu = self.cpu,
            memory = self.memory_mb,
            time = self.time_sec,
            bytes = self.inputs_bytes_max,
            code = self.runs_code,
            inputs = self.inputs,
            parameters = self.parameters,
            risk = self.risk,
            sensitivity = self.sensitivity,
            file = if self.inputs.contains("sales-") { "sales-1.csv" } else { "m1" },
        )
        .replace(
            "/in/FILE",
            if self.inputs.contains("sales-") { "/in/sales-1.csv" } else { "/in/m1" },
        )
    }

    pub(super) fn parse(&self) -> StandingApproval {
        let text = self.text();
        StandingApproval::read(text.as_bytes(), &format!("{ID}.md"), at("2026-02-10T00:00:00Z"))
            .unwrap_or_else(|rows| panic!("{rows:?}\n{text}"))
    }

    /// Returns both as JSON, which is YAML too.
    fn subject_and_environment(&self) -> (String, String) {
        let json = |text: Option<&String>| text.map_or("null".to_owned(), |it| json_text(it));
        (json(self.subject.as_ref()), json(self.environment.as_ref()))
    }

    pub(super) fn json(&self) -> String {
        let (subject, environment) = self.subject_and_environment();
        let hosts: Vec<String> = self.hosts.iter().map(|host| with_port(host)).collect();
        format!(
            "{{\"id\": \"{ID}\", \"approved\": \"{APPROVED}\", \"audience\": \"desk-1\", \
             \"agents\": [\"core\"], \"subject\": {subject}, \"language\": \"python\", \
             \"environment\": {environment}, \"hosts\": {hosts:?}, \"cpu_milli\": {}, \
             \"memory_mb\": {}, \"time_sec\": {}, \
             \"inputs_bytes_max\": {}, \"inputs\": {}, \"parameters\": {}, \"words\": {:?}, \
             \"outputs\": [\"mean.json\"], \"constraints\": {SEED:?}, \"risk\": \"{}\", \
             \"sensitivity\": \"{}\"}}",
            milli(self.cpu),
            self.memory_mb,
            self.time_sec,
            self.inputs_bytes_max,
            self.inputs,
            self.parameters,
            self.words,
            self.risk,
            self.sensitivity
        )
    }
}

/// Returns an admitted word for a word of a generated template.
fn example(word: &str) -> String {
    word.replace("{in:table}", "/in/FILE")
        .replace("{last}", "7")
        .replace("{column}", "a")
        .replace("{by}", "day")
        .replace("{when}", "2026-02-09")
        .replace("{list}", "1,2")
}

fn with_port(host: &str) -> String {
    if host.contains(':') { host.to_owned() } else { format!("{host}:443") }
}

fn milli(cores: &str) -> u64 {
    let (whole, fraction) = cores.split_once('.').unwrap_or((cores, "0"));
    whole.parse::<u64>().unwrap() * 1000 + format!("{fraction:0<3}").parse::<u64>().unwrap()
}

/// A request.
#[derive(Clone)]
pub(super) struct TestRequest {
    pub(super) words: Vec<String>,
    pub(super) language: &'static str,
    pub(super) environment: Option<String>,
    pub(super) audience: Option<String>,
    /// The agent and its workflow.
    pub(super) agent: Option<(String, String)>,
    pub(super) approved_by: String,
    pub(super) approved: String,
    pub(super) hosts: Vec<String>,
    pub(super) cpu: String,
    pub(super) memory_mb: u64,
    pub(super) time_sec: u64,
    /// Name, digest and size of each input.
    pub(super) inputs: Vec<(String, Sha256, Option<u64>)>,
    pub(super) outputs: Vec<String>,
    /// The folder whose patch the output of the standing approval is.
    pub(super) patch_of: Option<String>,
    pub(super) constraints: Vec<String>,
    pub(super) risk: &'static str,
    pub(super) sensitivity: &'static str,
    pub(super) reference: TestReference,
    /// Lines of the front matter that the composition does not have.
    pub(super) extra: &'static str,
}

/// The standing approval that a request names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TestReference {
    Its,
    OtherBytes,
    None,
}

impl TestReference {
    fn of(self, standing: &StandingApproval) -> Option<StandingReference> {
        let its = standing.reference();
        match self {
            Self::Its => Some(its),
            Self::OtherBytes => Some(StandingReference { sha256: Sha256::of(b"other"), ..its }),
            Self::None => None,
        }
    }
}

impl TestRequest {
    pub(super) fn means() -> Self {
        let words = ["python", "means.py", "/in/sales-1.csv", "--last=7", "north", "week"];
        Self {
            words: words.map(str::to_owned).to_vec(),
            language: "python",
            environment: None,
            audience: Some("desk-1".to_owned()),
            agent: Some(("core".to_owned(), "wf-1".to_owned())),
            approved_by: format!("standing {ID}"),
            approved: APPROVED.to_owned(),
            hosts: Vec::new(),
            cpu: "1".to_owned(),
            memory_mb: 512,
            time_sec: 60,
            inputs: vec![
                ("means.py".to_owned(), script(), Some(700)),
                ("sales-1.csv".to_owned(), Sha256::of(b"table"), Some(4000)),
            ],
            outputs: vec![MEAN.to_owned()],
            patch_of: None,
            constraints: SEED.map(str::to_owned).to_vec(),
            risk: "low",
            sensitivity: "internal",
            reference: TestReference::Its,
            extra: "",
        }
    }

    pub(super) fn add(&mut self, name: &str, bytes: u64) {
        self.inputs.push((name.to_owned(), Sha256::of(name.as_bytes()), Some(bytes)));
    }

    /// Returns the names and sizes of the inputs whose size is known.
    pub(super) fn sizes(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.inputs.iter().filter_map(|(name, _, bytes)| Some((name.clone(), (*bytes)?)))
    }

    /// Parses the text of the request. `None` if it is not well-formed.
    pub(super) fn parse(&self, standing: &StandingApproval) -> Option<Request> {
        let line = |text: &str| text.parse::<OneLine>().ok();
        let hosts: Option<Vec<OneLine>> = self.hosts.iter().map(|host| line(host)).collect();
        let composition = Composition {
            id: "TR-20260210-000000Z-means".parse().unwrap(),
            created: at("2026-02-09T16:11:00Z"),
            requested_by: RequestedBy::CoreDraft,
            approval: Some((line(&self.approved_by)?, at(&self.approved))),
            purpose: line("The mean of a table.")?,
            language: model::Language::named(self.language)?,
            backend: None,
            hosts: hosts.filter(|hosts| !hosts.is_empty()),
            cpu: line(&self.cpu)?,
            memory_limit_mb: self.memory_mb,
            time_limit_sec: self.time_sec,
            inputs: self
                .inputs
                .iter()
                .map(|(name, sha256, _)| Some(ComposedInput { name: line(name)?, sha256: *sha256 }))
                .collect::<Option<_>>()?,
            outputs_expected: self
                .outputs
                .iter()
                .map(|path| {
                    let patch_of = self.patch_of.clone().filter(|_| path == MEAN);
                    Some(ComposedOutput { path: line(path)?, description: "x".into(), patch_of })
                })
                .collect::<Option<_>>()?,
            constraints: self.constraints.iter().map(|it| line(it)).collect::<Option<_>>()?,
            work: ComposedWork::Command(quote_words(&self.words).ok()?),
            risk: ComposedRisk {
                level: named(self.risk),
                justification: line("it is a test")?,
                sensitivity: named(self.sensitivity),
                network_rationale: line(&format!("it reaches {}", self.hosts.join(" ")))?,
            },
            requester: None,
            agent: match &self.agent {
                Some((name, subject)) => Some(ComposedAgent {
                    name: line(name)?,
                    subject: line(subject)?,
                    accesscontrol: None,
                }),
                None => None,
            },
            audience: match &self.audience {
                Some(audience) => Some(line(audience)?),
                None => None,
            },
            standing: self.reference.of(standing),
            environment: match &self.environment {
                Some(environment) => Some(environment.parse::<EnvironmentReference>().ok()?),
                None => None,
            },
        };
        let text = composition.to_text().replacen(
            "request_type:",
            &format!("{}request_type:", self.extra),
            1,
        );
        let bytes = text.into_bytes();
        let draft = Draft::new(bytes, "TR-20260210-000000Z-means.md", OwnerUid::new(0)).ok()?;
        draft.check(FileLocation::Spool, at("2026-02-10T00:00:00Z")).verdict.ok()
    }

    pub(super) fn json(&self) -> String {
        let text = |text: Option<&String>| text.map_or("null".to_owned(), |it| json_text(it));
        let texts = |all: &[String]| {
            let all: Vec<String> = all.iter().map(|it| json_text(it)).collect();
            format!("[{}]", all.join(", "))
        };
        let inputs: Vec<String> = self
            .inputs
            .iter()
            .map(|(name, sha256, bytes)| {
                let bytes = bytes.map_or("null".to_owned(), |bytes| bytes.to_string());
                let name = json_text(name);
                format!("{{\"name\": {name}, \"sha256\": \"{sha256}\", \"bytes\": {bytes}}}")
            })
            .collect();
        let hosts: Vec<String> = self.hosts.iter().map(|host| with_port(host)).collect();
        format!(
            "{{\"words\": {}, \"language\": \"{}\", \"environment\": {}, \"backend\": null, \
             \"audience\": {}, \"agent\": {}, \"subject\": {}, \"approved_by\": {}, \
             \"approved\": \"{}\", \"hosts\": {}, \
             \"cpu_milli\": {}, \"memory_mb\": {}, \"time_sec\": {}, \"inputs\": [{}], \"outputs\": \
             {}, \"constraints\": {}, \"risk\": \"{}\", \"sensitivity\": \"{}\"}}",
            texts(&self.words),
            self.language,
            text(self.environment.as_ref()),
            text(self.audience.as_ref()),
            text(self.agent.as_ref().map(|it| &it.0)),
            text(self.agent.as_ref().map(|it| &it.1)),
            json_text(&self.approved_by),
            self.approved,
            texts(&hosts),
            milli(&self.cpu),
            self.memory_mb,
            self.time_sec,
            inputs.join(", "),
            texts(&self.outputs),
            texts(&self.constraints),
            self.risk,
            self.sensitivity
        )
    }
}

fn named<T: model::ClosedSet>(text: &str) -> T {
    *T::ALL.iter().find(|value| value.as_str() == text).unwrap()
}

fn json_text(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_graphic() && !b"\"\\".contains(&byte) => {
                out.push(byte.into())
            }
            Ok(b' ') => out.push(' '),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
    out.push('"');
    out
}
