//! Tokens of payment, shop and shipping services. Test keys count: no guess may excuse them.

use super::alphabet::Alphabet::{Alphanumeric, Equals64, Hex, LowerDigit, Url64};
use super::checksum::{mixed, three_classes};
use super::kind::{SecretKind, TokenPart, exact, form, kind, run, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "stripe-key",
        "a Stripe secret, restricted or webhook key",
        "https://docs.stripe.com/keys",
        &[
            form("sk_live_", STRIPE).with_check(mixed),
            form("rk_live_", STRIPE).with_check(mixed),
            form("sk_test_", STRIPE).with_check(mixed),
            form("rk_test_", STRIPE).with_check(mixed),
            form("sk_prod_", STRIPE).with_check(mixed),
            form("rk_prod_", STRIPE).with_check(mixed),
            form("whsec_", &[run(Alphanumeric, 32, 64)]).with_check(mixed),
        ],
    ),
    kind(
        "square-token",
        "a Square access token or secret",
        "https://developer.squareup.com/docs/build-basics/access-tokens",
        &[
            form("sq0atp-", &[run(Url64, 22, 60)]),
            form("sq0csp-", &[exact(Url64, 43)]),
            form("EAAA", &[run(Url64, 22, 60)]).standalone().with_check(three_classes),
        ],
    ),
    kind(
        "shopify-token",
        "a Shopify app token or secret",
        "https://shopify.dev/docs/apps/build/authentication-authorization",
        &[
            form("shpat_", &[exact(Hex, 32)]),
            form("shpca_", &[exact(Hex, 32)]),
            form("shppa_", &[exact(Hex, 32)]),
            form("shpss_", &[exact(Hex, 32)]),
            form("shpua_", &[exact(Hex, 32)]),
        ],
    ),
    kind(
        "flutterwave-key",
        "a Flutterwave secret key",
        "https://developer.flutterwave.com/docs/authentication",
        &[
            form("FLWSECK-", &[exact(LowerDigit, 32), text("-X")]),
            form("FLWSECK_TEST-", &[exact(LowerDigit, 32), text("-X")]),
            form("FLWSECK_TEST-", &[exact(LowerDigit, 12)]),
            form("FLWPUBK_TEST-", &[exact(LowerDigit, 32), text("-X")]),
        ],
    ),
    kind(
        "easypost-key",
        "an EasyPost API key",
        "https://docs.easypost.com/docs/authentication",
        &[form("EZAK", &[exact(Alphanumeric, 54)]), form("EZTK", &[exact(Alphanumeric, 54)])],
    ),
    kind(
        "shippo-token",
        "a Shippo API token",
        "https://docs.goshippo.com/docs/guides_general/authentication/",
        &[form("shippo_live_", &[exact(Hex, 40)]), form("shippo_test_", &[exact(Hex, 40)])],
    ),
    kind(
        "duffel-token",
        "a Duffel access token",
        "https://duffel.com/docs/api/overview/making-requests",
        &[
            form("duffel_live_", &[exact(Equals64, 43)]),
            form("duffel_test_", &[exact(Equals64, 43)]),
        ],
    ),
];

const STRIPE: &[TokenPart] = &[run(Alphanumeric, 10, 247)];
