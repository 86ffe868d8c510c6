//! Forms of tokens without a checksum, independent of the scanner: a change there must fail here.

use super::tokens::{
    BASE32, BASE62, BASE64, DIGIT, LOWER_DIGIT, LOWER_HEX, UPPER_DIGIT, URL64, random,
};

/// A token of a fixed form: its kind, then literal pieces (`=…`) and runs (`alphabet`, length).
pub(crate) type TokenFormRow = (&'static str, &'static [TokenPiece]);

#[derive(Clone, Copy)]
pub(crate) enum TokenPiece {
    Is(&'static str),
    Of(&'static str, usize),
}
use TokenPiece::{Is, Of};

/// Forms without a checksum. The last run has an exact length if its issuer documents one.
pub(crate) const FORMS: &[TokenFormRow] = &[
    ("aws-key", &[Is("AKIA"), Of(BASE32, 16)]),
    ("aws-key", &[Is("ASIA"), Of(BASE32, 16)]),
    ("github-token", &[Is("github_pat_"), Of(BASE62, 22), Is("_"), Of(BASE62, 59)]),
    ("github-token", &[Is("ghr_"), Of(BASE62, 76)]),
    ("gitlab-token", &[Is("glpat-"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("gldt-"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glrt-"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glrt-t1_"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glcbt-64_"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glptt-"), Of(LOWER_HEX, 40)]),
    ("gitlab-token", &[Is("gloas-"), Of(LOWER_HEX, 64)]),
    ("gitlab-token", &[Is("GR1348941"), Of(URL64, 20)]),
    ("google-key", &[Is("AIza"), Of(URL64, 35)]),
    ("google-oauth", &[Is("GOCSPX-"), Of(URL64, 28)]),
    ("azure-key", &[Of(BASE62, 52), Is("JQQJ99"), Of(BASE62, 26)]),
    ("azure-key", &[Of(BASE62, 76), Is("AZDO"), Of(BASE62, 4)]),
    ("tencent-key", &[Is("AKID"), Of(BASE62, 32)]),
    ("yandex-key", &[Is("t1."), Of(URL64, 40), Is("."), Of(URL64, 86)]),
    ("digitalocean-token", &[Is("dop_v1_"), Of(LOWER_HEX, 64)]),
    ("digitalocean-token", &[Is("doo_v1_"), Of(LOWER_HEX, 64)]),
    ("cloudflare-key", &[Is("v1.0-"), Of(LOWER_HEX, 24), Is("-"), Of(LOWER_HEX, 146)]),
    ("heroku-key", &[Is("HRKU-AA"), Of(URL64, 58)]),
    ("fly-token", &[Is("fo1_"), Of(URL64, 43)]),
    ("supabase-key", &[Is("sbp_"), Of(LOWER_HEX, 40)]),
    ("confluent-secret", &[Is("cflt"), Of(BASE64, 60)]),
    ("databricks-token", &[Is("dapi"), Of(LOWER_HEX, 32)]),
    ("vault-token", &[Is("s."), Of(BASE62, 24)]),
    ("pulumi-token", &[Is("pul-"), Of(LOWER_HEX, 40)]),
    ("openshift-token", &[Is("sha256~"), Of(URL64, 43)]),
    ("dynatrace-token", &[Is("dt0c01."), Of(UPPER_DIGIT, 24), Is("."), Of(UPPER_DIGIT, 64)]),
    ("newrelic-key", &[Is("NRAK-"), Of(UPPER_DIGIT, 27)]),
    ("newrelic-key", &[Is("NRII-"), Of(URL64, 32)]),
    ("telegram-token", &[Of(DIGIT, 10), Is(":AA"), Of(URL64, 33)]),
    ("clickhouse-key", &[Is("4b1d"), Of(BASE62, 38)]),
    ("atlassian-token", &[Is("ATATT3"), Of(URL64, 180), Is("="), Of("0123456789ABCDEF", 8)]),
    ("atlassian-token", &[Is("ATBB"), Of(BASE62, 32)]),
    ("crates-token", &[Is("cio"), Of(BASE62, 32)]),
    ("rubygems-key", &[Is("rubygems_"), Of(LOWER_HEX, 48)]),
    ("nuget-key", &[Is("oy2"), Of(LOWER_DIGIT, 43)]),
    ("clojars-token", &[Is("CLOJARS_"), Of(LOWER_HEX, 60)]),
    ("docker-token", &[Is("dckr_pat_"), Of(URL64, 27)]),
    ("artifactory-key", &[Is("AKCp"), Of(BASE62, 69)]),
    ("sonar-token", &[Is("squ_"), Of(LOWER_HEX, 40)]),
    ("sourcegraph-token", &[Is("sgp_"), Of(LOWER_HEX, 16), Is("_"), Of(LOWER_HEX, 40)]),
    ("circleci-token", &[Is("CCIPAT_"), Of(BASE62, 22), Is("_"), Of(LOWER_HEX, 40)]),
    ("buildkite-token", &[Is("bkua_"), Of(LOWER_HEX, 40)]),
    (
        "harness-key",
        &[Is("pat."), Of(BASE62, 22), Is("."), Of(BASE62, 24), Is("."), Of(BASE62, 20)],
    ),
    ("prefect-key", &[Is("pnu_"), Of(BASE62, 36)]),
    ("infracost-key", &[Is("ico-"), Of(BASE62, 32)]),
    ("sentry-token", &[Is("sntryu_"), Of(LOWER_HEX, 64)]),
    ("sentry-token", &[Is("sntrys_eyJ"), Of(BASE62, 120), Is("_"), Of(BASE64, 43)]),
    ("sendgrid-key", &[Is("SG."), Of(URL64, 22), Is("."), Of(URL64, 43)]),
    ("twilio-key", &[Is("SK"), Of(LOWER_HEX, 32)]),
    ("mailgun-key", &[Is("key-"), Of(LOWER_HEX, 32)]),
    ("brevo-key", &[Is("xkeysib-"), Of(LOWER_HEX, 64), Is("-"), Of(BASE62, 16)]),
    ("square-token", &[Is("sq0csp-"), Of(URL64, 43)]),
    ("shopify-token", &[Is("shpat_"), Of(LOWER_HEX, 32)]),
    ("flutterwave-key", &[Is("FLWSECK_TEST-"), Of(LOWER_DIGIT, 32), Is("-X")]),
    ("easypost-key", &[Is("EZAK"), Of(BASE62, 54)]),
    ("shippo-token", &[Is("shippo_live_"), Of(LOWER_HEX, 40)]),
    ("openai-key", &[Is("sk-proj-"), Of(URL64, 74), Is("T3BlbkFJ"), Of(URL64, 74)]),
    ("openai-key", &[Is("sk-"), Of(BASE62, 20), Is("T3BlbkFJ"), Of(BASE62, 20)]),
    ("anthropic-key", &[Is("sk-ant-api03-"), Of(URL64, 93), Is("AA")]),
    ("groq-key", &[Is("gsk_"), Of(BASE62, 52)]),
    ("xai-key", &[Is("xai-"), Of(BASE62, 80)]),
    ("replicate-token", &[Is("r8_"), Of(BASE62, 37)]),
    ("perplexity-key", &[Is("pplx-"), Of(BASE62, 48)]),
    ("openrouter-key", &[Is("sk-or-v1-"), Of(LOWER_HEX, 64)]),
    ("langsmith-key", &[Is("lsv2_pt_"), Of(LOWER_HEX, 32), Is("_"), Of(LOWER_HEX, 10)]),
    ("elevenlabs-key", &[Is("sk_"), Of(LOWER_HEX, 48)]),
    ("postman-key", &[Is("PMAK-"), Of(LOWER_HEX, 24), Is("-"), Of(LOWER_HEX, 34)]),
    ("linear-key", &[Is("lin_api_"), Of(BASE62, 40)]),
    ("notion-token", &[Is("ntn_"), Of(DIGIT, 11), Of(BASE62, 35)]),
    ("figma-token", &[Is("figd_"), Of(URL64, 40)]),
    ("airtable-token", &[Is("pat"), Of(BASE62, 14), Is("."), Of(LOWER_HEX, 64)]),
    ("contentful-token", &[Is("CFPAT-"), Of(URL64, 43)]),
    ("duffel-token", &[Is("duffel_live_"), Of(URL64, 43)]),
    ("frameio-token", &[Is("fio-u-"), Of(URL64, 64)]),
    ("readme-key", &[Is("rdme_"), Of(LOWER_DIGIT, 70)]),
    ("adobe-secret", &[Is("p8e-"), Of(URL64, 32)]),
    // The length of these is a range; the row has a value within it.
    ("aws-bedrock-key", &[Is("ABSK"), Of(BASE62, 128)]),
    ("google-oauth", &[Is("ya29."), Of(URL64, 120)]),
    ("square-token", &[Is("sq0atp-"), Of(URL64, 40)]),
    ("gitlab-token", &[Is("_gitlab_session="), Of(LOWER_DIGIT, 32)]),
    (
        "authress-key",
        &[
            Is("sc_"),
            Of(LOWER_DIGIT, 12),
            Is("."),
            Of(LOWER_DIGIT, 5),
            Is(".acc_"),
            Of(LOWER_DIGIT, 16),
            Is("."),
            Of(URL64, 60),
        ],
    ),
    ("settlemint-token", &[Is("sm_aat_"), Of(BASE62, 16)]),
    ("maxmind-key", &[Of(BASE62, 6), Is("_"), Of(BASE62, 29), Is("_mmk")]),
    ("intra42-secret", &[Is("s-s4t2ud-"), Of(LOWER_HEX, 64)]),
    ("lob-key", &[Is("live_"), Of(LOWER_HEX, 35)]),
    ("scalingo-token", &[Is("tk-us-"), Of(URL64, 48)]),
    ("azure-client-secret", &[Of(BASE62, 3), Of(DIGIT, 1), Is("Q~"), Of(BASE62, 34)]),
    ("alibaba-key", &[Is("LTAI"), Of(BASE62, 20)]),
    ("netlify-token", &[Is("nfp_"), Of(BASE62, 36)]),
    ("supabase-key", &[Is("sb_secret_"), Of(URL64, 31)]),
    ("planetscale-token", &[Is("pscale_tkn_"), Of(BASE62, 43)]),
    ("vault-token", &[Is("hvs."), Of(URL64, 95)]),
    ("terraform-token", &[Of(BASE62, 14), Is(".atlasv1."), Of(URL64, 67)]),
    ("doppler-token", &[Is("dp.pt."), Of(BASE62, 43)]),
    ("doppler-token", &[Is("dp.st.dev."), Of(BASE62, 43)]),
    ("tailscale-key", &[Is("tskey-auth-"), Of(BASE62, 12), Is("-"), Of(BASE62, 32)]),
    ("onepassword-token", &[Is("ops_eyJ"), Of(BASE62, 400)]),
    ("pypi-token", &[Is("pypi-AgEIcHlwaS5vcmc"), Of(URL64, 150)]),
    ("octopus-key", &[Is("API-"), Of(UPPER_DIGIT, 30)]),
    ("slack-token", &[Is("xoxb-"), Of(DIGIT, 12), Is("-"), Of(DIGIT, 13), Is("-"), Of(BASE62, 24)]),
    (
        "slack-token",
        &[Is("xapp-1-A"), Of(UPPER_DIGIT, 10), Is("-"), Of(DIGIT, 13), Is("-"), Of(LOWER_HEX, 64)],
    ),
    ("mailchimp-key", &[Of(LOWER_HEX, 32), Is("-us"), Of(DIGIT, 2)]),
    ("stripe-key", &[Is("sk_live_"), Of(BASE62, 24)]),
    ("stripe-key", &[Is("rk_live_"), Of(BASE62, 99)]),
    ("stripe-key", &[Is("whsec_"), Of(BASE62, 32)]),
    ("facebook-token", &[Is("EAA"), Of(BASE62, 180)]),
    ("huggingface-token", &[Is("hf_"), Of(BASE62, 34)]),
    ("nvidia-key", &[Is("nvapi-"), Of(URL64, 64)]),
    ("pinecone-key", &[Is("pcsk_"), Of(BASE62, 6), Is("_"), Of(BASE62, 63)]),
    ("dropbox-token", &[Is("sl."), Of(URL64, 140)]),
    ("typeform-token", &[Is("tfp_"), Of(BASE62, 59)]),
    ("mapbox-token", &[Is("sk.eyJ"), Of(URL64, 60), Is("."), Of(URL64, 22)]),
];

/// Builds a token with the last run longer by `more` characters (shorter if negative).
pub(crate) fn build(pieces: &[TokenPiece], seed: u32, more: isize) -> String {
    let last = pieces.iter().rposition(|piece| matches!(piece, Of(..))).unwrap();
    let mut text = String::new();
    for (at, piece) in (0_u32..).zip(pieces) {
        match piece {
            Is(fixed) => text.push_str(fixed),
            Of(alphabet, length) => {
                let more = if at as usize == last { more } else { 0 };
                text.push_str(&random(alphabet, length.saturating_add_signed(more), seed + at));
            }
        }
    }
    text
}
