//! Tokens of office services, and the one key of no service. A prefix alone must never be enough.

use super::alphabet::Alphabet::{
    Alphanumeric, Any64, Bech32, Digit, Equals64, Hex, Hyphened, Loose, LowerDigit, LowerHex, Url64,
};
use super::checksum::{bech32, maxmind_lead, mixed};
use super::kind::{SecretKind, TokenPart, exact, form, kind, run, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "postman-key",
        "a Postman API key",
        "https://learning.postman.com/docs/developer/postman-api/authentication/",
        &[form("PMAK-", &[exact(Hex, 24), text("-"), exact(Hex, 34)])],
    ),
    kind(
        "linear-key",
        "a Linear API key or OAuth token",
        "https://linear.app/developers/graphql",
        &[form("lin_api_", &[exact(Alphanumeric, 40)]), form("lin_oauth_", &[exact(LowerHex, 64)])],
    ),
    kind(
        "notion-token",
        "a Notion integration token",
        "https://developers.notion.com/reference/authentication",
        &[
            form("ntn_", &[exact(Digit, 11), exact(Alphanumeric, 35)]),
            form("secret_", &[exact(Alphanumeric, 43)]).with_check(mixed),
        ],
    ),
    kind(
        "figma-token",
        "a Figma personal access token",
        "https://www.figma.com/developers/api#access-tokens",
        &[form("figd_", &[exact(Url64, 40)])],
    ),
    kind(
        "airtable-token",
        "an Airtable personal access token",
        "https://airtable.com/developers/web/api/authentication",
        &[form("pat", &[exact(Alphanumeric, 14), text("."), exact(LowerHex, 64)])],
    ),
    kind(
        "contentful-token",
        "a Contentful management token",
        "https://www.contentful.com/developers/docs/references/authentication/",
        &[form("CFPAT-", &[exact(Url64, 43)])],
    ),
    kind(
        "dropbox-token",
        "a Dropbox access token",
        "https://developers.dropbox.com/oauth-guide",
        &[form("sl.", &[run(Loose, 130, 2000)]).standalone().with_check(mixed)],
    ),
    kind(
        "typeform-token",
        "a Typeform personal access token",
        "https://www.typeform.com/developers/get-started/personal-access-token/",
        &[form("tfp_", &[run(Loose, 40, 80)])],
    ),
    kind(
        "mapbox-token",
        "a Mapbox secret token",
        "https://docs.mapbox.com/help/getting-started/access-tokens/",
        &[form("sk.eyJ", &[run(Url64, 20, 300), text("."), run(Url64, 20, 30)])],
    ),
    kind(
        "frameio-token",
        "a Frame.io developer token",
        "https://developer.frame.io/docs/getting-started/authentication",
        &[form("fio-u-", &[exact(Equals64, 64)])],
    ),
    kind(
        "readme-key",
        "a ReadMe API key",
        "https://docs.readme.com/main/reference/authentication",
        &[form("rdme_", &[exact(LowerDigit, 70)])],
    ),
    kind(
        "adobe-secret",
        "an Adobe client secret",
        "https://developer.adobe.com/developer-console/docs/guides/authentication/",
        &[form("p8e-", &[exact(Url64, 32)]).standalone()],
    ),
    kind(
        "authress-key",
        "an Authress service client key",
        "https://authress.io/knowledge-base/docs/authorization/service-clients",
        &[
            form("sc_", AUTHRESS),
            form("sc_", AUTHRESS_DASH),
            form("ext_", AUTHRESS),
            form("ext_", AUTHRESS_DASH),
            form("scauth_", AUTHRESS),
            form("scauth_", AUTHRESS_DASH),
            form("authress_", AUTHRESS),
            form("authress_", AUTHRESS_DASH),
        ],
    ),
    kind(
        "settlemint-token",
        "a SettleMint access token",
        "https://console.settlemint.com/documentation/platform-components/security-and-authentication/application-access-tokens",
        &[
            form("sm_aat_", &[exact(Alphanumeric, 16)]),
            form("sm_pat_", &[exact(Alphanumeric, 16)]),
            form("sm_sat_", &[exact(Alphanumeric, 16)]),
        ],
    ),
    kind(
        "maxmind-key",
        "a MaxMind license key",
        "https://support.maxmind.com/hc/en-us/articles/4407111582235-Generate-a-License-Key",
        &[form("_mmk", &[]).with_lead(Url64, 36, 36).with_check(maxmind_lead)],
    ),
    kind(
        "intra42-secret",
        "a 42 intranet client secret",
        "https://api.intra.42.fr/apidoc/guides/getting_started",
        &[form("s-s4t2ud-", &[exact(Hex, 64)]), form("s-s4t2af-", &[exact(Hex, 64)])],
    ),
    kind(
        "lob-key",
        "a Lob API key",
        "https://docs.lob.com/#tag/Authentication",
        &[
            form("live_", &[exact(LowerHex, 35)]).standalone(),
            form("test_", &[exact(LowerHex, 35)]).standalone(),
            form("live_pub_", &[exact(LowerHex, 31)]).standalone(),
            form("test_pub_", &[exact(LowerHex, 31)]).standalone(),
        ],
    ),
    kind(
        "age-key",
        "an age identity",
        "https://github.com/C2SP/C2SP/blob/main/age.md",
        &[
            form("AGE-SECRET-KEY-1", &[exact(Bech32, 58)]).with_checksum(bech32),
            form("AGE-SECRET-KEY-PQ-1", &[exact(Bech32, 58)]).with_checksum(bech32),
        ],
    ),
];

const AUTHRESS: &[TokenPart] = &[
    run(Alphanumeric, 5, 30),
    text("."),
    run(Alphanumeric, 4, 6),
    text(".acc_"),
    run(Hyphened, 10, 32),
    text("."),
    run(Any64, 30, 120),
];
const AUTHRESS_DASH: &[TokenPart] = &[
    run(Alphanumeric, 5, 30),
    text("."),
    run(Alphanumeric, 4, 6),
    text(".acc-"),
    run(Hyphened, 10, 32),
    text("."),
    run(Any64, 30, 120),
];
