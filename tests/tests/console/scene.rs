//! A daemon that requires one signature, and a console beside it. Both trust the key of `tester`,
//! and the policy lists the console's origin.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{
    ABSENT_PASSKEY, Bench, CliOutput, Record, RequestText, STANDING_HOST, STANDING_NAMESPACE,
    SavedRequest, SavedStanding, Service, ServiceConfig, StandingText, list, unused_port,
};

use super::console_process::ConsoleProcess;

pub(super) struct ConsoleScene<'a> {
    pub(super) bench: &'a Bench,
    pub(super) service: Service<'a>,
    pub(super) console: ConsoleProcess,
    signers: PathBuf,
    /// The SSH key of `tester`.
    key: PathBuf,
}

impl<'a> ConsoleScene<'a> {
    pub(super) fn start(bench: &'a Bench) -> Self {
        Self::start_for(bench, &[])
    }

    /// Starts both. The policy lists these origins too.
    pub(super) fn start_for(bench: &'a Bench, more_origins: &[&str]) -> Self {
        let (key, signers) = SavedStanding::make_approver(bench);
        let port = unused_port();
        let config = ServiceConfig::for_owner(bench).with_one_signature();
        let config = ServiceConfig {
            allowed_signers: Some(signers.clone()),
            ..config.with_passkeys(port, more_origins)
        };
        let mut service = Service::prepare(bench, &config);
        service.configure(&format!("log: {{origin: {STANDING_HOST}}}"));
        for place in ["drafts", "signed"] {
            fs::create_dir(service.path(place)).unwrap();
        }
        service.spawn();
        let command = bench.command("toolexec-console");
        let console = ConsoleProcess::start(command, (bench, &service, &signers), port);
        let scene = Self { bench, service, console, signers, key };
        scene.trust(&format!("bob {ABSENT_PASSKEY}"));
        scene
    }

    /// Starts a second console, whose origin the policy does not list.
    pub(super) fn another_console(&self) -> ConsoleProcess {
        self.console_at(unused_port(), &[])
    }

    /// Starts a second console, which browsers reach under this origin.
    pub(super) fn console_behind(&self, origin: &str) -> ConsoleProcess {
        self.console_at(unused_port(), &["--origin", origin])
    }

    /// Starts a second console at a port, with more options.
    pub(super) fn console_at(&self, port: u16, options: &[&str]) -> ConsoleProcess {
        let mut command = self.bench.command("toolexec-console");
        command.args(options);
        ConsoleProcess::start(command, self.files(), port)
    }

    /// Starts a second console at a Unix socket, which browsers reach under this origin.
    pub(super) fn console_at_socket(&self, socket: &Path, origin: &str) -> ConsoleProcess {
        let mut command = self.bench.command("toolexec-console");
        command.args(["--origin", origin]);
        ConsoleProcess::start_at_socket(command, self.files(), socket)
    }

    /// Starts a second console, and writes its system calls to a file.
    pub(super) fn traced_console(&self, trace: &Path) -> ConsoleProcess {
        let calls =
            "trace=open,openat,openat2,execve,socket,connect,seccomp,landlock_restrict_self";
        let mut command = self.bench.command("strace");
        // The console is its parent, so that the end of the test ends both.
        command.args(["-D", "-f", "-q", "-e", calls, "-o"]).arg(trace);
        command.arg(self.bench.scratch().path().join("bin/toolexec-console"));
        ConsoleProcess::start(command, self.files(), unused_port())
    }

    fn files(&self) -> (&Bench, &Service<'a>, &Path) {
        (self.bench, &self.service, &self.signers)
    }

