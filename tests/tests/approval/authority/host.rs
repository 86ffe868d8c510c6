//! A host whose policy requires more than an approval, its approvers, and requests of agents, all
//! written by programs that users have. Must never write a file that the daemon should write.

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, SavedRequest, Service, ServiceConfig, list,
};

pub(super) const APPROVE: &str = "approve.tool-exec@threegate";
pub(super) const TOOL: &str = "toolexec.run.python";

/// Drafts of agents need a permission.
pub(super) const CORE_DRAFTS: (&str, &str) =
    ("covers: none\n  # Directories", "covers: core_draft\n  # Directories");
/// Every request needs a bundle.
pub(super) const BOUND: [(&str, &str); 2] = [
    ("covers: none\n  # A missing rule", "covers: all\n  # A missing rule"),
    ("profiles: {}", "profiles: {research-readonly: {}}\n    jurisdiction: EU"),
];
/// The gate does not know the effect of python.
pub(super) const UNKNOWN: (&str, &str) = ("tool_category: write", "tool_category: unknown");
pub(super) const SHADOW: (&str, &str) = ("mode: enforce", "mode: shadow");

/// The embedded policy with one signature per request, one hour of hold time, and these changes.
pub(super) fn config(bench: &Bench, changes: &[(&str, &str)]) -> ServiceConfig {
    ServiceConfig::for_owner(bench).with_one_signature().with_hold_sec(3600).edited(changes)
}

/// Creates a key without a passphrase.
pub(super) fn new_key(bench: &Bench, name: &str) -> PathBuf {
    let path = bench.home().join(name);
    let mut command = bench.command("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&path);
    CliOutput::of(&mut command).assert_code(0);
    path
}

/// A daemon, the key of its one approver, and its `allowed_signers` file.
pub(super) struct AuthorityHost<'a> {
    pub(super) bench: &'a Bench,
    pub(super) service: Service<'a>,
    pub(super) key: PathBuf,
    pub(super) signers: PathBuf,
}

impl<'a> AuthorityHost<'a> {
    /// Starts a daemon that rescans every second.
    pub(super) fn start(bench: &'a Bench, changes: &[(&str, &str)]) -> Self {
        Self::start_with(bench, changes, "")
    }

    /// Like [`Self::start`], with more configuration lines.
    pub(super) fn start_with(bench: &'a Bench, changes: &[(&str, &str)], more: &str) -> Self {
        let key = new_key(bench, "tester");
        let public = fs::read_to_string(key.with_extension("pub")).unwrap();
        let signers = bench.scratch().file("allowed_signers", format!("tester {public}"));
        let config =
            ServiceConfig { allowed_signers: Some(signers.clone()), ..config(bench, changes) };
        let mut service = Service::prepare(bench, &config);
        let text = fs::read_to_string(service.config()).unwrap();
        let text = text.replace("scan_interval_sec: 30", "scan_interval_sec: 1");
        fs::write(service.config(), text + more).unwrap();
        service.spawn();
        Self { bench, service, key, signers }
    }

    /// Kills the daemon, as a power cut does, and restarts it.
    pub(super) fn crash(&mut self) {
        self.service.signal("KILL");
        assert_eq!(self.service.wait(), None);
        self.service.spawn();
    }

    /// Signs a request as its approver and submits it.
    #[track_caller]
    pub(super) fn submit(&self, request: &RequestText) -> SavedRequest {
        let saved = self.bench.save(request);
        self.submit_saved(&saved);
        saved
    }

    #[track_caller]
    pub(super) fn submit_saved(&self, request: &SavedRequest) {
        sign(APPROVE, &self.key, &request.path);
        self.service.submit_saved(request).assert_code(0);
    }

    /// Asserts that the request leaves the list, which may be a moment after its record.
    #[track_caller]
    pub(super) fn assert_unlisted(&self, id: &str) {
        self.service.wait_for("the request to leave the list", |_| self.listed(id).is_none());
    }

    /// Returns the entry of a request in `list --waiting`, which must be one JSON object per line.
    #[track_caller]
    pub(super) fn listed(&self, id: &str) -> Option<Value> {
        let mut command = self.bench.command("toolexec");
        command.args(["list", "--waiting", "--format", "json", "--spool"]);
        let output = CliOutput::of(command.arg(self.service.spool()));
        output.assert_code(0);
        output.json_lines().into_iter().find(|row| row["request_id"] == id)
    }

