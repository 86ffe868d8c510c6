//! Tokens of payment, shops and shipping. Keys of a test mode count too: they must never be told
//! apart by a guess.

use super::alphabet::Alphabet::{Alphanumeric, Hex, LowerDigit, LowerHex, Url64};
use super::checksum::mixed;
use super::kind::{Part, SecretKind, exact, kind, run, shape, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "stripe-key",
        "a Stripe secret, restricted or webhook key",
        "https://docs.stripe.com/keys",
        &[
            shape("sk_live_", STRIPE),
            shape("rk_live_", STRIPE),
            shape("sk_test_", STRIPE),
            shape("rk_test_", STRIPE),
            shape("whsec_", &[run(Alphanumeric, 32, 64)]).checked(mixed),
        ],
    ),
    kind(
        "square-token",
        "a Square access token or secret",
        "https://developer.squareup.com/docs/build-basics/access-tokens",
        &[
            shape("sq0atp-", &[exact(Url64, 22)]),
            shape("sq0csp-", &[exact(Url64, 43)]),
            shape("EAAA", &[exact(Url64, 60)]).alone().checked(mixed),
        ],
    ),
    kind(
        "shopify-token",
        "a Shopify app token or secret",
        "https://shopify.dev/docs/apps/build/authentication-authorization",
        &[
            shape("shpat_", &[exact(Hex, 32)]),
            shape("shpca_", &[exact(Hex, 32)]),
            shape("shppa_", &[exact(Hex, 32)]),
            shape("shpss_", &[exact(Hex, 32)]),
            shape("shpua_", &[exact(Hex, 32)]),
        ],
    ),
    kind(
        "flutterwave-key",
        "a Flutterwave secret key",
        "https://developer.flutterwave.com/docs/authentication",
        &[
            shape("FLWSECK-", &[exact(LowerDigit, 32), text("-X")]),
            shape("FLWSECK_TEST-", &[exact(LowerDigit, 32), text("-X")]),
        ],
    ),
    kind(
        "easypost-key",
        "an EasyPost API key",
        "https://docs.easypost.com/docs/authentication",
        &[shape("EZAK", &[exact(Alphanumeric, 54)]), shape("EZTK", &[exact(Alphanumeric, 54)])],
    ),
    kind(
        "shippo-token",
        "a Shippo API token",
        "https://docs.goshippo.com/docs/guides_general/authentication/",
        &[
            shape("shippo_live_", &[exact(LowerHex, 40)]),
            shape("shippo_test_", &[exact(LowerHex, 40)]),
        ],
    ),
    kind(
        "duffel-token",
        "a Duffel access token",
        "https://duffel.com/docs/api/overview/making-requests",
        &[shape("duffel_live_", &[exact(Url64, 43)]), shape("duffel_test_", &[exact(Url64, 43)])],
    ),
];

const STRIPE: &[Part] = &[run(Alphanumeric, 16, 247)];
