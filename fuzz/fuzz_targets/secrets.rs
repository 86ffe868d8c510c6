//! Fuzzes the secret scanner with every line of a text, as tool output. It must never panic, and
//! the answer must pass the checks of `answers`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::answers::of_lines(&String::from_utf8_lossy(bytes)));
