//! Tests of the reader of `allowed_signers`. It accepts what stock `ssh-keygen` accepts and we
//! understand; the error for any other text names its line. The keys are fixed; other tests cover
//! signatures.

use policies::AllowedSigners;

const ED: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";
const RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAQQC7";

fn message(text: &str) -> String {
    match AllowedSigners::parse(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn lines_of_openssh_are_read() {
    for line in [
        format!("alice {ED}"),
        format!("alice {ED} alice@laptop, since May"),
        format!("  alice,alice@example.org\t{ED}\r"),
        format!("alice namespaces=\"approve.tool-exec@threegate\" {ED}"),
        format!("alice NAMESPACES=\"file,git\",Valid-After=\"20200101\" {ED}"),
        format!("alice valid-after=\"20200101Z\",valid-before=\"203001011200\" {ED}"),
        format!("# a comment\n\n   # another\nalice {ED}\n"),
        format!("алиса {ED}"),
        format!("\"alice smith\" {ED}"),
        format!("*@example.org,!guest@* namespaces=\"*@threegate,!git\" {ED}"),
    ] {
        let signers =
            AllowedSigners::parse(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(!signers.is_empty(), "{line}");
    }
    assert!(AllowedSigners::parse("").unwrap().is_empty());
    assert!(AllowedSigners::parse("# nobody yet\n").unwrap().is_empty());
}

#[test]
fn unknown_text_is_refused_with_its_line() {
    for (line, expected) in [
        (format!("alice {RSA}"), "key type `ssh-rsa` is not accepted; help: use an ssh-ed25519"),
        (
            "alice sk-ssh-ed25519@openssh.com AAAA".to_owned(),
            "the sk-ssh-ed25519@openssh.com key is damaged",
        ),
        ("alice ssh-ed25519-cert-v01@openssh.com AAAA".to_owned(), "key type `ssh-ed25519-cert"),
        ("alice ecdsa-sha2-nistp384 AAAA".to_owned(), "key type `ecdsa-sha2-nistp384`"),
        ("alice ssh-ed25519 AAAA".to_owned(), "the ssh-ed25519 key is damaged"),
        ("alice ssh-ed25519".to_owned(), "the ssh-ed25519 key is damaged"),
        ("alice".to_owned(), "has no key; help: write `principal [options] key-type key`"),
        (ED.to_owned(), "has no principal before its key"),
        (format!("{ED} alice@laptop"), "has no principal before its key"),
        (format!("!bob {ED}"), "`!bob` matches no name"),
        (format!("alice, {ED}"), "`` is empty between the commas"),
        (format!("\"alice\"{ED}"), "has no key"),
        (format!("al\"ice\" {ED}"), "contains a control character or a quote"),
        (format!("alice cert-authority {ED}"), "option `cert-authority` is not accepted"),
        (format!("alice cert-authority,namespaces=\"a\" {ED}"), "option `cert-authority`"),
        (format!("alice touch-required {ED}"), "option `touch-required` is not accepted"),
        (format!("alice namespaces=a {ED}"), "option `namespaces` has no value in double quotes"),
        (format!("alice namespaces=\"a\",namespaces=\"b\" {ED}"), "`namespaces` appears twice"),
        (format!("alice namespaces=\"\" {ED}"), "`` is empty between the commas"),
        (format!("alice namespaces=\"a\\\" {ED}"), "`namespaces` contains a backslash"),
        (format!("alice namespaces=\"a\"x {ED}"), "text follows the value of option"),
        (format!("alice namespaces=\"a\", {ED}"), "option `` is not accepted"),
        (format!("alice valid-after=20200101 {ED}"), "has no value in double quotes"),
        (format!("alice valid-after=\"2020\" {ED}"), "is not YYYYMMDD[HHMM[SS]][Z]"),
        (format!("alice valid-before=\"20201301\" {ED}"), "is not YYYYMMDD[HHMM[SS]][Z]"),
        (
            format!("alice valid-after=\"20200101\",valid-before=\"20190101\" {ED}"),
            "valid-before is not later than valid-after",
        ),
        (format!("alice namespaces=\"a {ED}"), "has no key"),
        (format!("ali\u{200b}ce {ED}"), "has an invisible character"),
        (format!("\u{202e}alice {ED}"), "has an invisible character"),
        (format!("\u{430}lice {ED}"), "letters of several scripts in one word"),
    ] {
        let message = message(&format!("# one\nbob {ED}\n{line}\n"));
        assert!(message.starts_with("line 3: "), "{line}: {message}");
        assert!(message.contains(expected), "{line}\n  gave: {message}\n  not: {expected}");
    }
}

#[test]
fn a_byte_order_mark_is_refused_by_name() {
    for rest in [format!("alice {ED}\n"), format!("# one\nalice {ED}\n"), String::new()] {
        let output = message(&format!("\u{feff}{rest}"));
        assert!(output.starts_with("line 1: begins with a byte order mark"), "{output}");
    }
}

#[test]
fn a_name_in_its_own_script_is_a_name() {
    for name in ["jos\u{e9}", "\u{438}\u{432}\u{430}\u{43d}@example.org", "\u{5c71}\u{7530}"] {
        assert!(AllowedSigners::parse(&format!("{name} {ED}\n")).is_ok(), "{name}");
    }
}

#[test]
fn a_key_of_low_order_is_refused() {
    // The neutral element: under it one signature verifies for any message. In base64 the blob is
    // length, "ssh-ed25519", length 32, then 01 and 31 zeros.
    let key = "AAAAC3NzaC1lZDI1NTE5AAAAIAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert!(message(&format!("mallory ssh-ed25519 {key}")).contains("not a valid point"));
}

#[test]
fn a_file_without_end_is_refused() {
    let long = "#".repeat(policies::SIGNERS_BYTES_MAX + 1);
    assert!(message(&long).contains("larger than 1 MiB"));
    assert!(message(&format!("alice {ED}\n").repeat(1025)).contains("line 1025: "));
}
