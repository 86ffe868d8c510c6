//! Signed actions through the daemon: a signature that was delivered to `signed/` counts as one
//! that was submitted, and nothing else that is delivered there has an effect.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod attacks;
mod effects;
mod orders;
mod replays;
mod unanswered;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{
    Bench, CliOutput, RequestText, STANDING_HOST, SavedRequest, SavedStanding, Service,
    ServiceConfig, list,
};

const APPROVE: &str = "approve.tool-exec@threegate";
const BATCH: &str = "batch.tool-exec@threegate";
const REJECT: &str = "reject.tool-exec@threegate";
const ORDER: &str = "order.tool-exec@threegate";

const NOTHING: [String; 0] = [];

fn output_of(command: &mut Command) -> String {
    let output = CliOutput::of(command);
    output.assert_code(0);
    output.stdout
}

fn sha256(bytes: &[u8], scratch: &Path) -> String {
    let path = scratch.join("digest");
    fs::write(&path, bytes).unwrap();
    output_of(Command::new("sha256sum").arg(path))[..64].to_owned()
}

/// Returns the value of a quoted key of the front matter.
fn value<'t>(text: &'t str, key: &str) -> &'t str {
    let begin = format!("\n{key}: \"");
    text.split_once(&begin).unwrap().1.split('"').next().unwrap()
}

