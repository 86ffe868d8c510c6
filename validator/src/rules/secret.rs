//! The documentation of the family `secret.*`. No example may stand here in the form that it
//! warns of: each is put together from pieces, so that nothing that looks for secrets in this
//! repository finds one.

use super::Example::{Command, Front, Prose};
use super::case::{bad, good};
use super::{Member, Rule, TEXT, Weight};
use crate::code::Code;

/// The kinds that the validator looks for.
const KINDS: [(&str, &str); 17] = [
    ("age-key", "a secret key of age"),
    ("aws-key", "an access key id of AWS"),
    ("bearer", "a token after the word Bearer"),
    ("digitalocean-token", "a token of DigitalOcean"),
    ("github-token", "a token of GitHub"),
    ("gitlab-token", "a token of GitLab"),
    ("google-key", "an API key of Google"),
    ("huggingface-token", "a token of Hugging Face"),
    ("jwt", "a JSON web token"),
    ("npm-token", "a token of npm"),
    ("openai-key", "an API key of OpenAI"),
    ("password", "a value given to a name such as password or api_key"),
    ("private-key", "the first line of a private key in PEM form"),
    ("pypi-token", "a token of PyPI"),
    ("slack-token", "a token of Slack"),
    ("stripe-key", "a key of Stripe"),
    ("url-password", "a password inside a URL"),
];

pub(super) fn members() -> Vec<Member> {
    KINDS.map(|(name, what)| Member { name, what }).to_vec()
}

pub(super) static SECRET: Rule = Rule {
    code: Code::Secret("<kind>"),
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Forbidden Content; tool-result schema, last section",
    why: "Requests and results are kept for years, signed and read by many. A secret in one of \
          them is known from then on, whatever is done to the file later.",
    remedy: "Replace the secret itself, for it counts as known, and take its text out. What a tool \
             may use is for policy to hand over.",
    cases: &[
        bad("a key in the text", Prose("Use the key AKIA«Z7QX × 4» for it.")),
        bad(
            "a password as an option",
            Command("python script.py /in/input.csv --password=r4b«k9T × 3»"),
        ),
        bad("behind an escape", Front("purpose", "purpose: \"With \\x41KIA«Z7QX × 4».\"")),
        bad("a private key", Prose("-----BEGIN «OPENSSH PRIVATE × 1» KEY-----")),
        good("the word alone", Prose("A password is not needed; the token is kept elsewhere.")),
        good("a file in place of the secret", Command("python script.py --password=/in/input.csv")),
    ],
};
