//! An action that was taken is not taken again, also if its request never ran and an agent drafts
//! the same bytes once more. No agent can delay the action of another request.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use toolexec_tests::{Bench, CliOutput, RequestText, list, skip, ssh_keygen_works};

use super::orders::next_second;
use super::{NOTHING, PlacedDraft, REJECT, SignedActionScene};

const PYTHON: &str = "/usr/bin/python3";
/// Holds a lease on a file: opening the file without waiting fails with EAGAIN meanwhile. The
/// daemon may have the file open for a moment.
const LEASE: &str = "import errno, fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
file, end = os.open(sys.argv[1], os.O_RDWR), time.monotonic() + 30
while True:
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        break
    except OSError as error:
        if error.errno == errno.EINVAL:
            sys.exit(print('EINVAL', flush=True))
        if error.errno != errno.EAGAIN or time.monotonic() > end:
            raise
        time.sleep(0.01)
print('held', flush=True)
time.sleep(60)
";

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

/// Returns the same draft as its approver signs it later.
fn signed_later(draft: &PlacedDraft) -> PlacedDraft {
    let line = |at: &str| format!("approved_utc: \"{at}\"");
    let filled = draft.filled.replacen(&line(draft.at()), &line(&next_second()), 1);
    PlacedDraft { id: draft.id.clone(), draft: draft.draft.clone(), filled }
}

/// A program that holds a lease until it is dropped.
struct LeaseHolder(Child);

impl Drop for LeaseHolder {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl LeaseHolder {
    /// Returns `None` if the file system has no leases.
    fn on(path: &Path) -> Option<Self> {
        let mut command = Command::new(PYTHON);
        command.args(["-c", LEASE]).arg(path).stdout(Stdio::piped());
        let mut holder = Self(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(holder.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(["held\n", "EINVAL\n"].contains(&line.as_str()), "the holder ended: {line:?}");
        (line == "held\n").then_some(holder)
    }
}

#[test]
fn a_cancelled_request_does_not_return_by_its_old_approval() {
    if !ssh_keygen_works("a_cancelled_request_does_not_return_by_its_old_approval") {
        return;
    }
    let bench = Bench::new();
    let mut scene = SignedActionScene::prepare(&bench);
    scene.demand_second_approver();
    scene.service.spawn();
    let draft = scene.draft(&good());
    let action = scene.signed_approval(&draft);
    scene.takes("a", &action);
    let held = scene.service.path(&format!("public/held/{}.md.json", draft.id));
    scene.service.wait_for("the request to be held", |_| held.exists());
    let mut cancel = bench.command("toolexec");
    cancel.args(["cancel", &draft.id, "--spool"]).arg(scene.service.spool());
    CliOutput::of(&mut cancel).assert_code(0);
    scene.service.wait_for("its record", |it| it.records_of(&draft.id).len() == 1);
    let approved = scene.service.path("approved");
    scene.service.wait_for("its files to be removed", |_| list(&approved) == NOTHING);

    scene.place_draft(&draft.id, &draft.draft);
    scene.refuses("again", &action, "the last action about its documents");
    scene.service.signal("TERM");
    assert_eq!(scene.service.wait(), Some(0));
    scene.service.spawn();
    scene.refuses("restarted", &action, "the last action about its documents");
    assert_eq!(scene.service.records_of(&draft.id).len(), 1);
    assert_eq!(list(&approved), NOTHING);
    // The person may approve it again.
    scene.takes("later", &scene.signed_approval(&signed_later(&draft)));
}

/// The approval was signed before the rejection, and is delivered after it.
#[test]
fn a_rejected_draft_does_not_return_by_an_earlier_approval() {
    if !ssh_keygen_works("a_rejected_draft_does_not_return_by_an_earlier_approval") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let draft = scene.draft(&good());
    let action = scene.signed_approval(&draft);
    let (line, signature) = (scene.line(&draft), scene.sign(REJECT, &draft.draft));
    scene.takes("a", &format!("toolexec-action v1\naction: reject\n{line}{signature}"));
    scene.service.wait_for("a record", |service| service.records().len() == 1);
    let approved = scene.service.path("approved");
    scene.service.wait_for("its files to be removed", |_| list(&approved) == NOTHING);
    scene.place_draft(&draft.id, &draft.draft);
    scene.refuses("withheld", &action, "the last action about its documents");
    assert_eq!(scene.service.records().len(), 1);
}

#[test]
fn a_daemon_that_cannot_mark_an_action_takes_nothing() {
    if !ssh_keygen_works("a_daemon_that_cannot_mark_an_action_takes_nothing") {
        return;
    }
    let bench = Bench::new();
    let mut scene = SignedActionScene::start(&bench);
    scene.still_takes_a_good_action();
    let approved = scene.service.path("approved");
    scene.service.wait_for("its files to be removed", |_| list(&approved) == NOTHING);
    let draft = scene.draft(&good());
    let action = scene.signed_approval(&draft);
    let marks = scene.service.state().join("signed-actions");
    // A file cannot be renamed over a directory.
    fs::remove_file(&marks).unwrap();
    fs::create_dir(&marks).unwrap();
    scene.refuses("unmarked", &action, "signed-actions");
    scene.assert_untouched(&draft);
    scene.service.signal("TERM");
    assert_eq!(scene.service.wait(), Some(0));
    // It is unknown what an earlier daemon has taken.
    fs::remove_dir(&marks).unwrap();
    fs::write(&marks, "torn").unwrap();
    scene.service.spawn();
    scene.deliver("b", &action);
    let log = "signed actions are not taken";
    scene.service.wait_for("a report", |service| service.log().contains(log));
    assert!(scene.service.path("signed/b.action").exists());
    scene.assert_untouched(&draft);
    fs::remove_file(&marks).unwrap();
    scene.service.signal("HUP");
    assert_eq!(scene.answer("b")["taken"], true);
    scene.service.record_of(&draft.id).assert_outcome("ok");
}

#[test]
fn a_draft_that_cannot_be_opened_now_delays_no_other() {
    let test = "a_draft_that_cannot_be_opened_now_delays_no_other";
    if !ssh_keygen_works(test) {
        return;
    }
    if !Path::new(PYTHON).is_file() {
        return skip(test, "no /usr/bin/python3 to take a lease with");
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let draft = scene.draft(&good());
    let path = scene.service.path(&format!("drafts/{}.md", draft.id));
    let action = scene.signed_approval(&draft);
    let Some(holder) = LeaseHolder::on(&path) else {
        return skip(test, "the file system has no leases");
    };
    scene.deliver("leased", &action);
    scene.service.wait_for("a report", |it| it.log().contains("signed actions are not taken"));
    scene.still_takes_a_good_action();
    assert!(scene.service.path("signed/leased.action").exists());
    assert!(!scene.service.path("signed/leased.answer").exists());
    drop(holder);
    assert_eq!(scene.answer("leased")["taken"], true);
    scene.service.record_of(&draft.id).assert_outcome("ok");
}