/// Returns the text with an empty approval, as agents draft it.
fn without_approval(text: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((key @ ("approved_by" | "approved_utc"), _)) => format!("{key}: \"\"\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// A draft in `drafts/`, and its text as the approver `tester` signs it.
struct PlacedDraft {
    id: String,
    draft: String,
    filled: String,
}

impl PlacedDraft {
    fn at(&self) -> &str {
        value(&self.filled, "approved_utc")
    }
}

/// A daemon whose policy requires a signature, with the directories of agents and of the console.
struct SignedActionScene<'a> {
    bench: &'a Bench,
    service: Service<'a>,
    key: PathBuf,
}

impl<'a> SignedActionScene<'a> {
    fn start(bench: &'a Bench) -> Self {
        let mut scene = Self::prepare(bench);
        scene.service.spawn();
        scene
    }

    fn prepare(bench: &'a Bench) -> Self {
        let (key, signers) = SavedStanding::make_approver(bench);
        let config = ServiceConfig::for_owner(bench).with_one_signature().with_hold_sec(3600);
        let config = ServiceConfig { allowed_signers: Some(signers), ..config };
        let service = Service::prepare(bench, &config);
        service.configure(&format!("log: {{origin: {STANDING_HOST}}}"));
        for name in ["drafts", "signed"] {
            fs::create_dir(service.path(name)).unwrap();
        }
        Self { bench, service, key }
    }

    /// Has each request need a second approver, `bob`. Returns his key. Call it before the start.
    fn demand_second_approver(&self) -> PathBuf {
        let second = self.bench.home().join("second");
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&second);
        CliOutput::of(&mut command).assert_code(0);
        let signers = self.bench.scratch().path().join("allowed_signers");
        let public = fs::read_to_string(second.with_extension("pub")).unwrap();
        let both = format!("{}bob {public}", fs::read_to_string(&signers).unwrap());
        fs::write(&signers, both).unwrap();
        let policy = self.bench.home().join("policy.yaml");
        let mut text = fs::read_to_string(&policy).unwrap();
        for class in ["low", "medium", "high"] {
            text = text.replacen(&format!("{class}: 1"), &format!("{class}: 2"), 1);
        }
        fs::write(&policy, text).unwrap();
        second
    }

    fn scratch(&self) -> PathBuf {
        self.bench.scratch().dir("aside")
    }

    /// Places a request in `drafts/`, its file last.
    fn draft(&self, request: &RequestText) -> PlacedDraft {
        let SavedRequest { id, path, inputs } = request.save(&self.scratch());
        let filled = fs::read_to_string(&path).unwrap();
        let draft = without_approval(&filled);
        fs::remove_file(&path).unwrap();
        if inputs.exists() {
            // `drafts/` may be on a file system of its own.
            let mut command = Command::new("mv");
            command.arg(&inputs).arg(self.service.path("drafts"));
            CliOutput::of(&mut command).assert_code(0);
        }
        self.place_draft(&id, &draft);
        PlacedDraft { id, draft, filled }
    }

    fn place_draft(&self, id: &str, text: &str) {
        fs::write(self.service.path(&format!("drafts/{id}.md")), text).unwrap();
    }

    fn line(&self, draft: &PlacedDraft) -> String {
        let digest = sha256(draft.draft.as_bytes(), self.bench.scratch().path());
        format!("document: {digest} {}\n", draft.id)
    }

    /// Signs a message, and returns the armour.
    fn sign(&self, namespace: &str, message: &str) -> String {
        self.sign_with(&self.key, namespace, message)
    }

    fn sign_with(&self, key: &Path, namespace: &str, message: &str) -> String {
        let path = self.bench.scratch().path().join("message");
        fs::write(&path, message).unwrap();
        let signature = self.bench.scratch().path().join("message.sig");
        fs::remove_file(&signature).unwrap_or_default();
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(key).arg(path);
        CliOutput::of(&mut command).assert_code(0);
        fs::read_to_string(signature).unwrap()
    }

    /// Returns the action that approves drafts, with this signature.
    fn approval(&self, drafts: &[&PlacedDraft], signature: &str) -> String {
        let lines: String = drafts.iter().map(|draft| self.line(draft)).collect();
        let at = drafts[0].at();
        format!("toolexec-action v1\naction: approve\nby: tester\nat: {at}\n{lines}{signature}")
    }

    /// Returns the signed approval of one draft.
    fn signed_approval(&self, draft: &PlacedDraft) -> String {
        self.approval(&[draft], &self.sign(APPROVE, &draft.filled))
    }

    /// Delivers a file by a rename, as the console does.
    fn deliver(&self, stem: &str, text: impl AsRef<[u8]>) {
        let hidden = self.service.path(&format!("signed/.{stem}"));
        fs::write(&hidden, text).unwrap();
        fs::rename(hidden, self.service.path(&format!("signed/{stem}.action"))).unwrap();
    }

    #[track_caller]
    fn answer(&self, stem: &str) -> Value {
        let path = self.service.path(&format!("signed/{stem}.answer"));
        self.service.wait_for("an answer", |_| path.exists());
        let answer = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let action = self.service.path(&format!("signed/{stem}.action"));
        self.service.wait_for("the action to be removed", |_| !action.exists());
        fs::remove_file(path).unwrap();
        answer
    }

    #[track_caller]
    fn takes(&self, stem: &str, text: &str) {
        self.deliver(stem, text);
        let answer = self.answer(stem);
        assert_eq!(answer["taken"], true, "{answer}: {}", self.service.log());
        assert!(answer["reason"].is_null(), "{answer}");
    }

    #[track_caller]
    fn refuses(&self, stem: &str, text: impl AsRef<[u8]>, reason: &str) {
        self.deliver(stem, text);
        let answer = self.answer(stem);
        assert_eq!(answer["taken"], false, "{stem}: {answer}");
        let given = answer["reason"].as_str().unwrap();
        assert!(given.contains(reason), "{stem}: {reason:?} is not in {given:?}");
    }

    /// Asserts that a good action is still taken, within five seconds: other tests run beside.
    #[track_caller]
    fn still_takes_a_good_action(&self) {
        let draft = self.draft(&RequestText::python("print('ran')"));
        let action = self.signed_approval(&draft);
        let begun = Instant::now();
        self.takes("good", &action);
        let longest = Duration::from_secs(5) * time_factor();
        assert!(begun.elapsed() < longest, "{:?}", begun.elapsed());
        self.service.record_of(&draft.id).assert_outcome("ok");
    }

    /// Asserts that a draft is where it was, and that nothing came of it.
    #[track_caller]
    fn assert_untouched(&self, draft: &PlacedDraft) {
        let path = self.service.path(&format!("drafts/{}.md", draft.id));
        assert_eq!(fs::read_to_string(path).unwrap(), draft.draft);
        assert!(self.service.path(&format!("drafts/{}.inputs", draft.id)).exists());
        assert!(self.service.records_of(&draft.id).is_empty());
        assert_eq!(list(&self.service.path("approved")), NOTHING);
    }
}
