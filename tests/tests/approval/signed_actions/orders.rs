//! Signed orders for queued and running requests: each counts once, and only while it is new.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use toolexec_tests::{Bench, CliOutput, RequestText, SavedRequest, list, ssh_keygen_works};

use super::{APPROVE, ORDER, PlacedDraft, SignedActionScene, output_of};

impl SignedActionScene<'_> {
    /// Returns a signed order of this time.
    fn order(&self, kind: &str, id: &str, at: &str) -> String {
        let message = format!("toolexec-order v1\n{kind} {id}\nat {at}\n");
        let signature = self.sign(ORDER, &message);
        format!("toolexec-action v1\naction: {kind}\nat: {at}\ndocument: - {id}\n{signature}")
    }

    /// Submits a signed request beside the console, as an operator does.
    pub(super) fn submit(&self, request: &RequestText) -> SavedRequest {
        let saved = self.bench.save(request);
        self.sign_and_submit(&saved);
        saved
    }

    fn sign_and_submit(&self, saved: &SavedRequest) {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-Y", "sign", "-n", APPROVE, "-f"]).arg(&self.key).arg(&saved.path);
        CliOutput::of(&mut command).assert_code(0);
        self.service.submit_saved(saved).assert_code(0);
    }
}

/// Returns a time that is later than those of all earlier calls and starts.
pub(super) fn next_second() -> String {
    thread::sleep(Duration::from_millis(1100));
    output_of(Command::new("date").args(["-u", "+%FT%TZ"])).trim().to_owned()
}

fn ago(seconds: u32) -> String {
    let then = format!("-{seconds} seconds");
    output_of(Command::new("date").args(["-u", "-d", &then, "+%FT%TZ"])).trim().to_owned()
}

#[test]
fn a_signed_order_holds_releases_and_cancels() {
    if !ssh_keygen_works("a_signed_order_holds_releases_and_cancels") {
        return;
    }
    let bench = Bench::new();
    let mut scene = SignedActionScene::prepare(&bench);
    let waiting = scene.submit(&RequestText::python("print('ran')"));
    let mut hold = bench.command("toolexec");
    hold.args(["hold", &waiting.id, "--spool"]).arg(scene.service.spool());
    CliOutput::of(&mut hold).assert_code(0);
    let early = output_of(Command::new("date").args(["-u", "+%FT%TZ"])).trim().to_owned();
    thread::sleep(Duration::from_millis(1100));
    scene.service.spawn();
    let held = scene.service.path(&format!("public/held/{}.md.json", waiting.id));
    scene.service.wait_for("the request to be held", |_| held.exists());
    // An order from before the start of the daemon may have been taken by the last one.
    scene.refuses("early", scene.order("release", &waiting.id, &early), "is not after");
    scene.refuses("old", scene.order("release", &waiting.id, &ago(301)), "sign it again");
    scene.takes("a", &scene.order("release", &waiting.id, &next_second()));
    scene.service.record_of(&waiting.id).assert_outcome("ok");

    let script = "import time; time.sleep(100)";
    let running = scene.submit(&RequestText::python(script).time_sec(120));
    scene.service.wait_for("it to run", |it| it.log().matches("started").count() == 2);
    let file = |order: &str| scene.service.path(&format!("approved/{}.md.{order}", running.id));
    let hold = scene.order("hold", &running.id, &next_second());
    scene.takes("b", &hold);
    assert!(file("hold").exists());
    fs::remove_file(file("hold")).unwrap();
    // The same order again, and one that was signed before it.
    scene.refuses("again", &hold, "is not after");
    assert!(!file("hold").exists());
    scene.takes("c", &scene.order("cancel", &running.id, &next_second()));
    scene.service.record_of(&running.id).assert_outcome("cancelled");
    scene.refuses(
        "gone",
        scene.order("hold", &running.id, &next_second()),
        "no such waiting request",
    );
    assert_eq!(list(&scene.service.path("approved")), super::NOTHING);
}

/// Its signer has learned that it had no effect.
#[test]
fn an_order_that_was_answered_as_not_waiting_is_not_given_later() {
    if !ssh_keygen_works("an_order_that_was_answered_as_not_waiting_is_not_given_later") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let saved = bench.save(&RequestText::python("print('ran')"));
    let release = scene.order("release", &saved.id, &next_second());
    scene.refuses("early", &release, "no such waiting request");
    // Another person holds the request when it is queued.
    let hold = scene.service.path(&format!("approved/{}.md.hold", saved.id));
    fs::write(&hold, "").unwrap();
    scene.sign_and_submit(&saved);
    let held = scene.service.path(&format!("public/held/{}.md.json", saved.id));
    scene.service.wait_for("the request to be held", |_| held.exists());
    scene.refuses("again", &release, "is not after");
    assert!(hold.exists());
    assert!(scene.service.records().is_empty());
    scene.takes("anew", &scene.order("release", &saved.id, &next_second()));
    scene.service.record_of(&saved.id).assert_outcome("ok");
}

#[test]
fn an_order_counts_for_its_own_request_and_signer() {
    if !ssh_keygen_works("an_order_counts_for_its_own_request_and_signer") {
        return;
    }
    let bench = Bench::new();
    let mut scene = SignedActionScene::prepare(&bench);
    let waiting = scene.submit(&RequestText::python("print('ran')"));
    let mut hold = bench.command("toolexec");
    hold.args(["hold", &waiting.id, "--spool"]).arg(scene.service.spool());
    CliOutput::of(&mut hold).assert_code(0);
    scene.service.spawn();
    let at = next_second();
    let release = scene.order("release", &waiting.id, &at);
    let other = release.replacen("action: release", "action: cancel", 1);
    scene.refuses("other-order", other, "does not verify");
    let other = release.replacen(&waiting.id, "TR-20260101-000000Z-other", 1);
    scene.refuses("other-request", other, "does not verify");
    let armour = release.find("-----").unwrap();
    scene.refuses("unsigned", &release[..armour], "does not end in one SSH signature");
    let approve = scene.sign(APPROVE, "x");
    scene.refuses("other-use", format!("{}{approve}", &release[..armour]), "namespace");
    // A request in approved/ is not a draft.
    let text = fs::read_to_string(&waiting.path).unwrap();
    let queued = PlacedDraft { id: waiting.id.clone(), draft: text.clone(), filled: text };
    scene.refuses("queued", scene.signed_approval(&queued), "not a draft any more");
    assert!(scene.service.records().is_empty());
    scene.takes("good", &release);
    scene.service.record_of(&waiting.id).assert_outcome("ok");
}
