//! Asks about any bytes as a result, and as a file that does not say what it is. It must never panic, and the
//! answer must keep its promises (`answers`).

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::answers::of_result(bytes));
