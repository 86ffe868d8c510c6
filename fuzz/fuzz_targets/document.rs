//! Asks about documents that the bytes compose out of a valid one, as what they say they are.
//! It must never panic, and the answer must keep its promises (`answers`).

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let document = fuzz::compose::document(bytes);
    fuzz::answers::of_request(document.as_bytes());
    fuzz::answers::of_result(document.as_bytes());
});
