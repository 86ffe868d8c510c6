//! The full screen of `watch` at 80 by 24: content, keys, and the terminal after every end.

use std::fs;
use std::path::{Path, PathBuf};

use toolexec_tests::{
    Bench, CliOutput, RequestText, SavedRequest, Service, ServiceConfig, StandingText, TmuxScreen,
    list, ssh_keygen_works, wait_for_no_process, wait_for_process,
};

use super::LONG;

const A: &str = "TR-20260209-160501Z-python-stats";

/// Creates a spool without a daemon, with one waiting request.
fn spool_by_hand(bench: &Bench) -> PathBuf {
    let spool = bench.home().join("by-hand");
    for part in ["approved", "results", "drafts"] {
        fs::create_dir_all(spool.join(part)).unwrap();
    }
    fs::write(spool.join(format!("approved/{A}.md")), "a request").unwrap();
    spool
}

fn watch_of(spool: &Path) -> String {
    format!("$TOOLEXEC_BIN/toolexec watch --spool {}", spool.display())
}

/// Starts the service under the standard policy with one signer. Returns the `watch` command line.
fn service_of_a_signer(bench: &Bench) -> (Service<'_>, String) {
    let key = bench.home().join("approver");
    let mut command = bench.command("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key);
    CliOutput::of(&mut command).assert_code(0);
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let signers = bench.scratch().file("allowed_signers", format!("tester {public}"));
    let mut policy = bench.toolexec(["policy", "show", "standard"]).stdout;
    if !bench.is_root() {
        policy = policy.replacen("exceptions: []", "exceptions: [cgroup]", 1);
    }
    let config = ServiceConfig {
        policy,
        allowed_signers: Some(signers.clone()),
        ..ServiceConfig::for_owner(bench)
    };
    let service = Service::start(bench, &config);
    let words = format!(
        "PAGER=cat {} --approver tester --key {} --approvers {} --policy {}/policy.yaml",
        watch_of(&service.spool()),
        key.display(),
        signers.display(),
        bench.home().display()
    );
    (service, words)
}

/// Waits until this question is the last text on the screen. Earlier questions stay above it.
fn wait_for_question(screen: &TmuxScreen<'_>, question: &str) -> String {
    screen.wait_until(question, |text| text.trim_end().ends_with(question))
}

/// Answers it, and returns to the screen.
fn answer(screen: &TmuxScreen<'_>, question: &str, answer: &str) {
    wait_for_question(screen, question);
    screen.type_line(answer);
    wait_for_question(screen, "Press Enter to return:");
    screen.type_keys(["Enter"]);
}

/// Opens a terminal, if OpenSSH works too.
fn screen_to_sign_at<'a>(test: &str, bench: &'a Bench) -> Option<TmuxScreen<'a>> {
    let screen = TmuxScreen::open(test, bench, (80, 24))?;
    ssh_keygen_works(test).then_some(screen)
}

/// Saves a draft as an agent does.
fn drafted(service: &Service<'_>) -> SavedRequest {
    let drafts = service.path("drafts");
    fs::create_dir_all(&drafts).unwrap();
    RequestText::python("print('ran')").save(&drafts)
}

/// Waits until the pane of running requests has all its numbers.
fn wait_for_numbers(screen: &TmuxScreen<'_>) -> String {
    screen.wait_until("numbers of what runs", |text| {
        text.lines().any(|line| {
            let mib = line.split("mem ").nth(1).and_then(|rest| rest.split("/256 MiB").next());
            let mib = mib.and_then(|rest| rest.split_whitespace().last()?.parse::<f64>().ok());
            line.contains("time ") && line.contains("/20 s") && mib.is_some_and(|mib| mib > 40.0)
        })
    })
}

#[test]
fn an_approval_from_the_keyboard_leads_to_a_verified_record() {
    let test = "an_approval_from_the_keyboard_leads_to_a_verified_record";
    let bench = Bench::new();
    let Some(screen) = screen_to_sign_at(test, &bench) else { return };
    let (service, watch) = service_of_a_signer(&bench);
    let request = service.submit(&RequestText::python(LONG));
    let before = screen.settings();
    screen.type_line(&watch);
    let text = screen.wait_for("1 held");
    assert!(text.contains(&request.id) && text.contains("approval."), "{text}");
    assert!(text.contains("toolexec watch") && text.contains("serving since"), "{text}");

    screen.type_keys(["r"]);
    screen.wait_for("review TR-");
    screen.type_keys(["G"]);
    screen.wait_for("pending");
    screen.type_keys(["q"]);
    screen.wait_for("1 held");

    // Any other input is a no.
    for (word, output) in [("yes", "not approved"), ("approve", "approved")] {
        screen.type_keys(["a"]);
        answer(&screen, "Type `approve` to sign:", word);
        screen.wait_for(&format!("{}: {output}", request.id));
    }
    let text = wait_for_numbers(&screen);
    assert!(text.contains("queue: empty") || !text.contains("held   "), "{text}");
    screen.type_keys(["Tab", "Enter"]);
    screen.wait_for("stdout of its tool so far");
    screen.wait_for("| \\u{1b}[2Jbegun");
    screen.type_keys(["q"]);
    let ended = format!("ok                {}", request.id);
    screen.wait_for(&ended);
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
    assert_eq!(screen.settings(), before);
    service.record_of(&request.id).assert_outcome("ok");
    service.verify().assert_code(0);
}

