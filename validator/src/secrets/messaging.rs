//! Tokens of chat, mail and telephony services. A short or ordinary prefix must never count without
//! a distinctive form.

use super::alphabet::Alphabet::{
    Alphanumeric, Base64, Digit, Hex, Hyphened, Loose, LowerHex, UpperDigit, Url64,
};
use super::checksum::{discord_id, mixed, numbered};
use super::kind::{Part, SecretKind, exact, kind, run, shape, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "slack-token",
        "a Slack token",
        "https://api.slack.com/authentication/token-types",
        &[
            shape("xoxb-", SLACK).checked(numbered),
            shape("xoxp-", SLACK).checked(numbered),
            shape("xoxa-", SLACK).checked(mixed),
            shape("xoxr-", SLACK).checked(mixed),
            shape("xoxs-", SLACK).checked(numbered),
            shape("xoxo-", SLACK).checked(numbered),
            shape("xoxc-", SLACK).checked(numbered),
            shape("xoxe-", &[run(Hyphened, 40, 250)]).checked(numbered),
            shape("xapp-", &[exact(Digit, 1), text("-"), run(Hyphened, 5, 250)]).checked(numbered),
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
            shape("hooks.slack.com/services/", &[run(Base64, 43, 56)]),
            shape("hooks.slack.com/workflows/", &[run(Base64, 43, 56)]),
            shape("hooks.slack.com/triggers/", &[run(Base64, 43, 56)]),
        ],
    ),
    kind(
        "teams-webhook",
        "the URL of a Microsoft Teams webhook",
        "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook",
        &[shape(".webhook.office.com/webhookb2/", TEAMS_HOOK).after(Alphanumeric, 1, 63)],
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
        &[shape("SG.", &[exact(Loose, 66)]).checked(mixed)],
    ),
    kind(
        "twilio-key",
        "a Twilio API key",
        "https://www.twilio.com/docs/iam/api-keys",
        &[shape("SK", &[exact(Hex, 32)]).alone()],
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
        "facebook-token",
        "a Facebook access token",
        "https://developers.facebook.com/docs/facebook-login/guides/access-tokens/",
        &[
            shape("EAA", &[run(Alphanumeric, 100, 400)]).alone().checked(mixed),
            shape("|", &[run(Url64, 27, 40)]).after(Digit, 15, 16),
            shape("%", &[run(Url64, 27, 40)]).after(Digit, 15, 16),
        ],
    ),
    kind(
        "telegram-token",
        "a Telegram bot token",
        "https://core.telegram.org/bots/api#authorizing-your-bot",
        &[shape(":A", &[exact(Url64, 34)]).after(Digit, 5, 16)],
    ),
];

const SLACK: &[Part] = &[run(Hyphened, 8, 250)];

const SLACK_HOOK: &[Part] = &[
    run(UpperDigit, 8, 12),
    text("/"),
    run(UpperDigit, 8, 16),
    text("/"),
    run(Alphanumeric, 20, 40),
];

const DISCORD_HOOK: &[Part] = &[run(Digit, 17, 20), text("/"), run(Url64, 60, 80)];

const TEAMS_HOOK: &[Part] = &[
    exact(Hyphened, 36),
    text("@"),
    exact(Hyphened, 36),
    text("/IncomingWebhook/"),
    exact(Alphanumeric, 32),
    text("/"),
    exact(Hyphened, 36),
];
