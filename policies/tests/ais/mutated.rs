//! Tests of damaged bundles. A bundle with one changed byte is refused, and no input causes a
//! panic.

use std::sync::OnceLock;

use policies::ais::{AisBundle, AisTrustStore, canonical, read_document};
use proptest::prelude::*;

use super::scene::AisScene;

/// Signed once, because signing takes longer than everything else here.
fn good() -> &'static [u8] {
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    GOOD.get_or_init(|| canonical(&AisScene::good().signed()))
}

#[test]
fn no_byte_of_a_signed_bundle_can_be_changed() {
    let scene = AisScene::good();
    let good = good();
    scene.outcome_of(good).unwrap_or_else(|refusal| panic!("{refusal}"));
    // Each position once, with a change that depends on the position.
    for at in 0..good.len() {
        let mut changed = good.to_vec();
        let flip = u8::try_from(1 + at % 127).unwrap_or(1);
        changed[at] ^= flip;
        assert!(scene.outcome_of(&changed).is_err(), "byte {at} ^ {flip}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_one_byte_is_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let scene = AisScene::good();
        let good = good();
        let mut changed = good.to_vec();
        changed[at.index(good.len())] = byte;
        prop_assume!(changed != good);
        prop_assert!(scene.outcome_of(&changed).is_err());
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..512), cut in any::<prop::sample::Index>()) {
        prop_assert!(AisBundle::read(&bytes).is_err());
        prop_assert!(AisTrustStore::read(&bytes).is_err());
        if let Ok(value) = read_document(&bytes) {
            let once = canonical(&value);
            prop_assert!(!once.is_empty());
        }
        let good = good();
        prop_assert!(AisBundle::read(&good[..cut.index(good.len())]).is_err());
    }

    #[test]
    fn the_canonical_form_is_its_own(text in "[ -~\u{e9}\u{2028}\u{1f602}]{0,40}", whole in -9007199254740991_i64..=9007199254740991, part in -1e15_f64..1e15) {
        let value = serde_json::json!({ text.clone(): [whole, part, text], "b": { "a": null } });
        let once = canonical(&value);
        let again = read_document(&once);
        prop_assert!(again.is_ok(), "{:?}", again);
        prop_assert_eq!(canonical(&again.unwrap_or_default()), once);
    }
}