#[test]
fn a_draft_that_is_approved_is_submitted_and_what_is_rejected_never_runs() {
    let test = "a_draft_that_is_approved_is_submitted_and_what_is_rejected_never_runs";
    let bench = Bench::new();
    let Some(screen) = screen_to_sign_at(test, &bench) else { return };
    let (service, watch) = service_of_a_signer(&bench);
    let draft = drafted(&service);
    screen.type_line(&watch);
    screen.wait_for("1 draft");
    screen.type_keys(["a"]);
    screen.wait_for("Type `approve` to sign:");
    screen.type_line("approve");
    screen.wait_for("submitted to");
    screen.type_keys(["Enter"]);
    service.record_of(&draft.id).assert_outcome("ok");

    let held = service.submit(&RequestText::python("print('never')"));
    screen.wait_for("1 held");
    // The draft is still selected.
    screen.type_keys(["g"]);
    screen.wait_for(&held.id);
    screen.type_keys(["x"]);
    screen.wait_for("why reject");
    screen.type_line("reads too much");
    answer(&screen, "Type `reject` to sign:", "reject");
    screen.wait_for(&format!("{}: rejected", held.id));
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
    service.record_of(&held.id).assert_outcome("refused");
    service.verify().assert_code(0);
}

/// Paused output gives the test time between the signature and the submission.
#[test]
fn what_is_put_in_the_place_of_an_approved_draft_is_not_submitted() {
    let test = "what_is_put_in_the_place_of_an_approved_draft_is_not_submitted";
    let bench = Bench::new();
    let Some(screen) = screen_to_sign_at(test, &bench) else { return };
    let (service, watch) = service_of_a_signer(&bench);
    let draft = drafted(&service);
    let other = fs::read_to_string(&draft.path).unwrap().replace("A test.", "Another.");
    let beside = bench.scratch().file("other", other);
    screen.type_line(&watch);
    screen.wait_for("1 draft");
    screen.type_keys(["a"]);
    screen.wait_for("Type `approve` to sign:");
    screen.type_keys(["C-s"]);
    screen.type_line("approve");
    let signature = service.path("drafts").join(format!("{}.md.sig", draft.id));
    service.wait_for("the signature", |_| signature.exists());
    fs::rename(beside, &draft.path).unwrap();
    screen.type_keys(["C-q"]);
    screen.wait_for("changed since it was approved; not submitted");
    screen.wait_for("Press Enter to return");
    screen.type_keys(["Enter"]);
    screen.wait_for(": approved, but not submitted");
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
    assert!(service.records_of(&draft.id).is_empty());
}

#[test]
fn a_rejection_is_confirmed_and_covers_the_reviewed_bytes() {
    let test = "a_rejection_is_confirmed_and_covers_the_reviewed_bytes";
    let bench = Bench::new();
    let Some(screen) = screen_to_sign_at(test, &bench) else { return };
    let (service, watch) = service_of_a_signer(&bench);
    let draft = drafted(&service);
    let text = fs::read(&draft.path).unwrap();
    let signature = service.path("drafts").join(format!("{}.md.tester.reject.sig", draft.id));
    screen.type_line(&watch);
    screen.wait_for("1 draft");
    let question = "Type `reject` to sign:";
    for (word, is_swapped, output) in [
        ("yes", false, "not rejected"),
        ("reject", true, "not rejected"),
        ("reject", false, "rejected"),
    ] {
        // Text that was typed ahead rejects nothing.
        screen.type_at_once("xreads too much\nreject\n");
        let shown = wait_for_question(&screen, question);
        let sha256 = CliOutput::of(bench.command("sha256sum").arg(&draft.path)).stdout;
        assert!(shown.contains(&sha256[..64]) && shown.contains("reads too much"), "{shown}");
        if is_swapped {
            fs::write(&draft.path, "another").unwrap();
        }
        answer(&screen, question, word);
        screen.wait_for(&format!("{}: {output}", draft.id));
        assert_eq!(signature.exists(), output == "rejected");
        fs::write(&draft.path, &text).unwrap();
    }
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
}

