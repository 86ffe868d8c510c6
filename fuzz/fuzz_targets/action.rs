//! Fuzzes the parser of signed actions. It must never panic. An action that is read must have one
//! spelling, and must not count without keys that the host knows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::UtcTime;
use policies::{AllowedSigners, SignedAction, SignedActionTerms};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(action) = SignedAction::parse(bytes) {
        assert_eq!(action.text().as_bytes(), bytes);
        let composed = SignedAction::compose(action.terms().clone(), action.signature());
        assert_eq!(composed.as_ref(), Ok(&action));
        // Only an order is signed without a document.
        let is_order = action.terms().kind().is_order();
        assert_eq!(action.message::<Vec<u8>>(&[]).is_ok(), is_order);
        let now = action.terms().at().unwrap_or(UtcTime::from_unix(0));
        assert!(action.check_claim(None, now).is_err());
        let strangers = AllowedSigners::parse("# none\n").expect("a list of keys");
        assert!(action.check_claim(Some(&strangers), now).is_err());
    }
    // The lines above a signature, which a signer reads.
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(terms) = SignedActionTerms::parse(text) {
        assert_eq!(terms.header(), text);
    }
});