    /// Adds a line to `allowed_signers`, as an administrator does.
    pub(super) fn trust(&self, line: &str) {
        let mut file = OpenOptions::new().append(true).open(&self.signers).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// Places a draft without an approval.
    pub(super) fn draft(&self, request: RequestText) -> SavedRequest {
        let draft = request.line("approved_by", "\"\"").line("approved_utc", "\"\"");
        let aside = self.bench.scratch().dir("aside");
        SavedStanding::place_use(&draft, &aside, &self.service.path("drafts"))
    }

    /// Places the draft of a request that prints a text.
    pub(super) fn draft_that_prints(&self, text: &str) -> SavedRequest {
        self.draft(RequestText::python(&format!("print('{text}')")))
    }

    /// Returns the digest of a draft.
    pub(super) fn digest_of(&self, id: &str) -> String {
        let file = self.service.path(&format!("drafts/{id}.md"));
        let output = CliOutput::of(self.bench.command("sha256sum").arg(file));
        output.assert_code(0);
        output.stdout[..64].to_owned()
    }

    /// Admits a standing approval that `tester` has signed.
    pub(super) fn admit_standing(&self, script: &str) -> SavedStanding {
        let standing = StandingText::of_script(script).save(self.bench.scratch().path());
        standing.sign(STANDING_NAMESPACE, &self.key);
        standing.place_in(&self.service.path("approved"));
        let public = self.service.path(&format!("public/standing/{}.md", standing.id));
        self.service.wait_for("the standing approval to be published", |_| public.exists());
        standing
    }

    /// Revokes a standing approval with the key of `tester`.
    pub(super) fn revoke_standing(&self, standing: &SavedStanding) {
        fs::remove_file(standing.path.with_extension("md.sig")).unwrap();
        standing.sign("reject.tool-exec@threegate", &self.key);
        standing.place_in(&self.service.path("approved"));
        let public = self.service.path(&format!("public/standing/{}.md", standing.id));
        self.service.wait_for("the standing approval to be revoked", |_| !public.exists());
    }

    /// Submits a use of a standing approval.
    pub(super) fn submit_use(&self, request: &RequestText) {
        let aside = self.bench.scratch().dir("aside");
        SavedStanding::place_use(request, &aside, &self.service.path("approved"));
    }

    /// Runs a use of a standing approval.
    pub(super) fn run_use(&self, request: &RequestText) -> Record {
        self.submit_use(request);
        self.service.record_of(&request.id)
    }

    /// Returns the signature of a key that no file lists.
    pub(super) fn signature_of_a_stranger(&self, namespace: &str, text: &str) -> String {
        let key = self.bench.home().join("stranger");
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key);
        CliOutput::of(&mut command).assert_code(0);
        let file = self.bench.scratch().file("text", text);
        let mut command = Command::new("ssh-keygen");
        command.args(["-Y", "sign", "-n", namespace, "-f"]).arg(key).arg(&file);
        CliOutput::of(&mut command).assert_code(0);
        fs::read_to_string(file.with_extension("sig")).unwrap()
    }

    /// Delivers an action as the console's process does, and returns the daemon's answer.
    #[track_caller]
    pub(super) fn deliver(&self, stem: &str, action: &str) -> serde_json::Value {
        let path = |suffix: &str| self.service.path("signed").join(format!("{stem}{suffix}"));
        let hidden = self.service.path("signed").join(format!(".{stem}"));
        fs::write(&hidden, action).unwrap();
        fs::rename(hidden, path(".action")).unwrap();
        self.service.wait_for("the answer", |_| path(".answer").exists());
        serde_json::from_slice(&fs::read(path(".answer")).unwrap()).unwrap()
    }

    /// Asserts that the daemon refuses an action for a reason.
    #[track_caller]
    pub(super) fn assert_refused(&self, stem: &str, action: &str, reason: &str) {
        let answer = self.deliver(stem, action);
        assert_eq!(answer["taken"], false, "{stem}: {answer}");
        let given = answer["reason"].as_str().unwrap();
        assert!(given.contains(reason), "{stem}: {reason:?} is not in {given:?}");
    }

    /// Asserts that the console has delivered nothing, and that nothing has run.
    #[track_caller]
    pub(super) fn assert_nothing_signed(&self) {
        assert_eq!(list(&self.service.path("signed")), Vec::<String>::new());
        assert_eq!(self.service.visible_results(), Vec::<String>::new());
    }

    /// Asserts that stock OpenSSH verifies the signature that a record has for `alice`, and that it
    /// verifies no other text.
    #[track_caller]
    pub(super) fn assert_stock_verifies(&self, record: &Path, namespace: &str) {
        let request = record.join("request");
        let names = list(&request);
        let signatures: Vec<_> = names.iter().filter(|name| name.ends_with(".sig")).collect();
        let [signature] = &signatures[..] else { panic!("{names:?}") };
        let signature = request.join(signature);
        let text = fs::read_to_string(&signature).unwrap();
        let (_, batch) = text.split_once("-----END SSH SIGNATURE-----\n").unwrap();
        // A batch signs the list after its signature, and any other signature the document.
        let document = names.iter().find(|name| name.ends_with(".md")).unwrap();
        let message = match batch {
            "" => fs::read_to_string(request.join(document)).unwrap(),
            list => list.to_owned(),
        };
        for (message, code) in [(message.clone(), 0), (format!("{message}x"), 255)] {
            let message = self.bench.scratch().file("message", message);
            let line = format!(
                "ssh-keygen -Y verify -I alice -n {namespace} -f {} -s {} < {}",
                self.signers.display(),
                signature.display(),
                message.display()
            );
            CliOutput::of(&mut self.bench.shell(&line)).assert_code(code);
        }
    }
}
