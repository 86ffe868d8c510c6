//! A draft whose lock an agent holds for ever: the signed actions wait, and everything else goes on.

use std::thread;
use std::time::{Duration, Instant};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, HeldLock, RequestText, SavedRequest, ssh_keygen_works};

use super::{PlacedDraft, SignedActionScene};

const LATE: &str = ": no answer for 10 s; ";
const OVER: &str = ": answers again";

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

/// Starts a daemon that runs requests side by side.
fn start(bench: &Bench) -> SignedActionScene<'_> {
    let mut scene = SignedActionScene::prepare(bench);
    scene.service.configure("runs_max: 3");
    scene.service.spawn();
    scene
}

impl SignedActionScene<'_> {
    /// Submits a request, and waits until its tool runs.
    fn submit_sleeper(&self) -> SavedRequest {
        let sleeper = RequestText::python("import time; time.sleep(100)").time_sec(120);
        let saved = self.submit(&sleeper);
        self.service.wait_for("it to run", |it| it.log().contains("started"));
        saved
    }

    /// Holds the lock of a draft.
    fn hold_lock(&self, test: &str, draft: &PlacedDraft) -> Option<HeldLock> {
        HeldLock::of(test, &self.service.path(&format!("drafts/{}.md", draft.id)))
    }

    /// Has the holder also hold the lock of `drafts/`.
    fn hold_directory(&self, held: &mut HeldLock, draft: &PlacedDraft) {
        held.rename_to(&self.service.path(&format!("drafts/{}-2.md", draft.id)));
    }

    /// Waits for a record while another request runs.
    fn wait_for_record(&self, draft: &PlacedDraft) {
        self.service.wait_for("a record", |it| !it.records_of(&draft.id).is_empty());
        self.service.records_of(&draft.id).remove(0).assert_outcome("ok");
    }

    fn times_logged(&self, text: &str) -> usize {
        self.service.log().matches(text).count()
    }

    /// Asserts that the daemon takes an operator's order and a request, though its thread waits.
    fn assert_served(&self, running: &SavedRequest) {
        let mut cancel = self.bench.command("toolexec");
        cancel.args(["cancel", &running.id, "--spool"]).arg(self.service.spool());
        let begun = Instant::now();
        CliOutput::of(&mut cancel).assert_code(0);
        self.service.record_of(&running.id).assert_outcome("cancelled");
        assert!(begun.elapsed() < Duration::from_secs(10) * time_factor(), "{:?}", begun.elapsed());
        let new = self.submit(&good());
        self.service.record_of(&new.id).assert_outcome("ok");
    }
}

/// The steps of an agent that holds its draft while an action about it is delivered.
fn assert_a_held_draft_delays_signed_actions_only(test: &str, is_directory_held_first: bool) {
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let scene = start(&bench);
    let running = scene.submit_sleeper();
    let (draft, other) = (scene.draft(&good()), scene.draft(&good()));
    let (action, waiting) = (scene.signed_approval(&draft), scene.signed_approval(&other));
    let Some(mut held) = scene.hold_lock(test, &draft) else { return };
    if is_directory_held_first {
        scene.hold_directory(&mut held, &draft);
        scene.deliver("held", &action);
    } else {
        scene.deliver("held", &action);
        // The draft is read without its lock, and removed last.
        scene.wait_for_record(&draft);
        scene.hold_directory(&mut held, &draft);
    }
    scene.service.wait_for("a notice", |_| scene.times_logged(LATE) > 0);
    scene.deliver("waiting", &waiting);
    scene.assert_served(&running);
    for stem in ["held", "waiting"] {
        assert!(scene.service.path(&format!("signed/{stem}.action")).exists());
        assert!(!scene.service.path(&format!("signed/{stem}.answer")).exists());
    }
    assert_eq!((scene.times_logged(LATE), scene.times_logged(OVER)), (1, 0));
    drop(held);
    for stem in ["held", "waiting"] {
        assert_eq!(scene.answer(stem)["taken"], true, "{}", scene.service.log());
    }
    for draft in [&draft, &other] {
        scene.service.record_of(&draft.id).assert_outcome("ok");
    }
    scene.service.wait_for("the second notice", |_| scene.times_logged(OVER) > 0);
    assert_eq!((scene.times_logged(LATE), scene.times_logged(OVER)), (1, 1));
    scene.service.verify().assert_code(0);
}

#[test]
fn a_draft_that_is_held_delays_signed_actions_only() {
    let test = "a_draft_that_is_held_delays_signed_actions_only";
    assert_a_held_draft_delays_signed_actions_only(test, false);
}

#[test]
fn a_directory_that_is_held_delays_signed_actions_only() {
    let test = "a_directory_that_is_held_delays_signed_actions_only";
    assert_a_held_draft_delays_signed_actions_only(test, true);
}

/// The daemon ends its work, and the kernel ends the process when the lock is free.
#[test]
fn a_daemon_stops_though_a_draft_is_held() {
    let test = "a_daemon_stops_though_a_draft_is_held";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let mut scene = start(&bench);
    let running = scene.submit_sleeper();
    let draft = scene.draft(&good());
    let action = scene.signed_approval(&draft);
    let Some(held) = scene.hold_lock(test, &draft) else { return };
    scene.deliver("held", &action);
    scene.wait_for_record(&draft);
    scene.service.signal("TERM");
    scene.service.wait_for("the end of its work", |it| it.log().contains("INFO stopped"));
    // The run has its record.
    assert_eq!(scene.service.records_of(&running.id).len(), 1);
    scene.service.wait_for("a notice", |it| it.log().contains("the process ends when it answers"));
    thread::sleep(Duration::from_millis(500));
    // A kernel may let a fatal signal end such a wait.
    let status = match scene.service.exit_status() {
        Some(status) => status.code(),
        None => {
            // Until then its files stay locked.
            CliOutput::of(&mut scene.service.command()).assert_code(3);
            drop(held);
            scene.service.wait()
        }
    };
    assert_eq!(status, Some(0), "{}", scene.service.log());
    scene.service.spawn();
    let answer = scene.answer("held");
    assert_eq!(answer["taken"], false, "{answer}");
    assert_eq!(scene.service.records_of(&draft.id).len(), 1);
    scene.service.verify().assert_code(0);
}