/// Input that is pasted, or typed before a question, answers no question.
#[test]
fn what_was_typed_ahead_or_pasted_signs_nothing() {
    let test = "what_was_typed_ahead_or_pasted_signs_nothing";
    let bench = Bench::new();
    let Some(screen) = screen_to_sign_at(test, &bench) else { return };
    let (service, watch) = service_of_a_signer(&bench);
    let request = service.submit(&RequestText::python("print('never')"));
    screen.type_line(&watch);
    screen.wait_for("1 held");
    // Input that is read together with the key, and input that remains in the terminal's buffer.
    for ahead in ["aapprove\n".to_owned(), format!("{}aapprove\n", "j".repeat(1023))] {
        screen.type_at_once(&ahead);
        answer(&screen, "Type `approve` to sign:", "no");
        screen.wait_for(&format!("{}: not approved", request.id));
        screen.type_keys(["j"]);
    }
    screen.paste("aapprove\nq");
    screen.type_keys(["?"]);
    screen.wait_for("the next pane");
    screen.type_keys(["q", "q"]);
    screen.wait_for_prompt();
    let left = list(&service.path("approved"));
    assert!(left.iter().all(|name| !name.contains(".sig")), "{left:?}");
}

#[test]
fn a_signal_aborts_a_prompt_without_signing() {
    let test = "a_signal_aborts_a_prompt_without_signing";
    let bench = Bench::new();
    let Some(screen) = screen_to_sign_at(test, &bench) else { return };
    let (service, watch) = service_of_a_signer(&bench);
    service.submit(&RequestText::python("print('never')"));
    let before = screen.settings();
    let key = bench.home().join("approver");
    for signal in [None, Some("TERM")] {
        screen.type_line(&format!("clear; {watch}"));
        screen.wait_for("1 held");
        screen.type_keys(["a"]);
        wait_for_question(&screen, "Type `approve` to sign:");
        match signal {
            None => screen.type_keys(["C-c"]),
            Some(signal) => {
                toolexec_tests::kill(signal, wait_for_process(key.to_str().unwrap())[0])
            }
        }
        screen.wait_for_prompt();
        assert_eq!(screen.settings(), before, "{signal:?}");
    }
    let left = list(&service.path("approved"));
    assert!(left.iter().all(|name| !name.contains(".sig")), "{left:?}");
}

#[test]
fn holding_and_cancelling_leave_their_orders_and_nothing_by_accident() {
    let test = "holding_and_cancelling_leave_their_orders_and_nothing_by_accident";
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open(test, &bench, (80, 24)) else { return };
    let spool = spool_by_hand(&bench);
    let request = format!("{A}.md");
    screen.type_line(&watch_of(&spool));
    screen.wait_for("1 waiting");
    screen.type_keys(["a"]);
    screen.wait_for("start with --approver NAME and --key FILE");
    screen.type_keys(["h"]);
    screen.wait_for("held until");
    assert_eq!(list(&spool.join("approved")), [request.clone(), format!("{request}.hold")]);
    screen.type_keys(["l"]);
    screen.wait_for(": released");
    for (typed, output) in [("yes", "nothing was done"), ("stats", "marked for cancellation")] {
        screen.type_keys(["c"]);
        screen.wait_for("type `stats`");
        screen.type_line(typed);
        screen.wait_for(output);
        let ordered = list(&spool.join("approved")).contains(&format!("{request}.cancel"));
        assert_eq!(ordered, typed == "stats");
    }
    // A deleted request must not be replaced by one with the same prefix.
    screen.type_keys(["c"]);
    screen.wait_for("type `stats`");
    let other = format!("{A}-b.md");
    fs::rename(spool.join("approved").join(&request), spool.join("approved").join(&other)).unwrap();
    fs::remove_file(spool.join("approved").join(format!("{request}.cancel"))).unwrap();
    screen.type_line("stats");
    screen.wait_for("no such waiting request");
    let left = list(&spool.join("approved"));
    assert!(left.iter().all(|name| !name.ends_with(".cancel")), "{left:?}");
    screen.type_keys(["?"]);
    screen.wait_for("the next pane");
    screen.type_keys(["q", "q"]);
    screen.wait_for_prompt();
}

#[test]
fn a_standing_approval_is_reviewed_as_one() {
    let test = "a_standing_approval_is_reviewed_as_one";
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open(test, &bench, (80, 24)) else { return };
    let spool = spool_by_hand(&bench);
    let standing = StandingText::of_script("print(1)\n").save(&spool.join("approved"));
    screen.type_line(&watch_of(&spool));
    let text = screen.wait_for("2 waiting");
    assert!(text.contains(&standing.id), "{text}");
    // Names are in order, and `SA-` is before `TR-`.
    screen.type_keys(["g", "r"]);
    let text = screen.wait_for("the host of x-audience");
    assert!(text.contains("review SA-"), "{text}");
    screen.type_keys(["q", "q"]);
    screen.wait_for_prompt();
}