    /// Waits until a request is held for this code, and asserts that nothing else happened to it.
    /// Returns its entry in `list --waiting`.
    #[track_caller]
    pub(super) fn assert_held(&self, id: &str, code: &str) -> Value {
        // A new decision about a held request takes it out of the list for a moment.
        let held = RefCell::new(None);
        self.service.wait_for("the request to be held", |_| {
            *held.borrow_mut() = self.listed(id).filter(|row| row["state"] == "held");
            held.borrow().is_some()
        });
        let row = held.into_inner().unwrap();
        let codes: Vec<&Value> =
            row["held"]["waits_for"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
        assert_eq!(codes, [code], "{row:#}");
        assert!(self.service.path(&format!("approved/{id}.md")).is_file());
        assert!(self.service.records_of(id).is_empty(), "held, and a record tells of it");
        row
    }

    /// Waits for the record of a request, which must be refused with exactly this code.
    #[track_caller]
    pub(super) fn assert_refused(&self, id: &str, code: &str) -> Record {
        let record = self.service.record_of(id);
        record.assert_outcome("refused");
        record.assert_violation(code);
        record
    }

    /// Returns the permission requests in `drafts/permissions`.
    pub(super) fn permission_requests(&self) -> Vec<PathBuf> {
        let place = self.service.path("drafts/permissions");
        let names = list(&place).into_iter().filter(|name| !name.contains(".answer."));
        names.filter(|name| name.ends_with(".json")).map(|name| place.join(name)).collect()
    }

    /// Returns the only permission request.
    #[track_caller]
    pub(super) fn permission_request(&self) -> PathBuf {
        let mut questions = self.permission_requests();
        assert_eq!(questions.len(), 1, "{questions:?}");
        questions.remove(0)
    }

    /// Writes and signs an answer beside its permission request.
    #[track_caller]
    pub(super) fn write_answer(&self, question: &Path, key: &Path, words: &[&str]) -> PathBuf {
        let mut command = self.bench.command("toolexec");
        command.args(["permission", "set", "--write-only", "--request"]).arg(question);
        CliOutput::of(command.arg("--key").arg(key).args(words)).assert_code(0);
        PathBuf::from(format!("{}.answer.json", question.display()))
    }

    /// Moves a file into `approved/` by a rename.
    #[track_caller]
    pub(super) fn submit_file(&self, path: &Path) {
        let approved = self.service.path("approved");
        let name = path.file_name().unwrap().to_str().unwrap();
        let hidden = approved.join(format!(".{name}"));
        fs::copy(path, &hidden).unwrap();
        fs::rename(hidden, approved.join(name)).unwrap();
    }

    /// Submits an answer, its signature first, as the documentation says.
    #[track_caller]
    pub(super) fn submit_answer(&self, answer: &Path) {
        self.submit_file(&PathBuf::from(format!("{}.sig", answer.display())));
        self.submit_file(answer);
    }

    /// Answers a permission request, and waits until the daemon accepts the answer.
    #[track_caller]
    pub(super) fn answer(&self, question: &Path, words: &[&str]) {
        let answer = self.write_answer(question, &self.key, words);
        self.submit_answer(&answer);
        self.wait_for_answer(&answer, "archive");
    }

    /// Waits until an answer is archived in `place`.
    #[track_caller]
    pub(super) fn wait_for_answer(&self, answer: &Path, place: &str) {
        let name = answer.file_name().unwrap().to_str().unwrap();
        let at = self.service.path(&format!("{place}/permissions/{name}"));
        self.service.wait_for("the answer to be put away", |_| at.is_file());
        assert!(!self.service.path(&format!("approved/{name}")).exists());
    }

    /// Runs `explain` with the configuration of this host, with JSON output.
    #[track_caller]
    pub(super) fn explain(&self, request: &SavedRequest, more: &[&str]) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.arg("explain").arg(&request.path).arg("--policy");
        command.arg(self.bench.home().join("policy.yaml"));
        command.arg("--approvers").arg(&self.signers);
        command.arg("--permissions").arg(self.service.state().join("permissions"));
        CliOutput::of(command.args(more))
    }
}

pub(super) fn sign(namespace: &str, key: &Path, file: &Path) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(key).arg(file);
    CliOutput::of(&mut command).assert_code(0);
}

pub(super) fn plain() -> RequestText {
    RequestText::python("print('ran')")
}

/// A valid request that an agent drafted.
pub(super) fn drafted() -> RequestText {
    plain().edit("requested_by: \"human\"", "requested_by: \"core_draft\"")
}

/// A valid request of a named agent, in a workflow.
pub(super) fn of_agent(name: &str, subject: &str) -> RequestText {
    let agent = format!("x-agent:\n  name: \"{name}\"\n  subject: \"{subject}\"\npurpose:");
    drafted().edit("purpose:", &agent)
}

/// Returns the rows of `rules` in a record's front matter: rule, verdict and reason.
#[track_caller]
pub(super) fn rules_of(record: &Record) -> Vec<[String; 3]> {
    let mut rows: Vec<[String; 3]> = Vec::new();
    for line in block(record, "rules").lines() {
        let value =
            |key: &str| line.strip_prefix(key).map(|output| output.trim_matches('"').to_owned());
        if let Some(rule) = value("  - rule: ") {
            rows.push([rule, String::new(), String::new()]);
        } else if let Some(verdict) = value("    verdict: ") {
            rows.last_mut().unwrap()[1] = verdict;
        } else if let Some(reason) = value("    reason: ") {
            rows.last_mut().unwrap()[2] = reason;
        }
    }
    assert!(rows.len() > 20 && rows.iter().flatten().all(|word| !word.is_empty()), "{rows:#?}");
    rows
}

/// Returns the block below a key of a record's front matter.
#[track_caller]
pub(super) fn block<'a>(record: &'a Record, key: &str) -> &'a str {
    let front = record.text.split("\n---\n").next().unwrap();
    let start = front.find(&format!("\n{key}:\n")).unwrap_or_else(|| panic!("no {key} in {front}"));
    let below = &front[start + key.len() + 3..];
    let lines = below.split_inclusive('\n').take_while(|line| line.starts_with(' '));
    &below[..lines.map(str::len).sum()]
}

/// Returns the whole answer of an authority, from its block of a record.
#[track_caller]
pub(super) fn answer_in(record: &Record, key: &str) -> Value {
    let (_, answer) = block(record, key).split_once("  answer:\n").unwrap();
    let value = |key: &str| {
        let line = answer.lines().find_map(|line| line.strip_prefix(&format!("    {key}: ")));
        // Scalars in the record have JSON syntax.
        serde_json::from_str::<String>(line.unwrap()).unwrap()
    };
    let text = value("json");
    assert_eq!(sha256(&text), value("sha256"));
    serde_json::from_str(&text).unwrap()
}

fn sha256(text: &str) -> String {
    let mut command = Command::new("sha256sum");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap().stdout;
    String::from_utf8(output).unwrap()[..64].to_owned()
}
