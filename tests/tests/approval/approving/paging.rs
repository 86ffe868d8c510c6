//! An approver sees every line of every input, and confirms again for those that were not shown.

use std::fs;

use toolexec_tests::{Bench, RequestText, SavedRequest, at_a_terminal_with, ssh_keygen_works};

use super::approvers::{ED25519, key, saved, unapproved};

/// 701 lines, one of them after the first 400, and one of 3,000 characters with a control character
/// at its end.
fn long_script() -> String {
    let last = format!("# {}\u{202e}end", "y".repeat(3000));
    format!("{}print('line 700')\n{last}\n", "x = 1\n".repeat(699))
}

fn with_image() -> RequestText {
    let text = unapproved("print(1)\n").input("a.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    text.command("python script.py /in/a.png")
}

fn is_signed(request: &SavedRequest) -> bool {
    request.path.with_extension("md.sig").exists()
}

#[test]
fn every_line_of_every_input_goes_through_the_pager() {
    let test = "every_line_of_every_input_goes_through_the_pager";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let alice = key(&bench, "alice", ED25519);
    let request = saved(&bench, &unapproved(&long_script()));
    let seen = bench.home().join("seen");
    let pager = format!("cat > {}", seen.display());
    let path = request.path.to_str().unwrap();
    let words = ["approve", path, "--approver", "alice", "--key", alice.to_str().unwrap()];
    let output =
        at_a_terminal_with(&bench, test, &pager, &[("`approve` to sign: ", "approve")], &words);
    let Some(output) = output else { return };
    output.assert_code(0);
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("  700 | print('line 700')"), "{seen}");
    assert!(seen.contains(&format!("{}\\u{{202e}}end", "y".repeat(3000))), "{seen}");
    assert!(!seen.contains("more lines") && !seen.contains("more characters"), "{seen}");
    assert!(!output.stdout.contains("NOT shown"), "{output:#?}");
    assert!(is_signed(&request));
}

#[test]
fn what_cannot_be_shown_is_asked_about_once_more() {
    let test = "what_cannot_be_shown_is_asked_about_once_more";
    if !ssh_keygen_works(test) {
        return;
    }
    for (second, code) in [("no", 1), ("approve", 1), ("", 1), ("unseen", 0)] {
        let bench = Bench::new();
        let alice = key(&bench, "alice", ED25519);
        let request = saved(&bench, &with_image());
        let path = request.path.to_str().unwrap();
        let words = ["approve", path, "--approver", "alice", "--key", alice.to_str().unwrap()];
        let answers = [("`approve` to sign: ", "approve"), ("to sign anyway: ", second)];
        let output = at_a_terminal_with(&bench, test, "cat", &answers, &words);
        let Some(output) = output else { return };
        assert!(output.stdout.contains("NOT shown: 1 files that are not text"), "{output:#?}");
        output.assert_code(code);
        assert_eq!(is_signed(&request), code == 0, "{second}: {output:#?}");
    }
}

#[test]
fn without_a_pager_it_is_shown_page_by_page() {
    let test = "without_a_pager_it_is_shown_page_by_page";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let alice = key(&bench, "alice", ED25519);
    let request = saved(&bench, &unapproved(&long_script()));
    let path = request.path.to_str().unwrap();
    let words = ["approve", path, "--approver", "alice", "--key", alice.to_str().unwrap()];
    // A missing pager. Leaving a page does not count as reading it.
    let answers = [
        ("Enter continues, q quits: ", ""),
        ("Enter continues, q quits: ", "q"),
        ("`approve` to sign: ", "approve"),
        ("to sign anyway: ", "no"),
    ];
    let output = at_a_terminal_with(&bench, test, "/nonexistent/pager", &answers, &words);
    let Some(output) = output else { return };
    output.assert_code(1);
    assert!(output.stdout.contains("lines of the review"), "{output:#?}");
    assert!(!output.stdout.contains("line 700"), "{output:#?}");
    assert!(!is_signed(&request), "{output:#?}");
}
