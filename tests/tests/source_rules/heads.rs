//! The first lines of each file.

use crate::sources::{RustSource, sources};

#[test]
fn every_file_says_what_it_is() {
    for source in sources() {
        let RustSource { path, text, .. } = source;
        assert!(text.starts_with("//! "), "{} does not open with `//!`", path.display());
    }
}

#[test]
fn every_program_says_what_it_may_do() {
    let mut programs = 0;
    for source in sources() {
        let RustSource { path, text, .. } = source;
        let program = path.ends_with("src/main.rs") || path.parent().unwrap().ends_with("src/bin");
        if program {
            programs += 1;
            let head = text.lines().take_while(|line| line.starts_with("//!"));
            let states_security = head.clone().any(|line| line.starts_with("//! SECURITY"));
            assert!(states_security, "{}: no SECURITY paragraph at its head", path.display());
        }
    }
    assert_eq!(programs, 10);
}