#[test]
fn every_end_restores_the_terminal() {
    let test = "every_end_restores_the_terminal";
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open(test, &bench, (80, 24)) else { return };
    let spool = spool_by_hand(&bench);
    let before = screen.settings();
    let by_key: [&[&str]; 2] = [&["q"], &["C-c"]];
    for keys in by_key {
        screen.type_line(&watch_of(&spool));
        screen.wait_for("1 waiting");
        assert_ne!(screen.settings(), before, "it has no screen of its own");
        screen.type_keys(keys);
        screen.wait_for_prompt();
        assert_eq!(screen.settings(), before, "{keys:?}");
    }
    let word = spool.to_str().unwrap();
    for signal in ["TERM", "HUP", "INT"] {
        screen.type_line(&watch_of(&spool));
        screen.wait_for("1 waiting");
        toolexec_tests::kill(signal, wait_for_process(word)[0]);
        screen.wait_for_prompt();
        assert_eq!(screen.settings(), before, "{signal}");
    }
    // It ends when its terminal is closed.
    let other = TmuxScreen::open_as(test, &bench, "other", (80, 24)).unwrap();
    other.type_line(&watch_of(&spool));
    other.wait_for("1 waiting");
    drop(other);
    wait_for_no_process(word);
    // Suspended like any program, by the key and by a signal.
    screen.type_line(&watch_of(&spool));
    screen.wait_for("1 waiting");
    screen.type_keys(["C-z"]);
    screen.wait_for_prompt();
    assert_eq!(screen.settings(), before, "suspended");
    screen.type_line("fg");
    screen.wait_for("1 waiting");
    toolexec_tests::kill("TSTP", wait_for_process(word)[0]);
    screen.wait_for_prompt();
    assert_eq!(screen.settings(), before, "suspended from outside");
    screen.type_line("fg");
    screen.wait_for("1 waiting");
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
    assert_eq!(screen.settings(), before);
}

#[test]
fn names_and_texts_of_others_do_nothing_to_the_terminal() {
    let test = "names_and_texts_of_others_do_nothing_to_the_terminal";
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open(test, &bench, (80, 24)) else { return };
    let spool = spool_by_hand(&bench);
    fs::write(spool.join("approved/TR-\x1b]0;title\x07\x1b[2Jx.md"), "odd").unwrap();
    let drafts = spool.join("drafts");
    let red = RequestText::python("print('\x1b[31mred')").save(&drafts);
    let text = RequestText::python("").edit("A test.", "A \u{202e}\u{9b}31m test.");
    let odd = text.save(&drafts);
    let begun = screen.written().len();
    screen.type_line(&watch_of(&spool));
    screen.wait_for("TR-\\u{1b}]0;title\\u{7}\\u{1b}[2Jx");
    screen.wait_for("2 draft");
    // The last one, then the one above it.
    for (key, draft, text) in [("G", &odd, "\\u{202e}\\u{9b}31m"), ("k", &red, "\\u{1b}[31mred")] {
        screen.type_keys([key, "r"]);
        screen.wait_for(&format!("review {}", draft.id));
        screen.type_keys(["G"]);
        screen.wait_until(text, |shown| {
            if !shown.contains(text) {
                // The screen may have passed it between two readings.
                screen.type_keys([if shown.contains(" 19 of ") { "G" } else { "PageUp" }]);
            }
            shown.contains(text)
        });
        screen.type_keys(["q"]);
        screen.wait_for("2 draft");
    }
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
    let written = &screen.written()[begun..];
    for theirs in ["\x1b]0;title", "\x1b[31mred", "\u{202e}", "\u{9b}"] {
        assert!(!written.contains(theirs), "{theirs:?}");
    }
}

#[test]
fn a_window_that_is_too_small_says_so_and_is_drawn_when_it_is_enlarged() {
    let test = "a_window_that_is_too_small_says_so_and_is_drawn_when_it_is_enlarged";
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open(test, &bench, (40, 10)) else { return };
    let spool = spool_by_hand(&bench);
    screen.type_line(&watch_of(&spool));
    let text = screen.wait_for("40 x 10 is too small");
    assert!(!text.contains("waiting"), "{text}");
    screen.resize(80, 24);
    screen.wait_for("1 waiting");
    screen.resize(100, 30);
    let text = screen.wait_until("the head at its new place", |text| {
        text.lines().next().is_some_and(|line| line.trim_end().chars().count() == 99)
    });
    assert!(text.contains("? help"), "{text}");
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
}
