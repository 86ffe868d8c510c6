//! Asks about every line of any text as output of a tool. It must never panic, and the
//! answer must keep its promises (`answers`).

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::answers::of_lines(&String::from_utf8_lossy(bytes)));
