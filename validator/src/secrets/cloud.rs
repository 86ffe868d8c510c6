//! Tokens of clouds and of services on them. Where an issuer documents no length, the range covers
//! the tokens seen so far. A prefix alone must never be enough.

use super::alphabet::Alphabet::{
    Alphanumeric, Base32, Base64, Dotted, Equals64, Escaped64, Hex, Loose, LowerDigit, LowerHex,
    Tilde, UpperDigit, Url64,
};
use super::checksum::{digit_leads, mixed, random, signature, three_classes};
use super::kind::{SecretKind, exact, form, kind, run, text};

pub(super) const AWS_SECRET: &str = "aws-secret-key";

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "aws-key",
        "an AWS access key id",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
        &[
            form("AKIA", &[exact(Base32, 16)]),
            form("ASIA", &[exact(Base32, 16)]),
            form("ABIA", &[exact(Base32, 16)]),
            form("ACCA", &[exact(Base32, 16)]),
            form("A3T", &[exact(UpperDigit, 1), exact(Base32, 16)]),
        ],
    ),
    kind(
        AWS_SECRET,
        "an AWS secret access key, by the name it is given to",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
        &[],
    ),
    kind(
        "aws-bedrock-key",
        "an Amazon Bedrock API key",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
        &[
            form("ABSK", &[run(Base64, 109, 269)]),
            form("bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t", &[run(Base64, 0, 4000)]),
        ],
    ),
    kind(
        "google-key",
        "a Google API key",
        "https://cloud.google.com/docs/authentication/api-keys",
        &[form("AIza", &[exact(Url64, 35)])],
    ),
    kind(
        "google-oauth",
        "a Google OAuth client secret, access token or refresh token",
        "https://developers.google.com/identity/protocols/oauth2",
        &[
            form("GOCSPX-", &[exact(Url64, 28)]),
            form("ya29.", &[run(Dotted, 50, 2048)]),
            form("1//0", &[run(Url64, 40, 512)]).standalone().with_check(mixed),
        ],
    ),
    kind(
        "azure-key",
        "an Azure account or shared access key",
        "https://learn.microsoft.com/azure/storage/common/storage-account-keys-manage",
        &[
            form("AccountKey=", &[exact(Base64, 86), text("==")]),
            form("SharedAccessKey=", &[exact(Base64, 43), text("=")]),
            form("+ASt", &[exact(Base64, 6), text("==")]).with_lead(Base64, 76, 76),
            form("JQQJ99", &[exact(Alphanumeric, 26)]).with_lead(Alphanumeric, 52, 52),
            form("JQQJ9D", &[exact(Alphanumeric, 26)]).with_lead(Alphanumeric, 52, 52),
            form("AZDO", &[exact(Alphanumeric, 4)]).with_lead(Alphanumeric, 76, 76),
        ],
    ),
    kind(
        "azure-sas",
        "the signature of an Azure shared access signature",
        "https://learn.microsoft.com/rest/api/storageservices/create-service-sas",
        &[form("sig=", &[run(Escaped64, 44, 64)]).with_check(signature)],
    ),
    kind(
        "azure-client-secret",
        "a Microsoft Entra ID client secret",
        "https://learn.microsoft.com/entra/identity-platform/quickstart-register-app",
        &[form("Q~", &[run(Tilde, 31, 34)]).with_lead(Tilde, 4, 4).with_check(digit_leads)],
    ),
    kind(
        "alibaba-key",
        "an Alibaba Cloud access key id",
        "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
        &[form("LTAI", &[run(Alphanumeric, 12, 26)]).standalone().with_check(mixed)],
    ),
    kind(
        "tencent-key",
        "a Tencent Cloud secret id",
        "https://www.tencentcloud.com/document/product/598/34228",
        &[form("AKID", &[exact(Alphanumeric, 32)]).standalone()],
    ),
    kind(
        "yandex-key",
        "a Yandex Cloud API key or token",
        "https://yandex.cloud/en/docs/iam/concepts/authorization/api-key",
        &[
            form("AQVN", &[run(Url64, 35, 38)]),
            form("t1.", &[run(Equals64, 1, 200), text("."), exact(Url64, 86)]),
        ],
    ),
    kind(
        "digitalocean-token",
        "a DigitalOcean personal, OAuth or refresh token",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
        &[
            form("dop_v1_", &[exact(LowerHex, 64)]),
            form("doo_v1_", &[exact(LowerHex, 64)]),
            form("dor_v1_", &[exact(LowerHex, 64)]),
        ],
    ),
    kind(
        "cloudflare-key",
        "a Cloudflare Origin CA key",
        "https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/",
        &[form("v1.0-", &[exact(LowerHex, 24), text("-"), exact(LowerHex, 146)])],
    ),
    kind(
        "heroku-key",
        "a Heroku API key",
        "https://devcenter.heroku.com/articles/oauth",
        &[form("HRKU-AA", &[exact(Url64, 58)])],
    ),
    kind(
        "scalingo-token",
        "a Scalingo API token",
        "https://developers.scalingo.com/tokens",
        &[form("tk-us-", &[exact(Url64, 48)])],
    ),
    kind(
        "fly-token",
        "a Fly.io access token",
        "https://fly.io/docs/security/tokens/",
        &[
            form("fo1_", &[exact(Url64, 43)]),
            form("fm1r_", &[run(Base64, 100, 4000)]),
            form("fm1a_", &[run(Base64, 100, 4000)]),
            form("fm2_", &[run(Base64, 100, 4000)]),
        ],
    ),
    kind(
        "netlify-token",
        "a Netlify personal access token",
        "https://docs.netlify.com/api/get-started/",
        &[form("nfp_", &[run(Alphanumeric, 36, 40)])],
    ),
    kind(
        "supabase-key",
        "a Supabase access token or secret key",
        "https://supabase.com/docs/guides/api/api-keys",
        &[form("sbp_", &[exact(LowerHex, 40)]), form("sb_secret_", &[run(Url64, 30, 50)])],
    ),
    kind(
        "planetscale-token",
        "a PlanetScale password or token",
        "https://planetscale.com/docs/concepts/password-roles",
        &[
            form("pscale_pw_", &[run(Loose, 32, 64)]),
            form("pscale_tkn_", &[run(Loose, 32, 64)]),
            form("pscale_oauth_", &[run(Loose, 32, 64)]),
        ],
    ),
    kind(
        "clickhouse-key",
        "a ClickHouse Cloud API secret",
        "https://clickhouse.com/docs/cloud/manage/openapi",
        &[form("4b1d", &[exact(Alphanumeric, 38)]).standalone().with_check(three_classes)],
    ),
    kind(
        "confluent-secret",
        "a Confluent Cloud API secret",
        "https://docs.confluent.io/cloud/current/access-management/authenticate/api-keys/index.html",
        &[form("cflt", &[exact(Base64, 60)]).standalone()],
    ),
    kind(
        "databricks-token",
        "a Databricks personal access token",
        "https://docs.databricks.com/en/dev-tools/auth/pat.html",
        &[form("dapi", &[exact(LowerHex, 32)])],
    ),
    kind(
        "vault-token",
        "a HashiCorp Vault token",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
        &[
            form("hvs.", &[run(Url64, 90, 200)]),
            form("hvb.", &[run(Url64, 90, 400)]),
            form("hvr.", &[run(Url64, 90, 400)]),
            form("s.", &[exact(Alphanumeric, 24)]).standalone().with_check(random),
        ],
    ),
    kind(
        "terraform-token",
        "an HCP Terraform API token",
        "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens",
        &[form(".atlasv1.", &[run(Equals64, 60, 70)]).with_lead(Alphanumeric, 14, 14)],
    ),
    kind(
        "pulumi-token",
        "a Pulumi access token",
        "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
        &[form("pul-", &[exact(LowerHex, 40)])],
    ),
    kind(
        "doppler-token",
        "a Doppler token",
        "https://docs.doppler.com/docs/token-formats",
        &[
            form("dp.pt.", &[run(Alphanumeric, 40, 44)]),
            form("dp.ct.", &[run(Alphanumeric, 40, 44)]),
            form("dp.sa.", &[run(Alphanumeric, 40, 44)]),
            form("dp.scim.", &[run(Alphanumeric, 40, 44)]),
            form("dp.audit.", &[run(Alphanumeric, 40, 44)]),
            form("dp.st.", &[run(Alphanumeric, 40, 44)]),
            form("dp.st.", &[run(Url64, 2, 35), text("."), run(Alphanumeric, 40, 44)]),
        ],
    ),
    kind(
        "tailscale-key",
        "a Tailscale key",
        "https://tailscale.com/docs/reference/key-prefixes",
        &[
            form("tskey-api-", TAILSCALE),
            form("tskey-auth-", TAILSCALE),
            form("tskey-client-", TAILSCALE),
            form("tskey-scim-", TAILSCALE),
            form("tskey-webhook-", TAILSCALE),
        ],
    ),
    kind(
        "onepassword-token",
        "a 1Password service account token or secret key",
        "https://developer.1password.com/docs/service-accounts/security/",
        &[
            form("ops_eyJ", &[run(Base64, 250, 4000)]),
            form("ops_eyJ", &[run(Url64, 250, 4000)]),
            form("A3-", SECRET_KEY),
            form("A3-", SECRET_KEY_SPLIT),
        ],
    ),
    kind(
        "openshift-token",
        "an OpenShift OAuth token",
        "https://docs.openshift.com/container-platform/latest/authentication/managing-oauth-access-tokens.html",
        &[form("sha256~", &[exact(Url64, 43)])],
    ),
    kind(
        "dynatrace-token",
        "a Dynatrace token",
        "https://docs.dynatrace.com/docs/dynatrace-api/basics/dynatrace-api-authentication",
        &[
            form("dt0c01.", DYNATRACE),
            form("dt0s01.", DYNATRACE),
            form("dt0s02.", DYNATRACE),
            form("dt0s16.", DYNATRACE),
        ],
    ),
    kind(
        "newrelic-key",
        "a New Relic user, license or insert key",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
        &[
            form("NRAK-", &[exact(Alphanumeric, 27)]),
            form("NRII-", &[exact(Url64, 32)]),
            form("NRJS-", &[exact(Hex, 19)]),
            form("NRAL", &[]).with_lead(LowerDigit, 36, 36).with_check(super::checksum::hex_leads),
        ],
    ),
    kind(
        "grafana-token",
        "a Grafana service account or cloud token",
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
        &[
            form("glsa_", &[exact(Alphanumeric, 32), text("_"), exact(Hex, 8)])
                .with_checksum(super::checksum::grafana_crc),
            form("glc_", &[run(Base64, 32, 400)]).with_check(mixed),
            form("eyJrIjoi", &[run(Alphanumeric, 70, 400)]),
        ],
    ),
];

const TAILSCALE: &[super::kind::TokenPart] =
    &[run(Alphanumeric, 8, 24), text("-"), run(Alphanumeric, 16, 48)];
const DYNATRACE: &[super::kind::TokenPart] =
    &[exact(Alphanumeric, 24), text("."), exact(Alphanumeric, 64)];
const SECRET_KEY: &[super::kind::TokenPart] = &[
    exact(UpperDigit, 6),
    text("-"),
    exact(UpperDigit, 11),
    text("-"),
    exact(UpperDigit, 5),
    text("-"),
    exact(UpperDigit, 5),
    text("-"),
    exact(UpperDigit, 5),
];
/// A secret key with its account part split in two.
const SECRET_KEY_SPLIT: &[super::kind::TokenPart] = &[
    exact(UpperDigit, 6),
    text("-"),
    exact(UpperDigit, 6),
    text("-"),
    exact(UpperDigit, 5),
    text("-"),
    exact(UpperDigit, 5),
    text("-"),
    exact(UpperDigit, 5),
    text("-"),
    exact(UpperDigit, 5),
];
