//! A spool whose daemon belongs to a fleet of one host, and the tool that its requests run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::crash_support::{CountedTool, RunCounter};
use toolexec_tests::{
    Bench, CliOutput, RequestText, STANDING_HOST, STANDING_NAMESPACE, SavedStanding, Service,
    ServiceConfig, StandingText, sign_file, ssh_keygen_works,
};

use super::fake_gate::FakeGate;

pub(super) const NAMESPACE: &str = "fleet.tool-exec@threegate";
const SCRIPT: &str = "the tool does not read it";
const BY_NAME: &str = "x-audience: \"host1.example\"";
const BY_LABEL: &str = "x-audience: \"gpu\"";

/// The daemon, and the key of the operator who signs its list.
pub(super) struct FleetScene<'a> {
    bench: &'a Bench,
    pub(super) service: Service<'a>,
    pub(super) counted: RunCounter,
    pub(super) key: PathBuf,
}

impl<'a> FleetScene<'a> {
    /// Prepares a daemon with this wait for a start. Starts neither daemon nor gate.
    pub(super) fn new(bench: &'a Bench, tool: &CountedTool, start_wait_sec: u32) -> Self {
        let (key, signers) = SavedStanding::make_approver(bench);
        let config = ServiceConfig { allowed_signers: Some(signers), ..tool.service_config(bench) };
        let service = Service::prepare(bench, &config);
        service.configure(&format!("log: {{origin: {STANDING_HOST}, heartbeat_sec: 0}}"));
        let scene = Self { bench, service, counted: tool.count(), key };
        scene.service.configure(&format!(
            "fleet: {{socket: {}, list: {}, start_wait_sec: {start_wait_sec}}}",
            scene.socket().display(),
            scene.list_path().display()
        ));
        scene.write_list(&scene.list());
        scene.sign_list(NAMESPACE, &scene.key);
        scene
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.bench.home().join("gate")
    }

    pub(super) fn list_path(&self) -> PathBuf {
        self.bench.home().join("fleet.yaml")
    }

    /// A list of this host alone, with the label `gpu`.
    pub(super) fn list(&self) -> String {
        let public = fs::read_to_string(self.key.with_extension("pub")).unwrap();
        let public = public.trim();
        format!(
            "fleet: build-farm\nfleet_id: 0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0\nserial: 7\n\
             hosts:\n  - name: {STANDING_HOST}\n    labels: [gpu]\n    record_keys: \
             ['tool-exec {public}']\n    log_key: '{STANDING_HOST}+0123abcd+AAAA'\n    \
             witness_key: '{STANDING_HOST}-witness+0123abcd+BBBB'\n"
        )
    }

    pub(super) fn write_list(&self, text: &str) {
        fs::write(self.list_path(), text).unwrap();
    }

    pub(super) fn sign_list(&self, namespace: &str, key: &Path) {
        fs::remove_file(signature_of(&self.list_path())).unwrap_or_default();
        sign_file(namespace, key, &self.list_path());
    }

    pub(super) fn gate(&self) -> FakeGate {
        FakeGate::listen(&self.socket())
    }

    /// A request whose run is counted under its id.
    pub(super) fn request(&self) -> RequestText {
        let text = RequestText::python(SCRIPT);
        let word = self.counted.run_argument(&text.id);
        text.command(&format!("python script.py {word}"))
    }

    pub(super) fn place(&self, request: &RequestText) {
        let aside = self.service.path("aside");
        fs::create_dir_all(&aside).unwrap();
        let _saved = SavedStanding::place_use(request, &aside, &self.service.path("approved"));
    }

    /// Submits a new request, and returns its id.
    pub(super) fn submit(&self) -> String {
        let request = self.request();
        self.place(&request);
        request.id
    }

    /// Submits a standing approval for the label `gpu`, and waits until it is admitted. A use runs
    /// the tool with this argument.
    pub(super) fn admit_standing(&self, argument: &str) -> SavedStanding {
        let text = StandingText::of_script(SCRIPT)
            .edit("integer: [1, 100]", &format!("choice: [\"{argument}\"]"))
            .edit("script.py, \"7\"]", &format!("script.py, \"{argument}\"]"))
            .edit("uses_per_hour_max: 100", "uses_per_hour_max: 20")
            .edit(BY_NAME, BY_LABEL);
        let standing = text.save(self.bench.scratch().path());
        standing.sign(STANDING_NAMESPACE, &self.key);
        standing.place_in(&self.service.path("approved"));
        let file = self.service.path(&format!("approved/{}.md", standing.id));
        self.service.wait_for("the standing approval to be taken", |_| !file.exists());
        standing
    }

    /// Submits a use of a standing approval for the label `gpu`, and returns its id.
    pub(super) fn submit_use(&self, standing: &SavedStanding, argument: &str) -> String {
        let request = standing.use_of(SCRIPT, argument).edit(BY_NAME, BY_LABEL);
        self.place(&request);
        request.id
    }

    pub(super) fn runs_of(&self, id: &str) -> u32 {
        self.counted.counts().get(id).copied().unwrap_or_default()
    }

    /// Waits for the record of a request that must not run, with this reason.
    #[track_caller]
    pub(super) fn assert_not_started(&self, id: &str, reason: &str) {
        let record = self.service.record_of(id);
        record.assert_outcome("setup_error");
        assert!(record.text.contains(reason), "{reason:?} is not in {}", record.text);
        assert_eq!(self.runs_of(id), 0);
    }

    pub(super) fn check(&self) -> CliOutput {
        CliOutput::of(self.service.command().arg("--check"))
    }

    #[track_caller]
    pub(super) fn stop(&mut self) {
        self.service.signal("TERM");
        assert_eq!(self.service.wait(), Some(0), "{}", self.service.log());
    }
}

/// Returns the path of the signature of a list.
pub(super) fn signature_of(path: &Path) -> PathBuf {
    path.with_extension("yaml.sig")
}

pub(super) fn sha256_of(path: &Path) -> String {
    let output = CliOutput::of(Command::new("sha256sum").arg(path));
    output.assert_code(0);
    output.stdout[..64].to_owned()
}

/// Makes the tool, or skips the test.
pub(super) fn tool_for(test: &str) -> Option<CountedTool> {
    if !ssh_keygen_works(test) {
        return None;
    }
    CountedTool::build(test)
}
