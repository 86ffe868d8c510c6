//! Tokens of clouds and of services on them. Where an issuer documents no length, the range covers
//! the tokens seen so far. A prefix alone must never be enough.

use super::alphabet::Alphabet::{
    Alphanumeric, Base32, Base64, Dotted, Equals64, Escaped64, Hex, Loose, LowerDigit, LowerHex,
    Tilde, UpperDigit, Url64,
};
use super::checksum::{digit_leads, drawn, mixed, signature, three_classes};
use super::kind::{SecretKind, exact, kind, run, shape, text};

pub(super) const AWS_SECRET: &str = "aws-secret-key";

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "aws-key",
        "an AWS access key id",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
        &[
            shape("AKIA", &[exact(Base32, 16)]),
            shape("ASIA", &[exact(Base32, 16)]),
            shape("ABIA", &[exact(Base32, 16)]),
            shape("ACCA", &[exact(Base32, 16)]),
            shape("A3T", &[exact(UpperDigit, 1), exact(Base32, 16)]),
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
            shape("ABSK", &[run(Base64, 109, 269)]),
            shape("bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t", &[run(Base64, 0, 4000)]),
        ],
    ),
    kind(
        "google-key",
        "a Google API key",
        "https://cloud.google.com/docs/authentication/api-keys",
        &[shape("AIza", &[exact(Url64, 35)])],
    ),
    kind(
        "google-oauth",
        "a Google OAuth client secret, access token or refresh token",
        "https://developers.google.com/identity/protocols/oauth2",
        &[
            shape("GOCSPX-", &[exact(Url64, 28)]),
            shape("ya29.", &[run(Dotted, 50, 2048)]),
            shape("1//0", &[run(Url64, 40, 512)]).alone().checked(mixed),
        ],
    ),
    kind(
        "azure-key",
        "an Azure account or shared access key",
        "https://learn.microsoft.com/azure/storage/common/storage-account-keys-manage",
        &[
            shape("AccountKey=", &[exact(Base64, 86), text("==")]),
            shape("SharedAccessKey=", &[exact(Base64, 43), text("=")]),
            shape("+ASt", &[exact(Base64, 6), text("==")]).after(Base64, 76, 76),
            shape("JQQJ99", &[exact(Alphanumeric, 26)]).after(Alphanumeric, 52, 52),
            shape("JQQJ9D", &[exact(Alphanumeric, 26)]).after(Alphanumeric, 52, 52),
            shape("AZDO", &[exact(Alphanumeric, 4)]).after(Alphanumeric, 76, 76),
        ],
    ),
    kind(
        "azure-sas",
        "the signature of an Azure shared access signature",
        "https://learn.microsoft.com/rest/api/storageservices/create-service-sas",
        &[shape("sig=", &[run(Escaped64, 44, 64)]).checked(signature)],
    ),
    kind(
        "azure-client-secret",
        "a Microsoft Entra ID client secret",
        "https://learn.microsoft.com/entra/identity-platform/quickstart-register-app",
        &[shape("Q~", &[run(Tilde, 31, 34)]).after(Tilde, 4, 4).checked(digit_leads)],
    ),
    kind(
        "alibaba-key",
        "an Alibaba Cloud access key id",
        "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
        &[shape("LTAI", &[run(Alphanumeric, 12, 26)]).alone().checked(mixed)],
    ),
    kind(
        "tencent-key",
        "a Tencent Cloud secret id",
        "https://www.tencentcloud.com/document/product/598/34228",
        &[shape("AKID", &[exact(Alphanumeric, 32)]).alone()],
    ),
    kind(
        "yandex-key",
        "a Yandex Cloud API key or token",
        "https://yandex.cloud/en/docs/iam/concepts/authorization/api-key",
        &[
            shape("AQVN", &[run(Url64, 35, 38)]),
            shape("t1.", &[run(Equals64, 1, 200), text("."), exact(Url64, 86)]),
        ],
    ),
    kind(
        "digitalocean-token",
        "a DigitalOcean personal, OAuth or refresh token",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
        &[
            shape("dop_v1_", &[exact(LowerHex, 64)]),
            shape("doo_v1_", &[exact(LowerHex, 64)]),
            shape("dor_v1_", &[exact(LowerHex, 64)]),
        ],
    ),
    kind(
        "cloudflare-key",
        "a Cloudflare Origin CA key",
        "https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/",
        &[shape("v1.0-", &[exact(LowerHex, 24), text("-"), exact(LowerHex, 146)])],
    ),
    kind(
        "heroku-key",
        "a Heroku API key",
        "https://devcenter.heroku.com/articles/oauth",
        &[shape("HRKU-AA", &[exact(Url64, 58)])],
    ),
    kind(
        "scalingo-token",
        "a Scalingo API token",
        "https://developers.scalingo.com/tokens",
        &[shape("tk-us-", &[exact(Url64, 48)])],
    ),
    kind(
        "fly-token",
        "a Fly.io access token",
        "https://fly.io/docs/security/tokens/",
        &[
            shape("fo1_", &[exact(Url64, 43)]),
            shape("fm1r_", &[run(Base64, 100, 4000)]),
            shape("fm1a_", &[run(Base64, 100, 4000)]),
            shape("fm2_", &[run(Base64, 100, 4000)]),
        ],
    ),
    kind(
        "netlify-token",
        "a Netlify personal access token",
        "https://docs.netlify.com/api/get-started/",
        &[shape("nfp_", &[run(Alphanumeric, 36, 40)])],
    ),
    kind(
        "supabase-key",
        "a Supabase access token or secret key",
        "https://supabase.com/docs/guides/api/api-keys",
        &[shape("sbp_", &[exact(LowerHex, 40)]), shape("sb_secret_", &[run(Url64, 30, 50)])],
    ),
    kind(
        "planetscale-token",
        "a PlanetScale password or token",
        "https://planetscale.com/docs/concepts/password-roles",
        &[
            shape("pscale_pw_", &[run(Loose, 32, 64)]),
            shape("pscale_tkn_", &[run(Loose, 32, 64)]),
            shape("pscale_oauth_", &[run(Loose, 32, 64)]),
        ],
    ),
    kind(
        "clickhouse-key",
        "a ClickHouse Cloud API secret",
        "https://clickhouse.com/docs/cloud/manage/openapi",
        &[shape("4b1d", &[exact(Alphanumeric, 38)]).alone().checked(three_classes)],
    ),
    kind(
        "confluent-secret",
        "a Confluent Cloud API secret",
        "https://docs.confluent.io/cloud/current/access-management/authenticate/api-keys/index.html",
        &[shape("cflt", &[exact(Base64, 60)]).alone()],
    ),
    kind(
        "databricks-token",
        "a Databricks personal access token",
        "https://docs.databricks.com/en/dev-tools/auth/pat.html",
        &[shape("dapi", &[exact(LowerHex, 32)])],
    ),
    kind(
        "vault-token",
        "a HashiCorp Vault token",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
        &[
            shape("hvs.", &[run(Url64, 90, 200)]),
            shape("hvb.", &[run(Url64, 90, 400)]),
            shape("hvr.", &[run(Url64, 90, 400)]),
            shape("s.", &[exact(Alphanumeric, 24)]).alone().checked(drawn),
        ],
    ),
    kind(
        "terraform-token",
        "an HCP Terraform API token",
        "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens",
        &[shape(".atlasv1.", &[run(Equals64, 60, 70)]).after(Alphanumeric, 14, 14)],
    ),
    kind(
        "pulumi-token",
        "a Pulumi access token",
        "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
        &[shape("pul-", &[exact(LowerHex, 40)])],
    ),
    kind(
        "doppler-token",
        "a Doppler token",
        "https://docs.doppler.com/docs/token-formats",
        &[
            shape("dp.pt.", &[run(Alphanumeric, 40, 44)]),
            shape("dp.ct.", &[run(Alphanumeric, 40, 44)]),
            shape("dp.sa.", &[run(Alphanumeric, 40, 44)]),
            shape("dp.scim.", &[run(Alphanumeric, 40, 44)]),
            shape("dp.audit.", &[run(Alphanumeric, 40, 44)]),
            shape("dp.st.", &[run(Alphanumeric, 40, 44)]),
            shape("dp.st.", &[run(Url64, 2, 35), text("."), run(Alphanumeric, 40, 44)]),
        ],
    ),
    kind(
        "tailscale-key",
        "a Tailscale key",
        "https://tailscale.com/docs/reference/key-prefixes",
        &[
            shape("tskey-api-", TAILSCALE),
            shape("tskey-auth-", TAILSCALE),
            shape("tskey-client-", TAILSCALE),
            shape("tskey-scim-", TAILSCALE),
            shape("tskey-webhook-", TAILSCALE),
        ],
    ),
    kind(
        "onepassword-token",
        "a 1Password service account token or secret key",
        "https://developer.1password.com/docs/service-accounts/security/",
        &[
            shape("ops_eyJ", &[run(Base64, 250, 4000)]),
            shape("ops_eyJ", &[run(Url64, 250, 4000)]),
            shape("A3-", SECRET_KEY),
            shape("A3-", SECRET_KEY_SPLIT),
        ],
    ),
    kind(
        "openshift-token",
        "an OpenShift OAuth token",
        "https://docs.openshift.com/container-platform/latest/authentication/managing-oauth-access-tokens.html",
        &[shape("sha256~", &[exact(Url64, 43)])],
    ),
    kind(
        "dynatrace-token",
        "a Dynatrace token",
        "https://docs.dynatrace.com/docs/dynatrace-api/basics/dynatrace-api-authentication",
        &[
            shape("dt0c01.", DYNATRACE),
            shape("dt0s01.", DYNATRACE),
            shape("dt0s02.", DYNATRACE),
            shape("dt0s16.", DYNATRACE),
        ],
    ),
    kind(
        "newrelic-key",
        "a New Relic user, license or insert key",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
        &[
            shape("NRAK-", &[exact(Alphanumeric, 27)]),
            shape("NRII-", &[exact(Url64, 32)]),
            shape("NRJS-", &[exact(Hex, 19)]),
            shape("NRAL", &[]).after(LowerDigit, 36, 36).checked(super::checksum::hex_leads),
        ],
    ),
    kind(
        "grafana-token",
        "a Grafana service account or cloud token",
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
        &[
            shape("glsa_", &[exact(Alphanumeric, 32), text("_"), exact(Hex, 8)])
                .summed(super::checksum::grafana_crc),
            shape("glc_", &[run(Base64, 32, 400)]).checked(mixed),
            shape("eyJrIjoi", &[run(Alphanumeric, 70, 400)]),
        ],
    ),
];

const TAILSCALE: &[super::kind::Part] =
    &[run(Alphanumeric, 8, 24), text("-"), run(Alphanumeric, 16, 48)];
const DYNATRACE: &[super::kind::Part] =
    &[exact(Alphanumeric, 24), text("."), exact(Alphanumeric, 64)];
const SECRET_KEY: &[super::kind::Part] = &[
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
const SECRET_KEY_SPLIT: &[super::kind::Part] = &[
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
