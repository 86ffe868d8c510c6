//! The classes of SQLSTATE, and texts of a hostile server.

use super::{CODES, ServerFault, ServerFaultKind};

#[test]
fn codes_have_their_classes() {
    let momentary = |code| ServerFault::of_code(code, "text").kind().is_momentary();
    for code in ["53100", "53300", "57P01", "57P03", "57014", "55P03", "40001", "40P01", "25006"] {
        assert!(momentary(code), "{code}");
    }
    for code in ["42501", "42P01", "28P01", "3D000", "TF001", "TF002", "TF003", "22P02", "XX000"] {
        assert!(!momentary(code), "{code}");
    }
    for (at, (code, _)) in CODES.iter().enumerate() {
        assert!(CODES[..at].iter().all(|(earlier, _)| earlier < code), "{code} is not in order");
    }
}

#[test]
fn every_message_has_the_event_and_an_action() {
    for kind in ServerFaultKind::ALL {
        let text = ServerFault::own(*kind).to_string();
        let (event, help) = text.split_once("; help: ").unwrap();
        assert!(event == kind.as_str() && help.len() > 8, "{text}");
    }
    let full = ServerFault::of_code("53100", "could not extend file").to_string();
    let event = "its disk is full (could not extend file); help: free space";
    assert!(full.starts_with(event), "{full}");
    let other = ServerFault::of_code("22P02", "bad").to_string();
    assert!(other.starts_with("it reports an error (22P02 bad); help: "), "{other}");
}

#[test]
fn the_text_of_a_server_is_one_short_line() {
    let hostile = format!("a\u{1b}[2J\nb\r\u{202e}{}", "x".repeat(10_000));
    let shown = ServerFault::of_code("53100", &hostile).to_string();
    assert!(!model::has_deceptive(&shown), "{shown:?}");
    assert!(shown.chars().count() < 500, "{shown}");
}
