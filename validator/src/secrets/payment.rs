//! Tokens of payment, shop and shipping services. Keys of a test mode count as well: a guess must
//! never distinguish them.

use super::alphabet::Alphabet::{Alphanumeric, Equals64, Hex, LowerDigit, Url64};
use super::checksum::{mixed, three_classes};
use super::kind::{Part, SecretKind, exact, kind, run, shape, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "stripe-key",
        "a Stripe secret, restricted or webhook key",
        "https://docs.stripe.com/keys",
        &[
            shape("sk_live_", STRIPE).checked(mixed),
            shape("rk_live_", STRIPE).checked(mixed),
            shape("sk_test_", STRIPE).checked(mixed),
            shape("rk_test_", STRIPE).checked(mixed),
            shape("sk_prod_", STRIPE).checked(mixed),
            shape("rk_prod_", STRIPE).checked(mixed),
            shape("whsec_", &[run(Alphanumeric, 32, 64)]).checked(mixed),
        ],
    ),
    kind(
        "square-token",
        "a Square access token or secret",
        "https://developer.squareup.com/docs/build-basics/access-tokens",
        &[
            shape("sq0atp-", &[run(Url64, 22, 60)]),
            shape("sq0csp-", &[exact(Url64, 43)]),
            shape("EAAA", &[run(Url64, 22, 60)]).alone().checked(three_classes),
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
            shape("FLWSECK_TEST-", &[exact(LowerDigit, 12)]),
            shape("FLWPUBK_TEST-", &[exact(LowerDigit, 32), text("-X")]),
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
        &[shape("shippo_live_", &[exact(Hex, 40)]), shape("shippo_test_", &[exact(Hex, 40)])],
    ),
    kind(
        "duffel-token",
        "a Duffel access token",
        "https://duffel.com/docs/api/overview/making-requests",
        &[
            shape("duffel_live_", &[exact(Equals64, 43)]),
            shape("duffel_test_", &[exact(Equals64, 43)]),
        ],
    ),
];

const STRIPE: &[Part] = &[run(Alphanumeric, 10, 247)];
