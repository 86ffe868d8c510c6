//! Fuzzes the validator with composed documents, as the types that they claim to be. It must never
//! panic, and the answer must pass the checks of `answers`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let document = fuzz::compose::document(bytes);
    fuzz::answers::of_request(document.as_bytes());
    fuzz::answers::of_result(document.as_bytes());
});
