//! Tokens of chat, mail and telephony. A short prefix must never count without a distinctive form.

use super::alphabet::Alphabet::{
    Alphanumeric, Base64, Digit, Hex, Hyphened, Loose, LowerHex, UpperDigit, Url64,
};
use super::checksum::{discord_id, mixed, numbered};
use super::kind::{SecretKind, TokenPart, exact, form, kind, run, text};

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "slack-token",
        "a Slack token",
        "https://api.slack.com/authentication/token-types",
        &[
            form("xoxb-", SLACK).with_check(numbered),
            form("xoxp-", SLACK).with_check(numbered),
            form("xoxa-", SLACK).with_check(mixed),
            form("xoxr-", SLACK).with_check(mixed),
            form("xoxs-", SLACK).with_check(numbered),
            form("xoxo-", SLACK).with_check(numbered),
            form("xoxc-", SLACK).with_check(numbered),
            form("xoxe-", &[run(Hyphened, 40, 250)]).with_check(numbered),
            form("xapp-", &[exact(Digit, 1), text("-"), run(Hyphened, 5, 250)])
                .with_check(numbered),
        ],
    ),
    kind(
        "slack-webhook",
        "the URL of a Slack webhook or workflow",
        "https://api.slack.com/messaging/webhooks",
        &[
            form("hooks.slack.com/services/T", SLACK_HOOK),
            form("hooks.slack.com/workflows/T", SLACK_HOOK),
            form("hooks.slack.com/triggers/T", SLACK_HOOK),
            form("hooks.slack.com/services/", &[run(Base64, 43, 56)]),
            form("hooks.slack.com/workflows/", &[run(Base64, 43, 56)]),
            form("hooks.slack.com/triggers/", &[run(Base64, 43, 56)]),
        ],
    ),
    kind(
        "teams-webhook",
        "the URL of a Microsoft Teams webhook",
        "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook",
        &[form(".webhook.office.com/webhookb2/", TEAMS_HOOK).with_lead(Alphanumeric, 1, 63)],
    ),
    kind(
        "discord-token",
        "a Discord bot token",
        "https://discord.com/developers/docs/reference#authentication",
        &[form(".", &[exact(Url64, 6), text("."), run(Url64, 27, 38)])
            .with_lead(Url64, 23, 28)
            .with_check(discord_id)],
    ),
    kind(
        "discord-webhook",
        "the URL of a Discord webhook",
        "https://discord.com/developers/docs/resources/webhook",
        &[
            form("discord.com/api/webhooks/", DISCORD_HOOK),
            form("discordapp.com/api/webhooks/", DISCORD_HOOK),
        ],
    ),
    kind(
        "sendgrid-key",
        "a SendGrid API key",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
        &[form("SG.", &[exact(Loose, 66)]).with_check(mixed)],
    ),
    kind(
        "twilio-key",
        "a Twilio API key",
        "https://www.twilio.com/docs/iam/api-keys",
        &[form("SK", &[exact(Hex, 32)]).standalone()],
    ),
    kind(
        "mailgun-key",
        "a Mailgun API key",
        "https://documentation.mailgun.com/docs/mailgun/user-manual/get-started/",
        &[form("key-", &[exact(LowerHex, 32)]).standalone()],
    ),
    kind(
        "mailchimp-key",
        "a Mailchimp API key",
        "https://mailchimp.com/developer/marketing/guides/quick-start/",
        &[form("-us", &[run(Digit, 1, 2)]).with_lead(LowerHex, 32, 32)],
    ),
    kind(
        "brevo-key",
        "a Brevo API or SMTP key",
        "https://developers.brevo.com/docs/getting-started",
        &[
            form("xkeysib-", &[exact(LowerHex, 64), text("-"), exact(Alphanumeric, 16)]),
            form("xsmtpsib-", &[exact(LowerHex, 64), text("-"), exact(Alphanumeric, 16)]),
        ],
    ),
    kind(
        "facebook-token",
        "a Facebook access token",
        "https://developers.facebook.com/docs/facebook-login/guides/access-tokens/",
        &[
            form("EAA", &[run(Alphanumeric, 100, 400)]).standalone().with_check(mixed),
            form("|", &[run(Url64, 27, 40)]).with_lead(Digit, 15, 16),
            form("%", &[run(Url64, 27, 40)]).with_lead(Digit, 15, 16),
        ],
    ),
    kind(
        "telegram-token",
        "a Telegram bot token",
        "https://core.telegram.org/bots/api#authorizing-your-bot",
        &[form(":A", &[exact(Url64, 34)]).with_lead(Digit, 5, 16)],
    ),
];

const SLACK: &[TokenPart] = &[run(Hyphened, 8, 250)];

const SLACK_HOOK: &[TokenPart] = &[
    run(UpperDigit, 8, 12),
    text("/"),
    run(UpperDigit, 8, 16),
    text("/"),
    run(Alphanumeric, 20, 40),
];

const DISCORD_HOOK: &[TokenPart] = &[run(Digit, 17, 20), text("/"), run(Url64, 60, 80)];

const TEAMS_HOOK: &[TokenPart] = &[
    exact(Hyphened, 36),
    text("@"),
    exact(Hyphened, 36),
    text("/IncomingWebhook/"),
    exact(Alphanumeric, 32),
    text("/"),
    exact(Hyphened, 36),
];
