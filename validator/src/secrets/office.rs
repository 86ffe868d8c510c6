//! Tokens of what offices work with, and the one key that belongs to no service. A prefix alone
//! must never be enough.

use super::alphabet::Alphabet::{Alphanumeric, Bech32, Digit, Dotted, LowerDigit, LowerHex, Url64};
use super::checksum::{bech32, mixed};
use super::kind::{SecretKind, exact, kind, run, shape, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "postman-key",
        "a Postman API key",
        "https://learning.postman.com/docs/developer/postman-api/authentication/",
        &[shape("PMAK-", &[exact(LowerHex, 24), text("-"), exact(LowerHex, 34)])],
    ),
    kind(
        "linear-key",
        "a Linear API key or OAuth token",
        "https://linear.app/developers/graphql",
        &[
            shape("lin_api_", &[exact(Alphanumeric, 40)]),
            shape("lin_oauth_", &[exact(LowerHex, 64)]),
        ],
    ),
    kind(
        "notion-token",
        "a Notion integration token",
        "https://developers.notion.com/reference/authentication",
        &[
            shape("ntn_", &[exact(Digit, 11), exact(Alphanumeric, 35)]),
            shape("secret_", &[exact(Alphanumeric, 43)]).checked(mixed),
        ],
    ),
    kind(
        "figma-token",
        "a Figma personal access token",
        "https://www.figma.com/developers/api#access-tokens",
        &[shape("figd_", &[exact(Url64, 40)])],
    ),
    kind(
        "airtable-token",
        "an Airtable personal access token",
        "https://airtable.com/developers/web/api/authentication",
        &[shape("pat", &[exact(Alphanumeric, 14), text("."), exact(LowerHex, 64)])],
    ),
    kind(
        "contentful-token",
        "a Contentful management token",
        "https://www.contentful.com/developers/docs/references/authentication/",
        &[shape("CFPAT-", &[exact(Url64, 43)])],
    ),
    kind(
        "dropbox-token",
        "a Dropbox access token",
        "https://developers.dropbox.com/oauth-guide",
        &[shape("sl.", &[run(Dotted, 130, 2000)]).alone().checked(mixed)],
    ),
    kind(
        "typeform-token",
        "a Typeform personal access token",
        "https://www.typeform.com/developers/get-started/personal-access-token/",
        &[shape("tfp_", &[run(Dotted, 40, 80)])],
    ),
    kind(
        "mapbox-token",
        "a Mapbox secret token",
        "https://docs.mapbox.com/help/getting-started/access-tokens/",
        &[shape("sk.eyJ", &[run(Url64, 20, 300), text("."), run(Url64, 20, 30)])],
    ),
    kind(
        "frameio-token",
        "a Frame.io developer token",
        "https://developer.frame.io/docs/getting-started/authentication",
        &[shape("fio-u-", &[exact(Url64, 64)])],
    ),
    kind(
        "readme-key",
        "a ReadMe API key",
        "https://docs.readme.com/main/reference/authentication",
        &[shape("rdme_", &[exact(LowerDigit, 70)])],
    ),
    kind(
        "adobe-secret",
        "an Adobe client secret",
        "https://developer.adobe.com/developer-console/docs/guides/authentication/",
        &[shape("p8e-", &[exact(Url64, 32)]).alone()],
    ),
    kind(
        "age-key",
        "an age identity",
        "https://github.com/C2SP/C2SP/blob/main/age.md",
        &[
            shape("AGE-SECRET-KEY-1", &[exact(Bech32, 58)]).checked(bech32),
            shape("AGE-SECRET-KEY-PQ-1", &[exact(Bech32, 58)]).checked(bech32),
        ],
    ),
];
