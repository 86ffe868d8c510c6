//! Tokens of web services: messages, mail, money, models, and what offices use. A prefix that is
//! short or a word must never count without a form that no other text has.

use super::alphabet::Alphabet::{
    Alphanumeric, Bech32, Digit, Dotted, Hex, Hyphened, LowerDigit, LowerHex, UpperDigit, Url64,
};
use super::checksum::{bech32, discord_id, double_a, mixed, numbered, openai_mark};
use super::kind::{Part, SecretKind, exact, kind, run, shape, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "slack-token",
        "a Slack token",
        "https://api.slack.com/authentication/token-types",
        &[
            shape("xoxb-", SLACK).checked(numbered),
            shape("xoxp-", SLACK).checked(numbered),
            shape("xoxa-", SLACK).checked(numbered),
            shape("xoxr-", SLACK).checked(numbered),
            shape("xoxs-", SLACK).checked(numbered),
            shape("xoxo-", SLACK).checked(numbered),
            shape("xoxc-", SLACK).checked(numbered),
            shape("xoxe-", &[run(Hyphened, 40, 250)]).checked(numbered),
            shape("xapp-", &[run(Hyphened, 40, 250)]).checked(numbered),
        ],
    ),
    kind(
        "slack-webhook",
        "the URL of a Slack webhook or workflow",
        "https://api.slack.com/messaging/webhooks",
        &[
            shape("hooks.slack.com/services/T", SLACK_HOOK),
            shape("hooks.slack.com/workflows/T", SLACK_HOOK),
            shape("hooks.slack.com/triggers/T", SLACK_HOOK),
        ],
    ),
    kind(
        "discord-token",
        "a Discord bot token",
        "https://discord.com/developers/docs/reference#authentication",
        &[shape(".", &[exact(Url64, 6), text("."), run(Url64, 27, 38)])
            .after(Url64, 23, 28)
            .checked(discord_id)],
    ),
    kind(
        "discord-webhook",
        "the URL of a Discord webhook",
        "https://discord.com/developers/docs/resources/webhook",
        &[
            shape("discord.com/api/webhooks/", DISCORD_HOOK),
            shape("discordapp.com/api/webhooks/", DISCORD_HOOK),
        ],
    ),
    kind(
        "sendgrid-key",
        "a SendGrid API key",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
        &[shape("SG.", &[exact(Url64, 22), text("."), exact(Url64, 43)])],
    ),
    kind(
        "twilio-key",
        "a Twilio API key",
        "https://www.twilio.com/docs/iam/api-keys",
        &[shape("SK", &[exact(LowerHex, 32)]).alone()],
    ),
    kind(
        "mailgun-key",
        "a Mailgun API key",
        "https://documentation.mailgun.com/docs/mailgun/user-manual/get-started/",
        &[shape("key-", &[exact(LowerHex, 32)]).alone()],
    ),
    kind(
        "mailchimp-key",
        "a Mailchimp API key",
        "https://mailchimp.com/developer/marketing/guides/quick-start/",
        &[shape("-us", &[run(Digit, 1, 2)]).after(LowerHex, 32, 32)],
    ),
    kind(
        "brevo-key",
        "a Brevo API or SMTP key",
        "https://developers.brevo.com/docs/getting-started",
        &[
            shape("xkeysib-", &[exact(LowerHex, 64), text("-"), exact(Alphanumeric, 16)]),
            shape("xsmtpsib-", &[exact(LowerHex, 64), text("-"), exact(Alphanumeric, 16)]),
        ],
    ),
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
        "facebook-token",
        "a Facebook access token",
        "https://developers.facebook.com/docs/facebook-login/guides/access-tokens/",
        &[shape("EAA", &[run(Alphanumeric, 100, 400)]).alone().checked(mixed)],
    ),
    kind(
        "openai-key",
        "an OpenAI key, or one of a service that copies its form",
        "https://platform.openai.com/docs/api-reference/authentication",
        &[
            shape("sk-proj-", &[run(Url64, 40, 250)]).checked(openai_mark),
            shape("sk-svcacct-", &[run(Url64, 40, 250)]).checked(openai_mark),
            shape("sk-admin-", &[run(Url64, 40, 250)]).checked(openai_mark),
            shape("sk-", &[run(Alphanumeric, 20, 64)]).checked(mixed),
        ],
    ),
    kind(
        "anthropic-key",
        "an Anthropic key",
        "https://docs.anthropic.com/en/api/overview",
        &[
            shape("sk-ant-api03-", &[exact(Url64, 95)]).checked(double_a),
            shape("sk-ant-admin01-", &[exact(Url64, 95)]).checked(double_a),
            shape("sk-ant-oat01-", &[run(Url64, 80, 160)]),
            shape("sk-ant-ort01-", &[run(Url64, 80, 160)]),
            shape("sk-ant-sid01-", &[run(Url64, 80, 160)]),
        ],
    ),
    kind(
        "huggingface-token",
        "a Hugging Face token",
        "https://huggingface.co/docs/hub/security-tokens",
        &[
            shape("hf_", &[run(Alphanumeric, 30, 40)]),
            shape("api_org_", &[run(Alphanumeric, 30, 40)]),
        ],
    ),
    kind(
        "groq-key",
        "a Groq API key",
        "https://console.groq.com/docs/quickstart",
        &[shape("gsk_", &[exact(Alphanumeric, 52)])],
    ),
    kind(
        "xai-key",
        "an xAI API key",
        "https://docs.x.ai/docs/tutorial",
        &[shape("xai-", &[exact(Alphanumeric, 80)])],
    ),
    kind(
        "replicate-token",
        "a Replicate API token",
        "https://replicate.com/docs/reference/http#authentication",
        &[shape("r8_", &[exact(Alphanumeric, 37)])],
    ),
    kind(
        "perplexity-key",
        "a Perplexity API key",
        "https://docs.perplexity.ai/getting-started/quickstart",
        &[shape("pplx-", &[exact(Alphanumeric, 48)])],
    ),
    kind(
        "openrouter-key",
        "an OpenRouter API key",
        "https://openrouter.ai/docs/api-reference/authentication",
        &[shape("sk-or-v1-", &[exact(LowerHex, 64)])],
    ),
    kind(
        "nvidia-key",
        "an NVIDIA API key",
        "https://docs.nvidia.com/ngc/latest/ngc-user-guide.html",
        &[shape("nvapi-", &[run(Url64, 60, 70)])],
    ),
    kind(
        "pinecone-key",
        "a Pinecone API key",
        "https://docs.pinecone.io/guides/projects/manage-api-keys",
        &[shape("pcsk_", &[run(Alphanumeric, 5, 6), text("_"), run(Alphanumeric, 60, 66)])],
    ),
    kind(
        "langsmith-key",
        "a LangSmith API key",
        "https://docs.langchain.com/langsmith/create-account-api-key",
        &[shape("lsv2_pt_", LANGSMITH), shape("lsv2_sk_", LANGSMITH)],
    ),
    kind(
        "elevenlabs-key",
        "an ElevenLabs API key",
        "https://elevenlabs.io/docs/api-reference/authentication",
        &[shape("sk_", &[exact(LowerHex, 48)]).alone()],
    ),
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
        "duffel-token",
        "a Duffel access token",
        "https://duffel.com/docs/api/overview/making-requests",
        &[shape("duffel_live_", &[exact(Url64, 43)]), shape("duffel_test_", &[exact(Url64, 43)])],
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

const SLACK: &[Part] = &[run(Hyphened, 16, 250)];
const SLACK_HOOK: &[Part] = &[
    run(UpperDigit, 8, 12),
    text("/"),
    run(UpperDigit, 8, 16),
    text("/"),
    run(Alphanumeric, 20, 40),
];
const DISCORD_HOOK: &[Part] = &[run(Digit, 17, 20), text("/"), run(Url64, 60, 80)];
const STRIPE: &[Part] = &[run(Alphanumeric, 16, 247)];
const LANGSMITH: &[Part] = &[exact(LowerHex, 32), text("_"), exact(LowerHex, 10)];
