//! Finds keys without a form of their own by the service's name before them: `ADAFRUIT_KEY = "…"`,
//! with the alphabets and lengths of its keys. Name and length alone must never be an error.

use super::alphabet::Alphabet::{
    self, Alphanumeric, Any64, ColonHex, Digit, Dotted, Equals64, Escaped64, Hex, Hyphened, Url64,
};
use super::alphabet::RunExtents;
use super::assignment;
use super::checksum::is_mixed;
use super::kind::{SecretKind, likely_kind};
use super::value;
use ServiceKeyForm::{Of, Uuid};

pub(super) const KIND: &str = "service-key";

pub(super) const KINDS: &[SecretKind] = &[likely_kind(
    KIND,
    "a key of a service, by the service's name before it",
    "https://cwe.mitre.org/data/definitions/798.html",
)];

#[derive(Clone, Copy, Debug)]
pub(super) enum ServiceKeyForm {
    /// Characters of an alphabet, with the minimum and maximum number.
    Of(Alphabet, usize, usize),
    Uuid,
}

#[rustfmt::skip]
pub(super) const SERVICES: &[(&str, &[ServiceKeyForm])] = &[
    ("adafruit", &[Of(Url64, 32, 32)]),
    ("adobe", &[Of(Hex, 32, 32)]),
    ("airtable", &[Of(Alphanumeric, 17, 17)]),
    ("algolia", &[Of(Alphanumeric, 32, 32)]),
    ("alibaba", &[Of(Alphanumeric, 30, 30)]),
    ("asana", &[Of(Digit, 16, 16), Of(Alphanumeric, 32, 32)]),
    ("atlassian", &[Of(Alphanumeric, 24, 24)]),
    ("confluence", &[Of(Alphanumeric, 24, 24)]),
    ("jira", &[Of(Alphanumeric, 24, 24)]),
    ("beamer", &[Of(Equals64, 46, 46)]),
    ("bitbucket", &[Of(Alphanumeric, 32, 32), Of(Equals64, 64, 64)]),
    ("bittrex", &[Of(Alphanumeric, 32, 32)]),
    ("meraki", &[Of(Hex, 40, 40)]),
    ("cloudflare", &[Of(Url64, 40, 40), Of(Hex, 37, 37)]),
    ("codecov", &[Of(Alphanumeric, 32, 32)]),
    ("cohere", &[Of(Alphanumeric, 40, 40)]),
    ("co_api_key", &[Of(Alphanumeric, 40, 40)]),
    ("coinbase", &[Of(Url64, 64, 64)]),
    ("confluent", &[Of(Alphanumeric, 16, 16), Of(Alphanumeric, 64, 64)]),
    ("contentful", &[Of(Equals64, 43, 43)]),
    ("datadog", &[Of(Alphanumeric, 40, 40)]),
    ("dnkey", &[Of(Equals64, 85, 85)]),
    ("discord", &[Of(Hex, 64, 64), Of(Digit, 18, 18), Of(Equals64, 32, 32)]),
    ("droneci", &[Of(Alphanumeric, 32, 32)]),
    ("dropbox", &[Of(Alphanumeric, 15, 15), Of(Equals64, 64, 64)]),
    ("etsy", &[Of(Alphanumeric, 24, 24)]),
    ("facebook", &[Of(Hex, 32, 32)]),
    ("fastly", &[Of(Equals64, 32, 32)]),
    ("finicity", &[Of(Hex, 32, 32), Of(Alphanumeric, 20, 20)]),
    ("finnhub", &[Of(Alphanumeric, 20, 20)]),
    ("flickr", &[Of(Alphanumeric, 32, 32)]),
    ("freshbooks", &[Of(Alphanumeric, 64, 64)]),
    ("gitter", &[Of(Url64, 40, 40)]),
    ("gocardless", &[Of(Equals64, 45, 45)]),
    ("heroku", &[Uuid]),
    ("hubspot", &[Uuid]),
    ("intercom", &[Of(Equals64, 60, 60)]),
    ("jfrog", &[Of(Alphanumeric, 64, 64), Of(Alphanumeric, 73, 73)]),
    ("artifactory", &[Of(Alphanumeric, 64, 64), Of(Alphanumeric, 73, 73)]),
    ("bintray", &[Of(Alphanumeric, 64, 64), Of(Alphanumeric, 73, 73)]),
    ("xray", &[Of(Alphanumeric, 64, 64), Of(Alphanumeric, 73, 73)]),
    ("kraken", &[Of(Any64, 80, 90)]),
    ("kucoin", &[Of(Hex, 24, 24), Uuid]),
    ("launchdarkly", &[Of(Equals64, 40, 40)]),
    ("linear", &[Of(Hex, 32, 32)]),
    ("linkedin", &[Of(Alphanumeric, 14, 14), Of(Alphanumeric, 16, 16)]),
    ("linked_in", &[Of(Alphanumeric, 14, 14), Of(Alphanumeric, 16, 16)]),
    ("linked-in", &[Of(Alphanumeric, 14, 14), Of(Alphanumeric, 16, 16)]),
    ("looker", &[Of(Alphanumeric, 20, 20), Of(Alphanumeric, 24, 24)]),
    ("mailgun", &[Of(Hyphened, 39, 39), Of(Hyphened, 50, 50)]),
    ("mapbox", &[Of(Dotted, 86, 86)]),
    ("mattermost", &[Of(Alphanumeric, 26, 26)]),
    ("messagebird", &[Of(Alphanumeric, 25, 25), Uuid]),
    ("message_bird", &[Of(Alphanumeric, 25, 25), Uuid]),
    ("message-bird", &[Of(Alphanumeric, 25, 25), Uuid]),
    ("netlify", &[Of(Equals64, 40, 46)]),
    ("newrelic", &[Of(Alphanumeric, 64, 64)]),
    ("new_relic", &[Of(Alphanumeric, 64, 64)]),
    ("new-relic", &[Of(Alphanumeric, 64, 64)]),
    ("nytimes", &[Of(Equals64, 32, 32)]),
    ("new-york-times", &[Of(Equals64, 32, 32)]),
    ("newyorktimes", &[Of(Equals64, 32, 32)]),
    ("okta", &[Of(Equals64, 42, 42)]),
    ("plaid", &[Of(Alphanumeric, 24, 24), Of(Alphanumeric, 30, 30), Of(Hyphened, 51, 51), Of(Hyphened, 54, 54), Of(Hyphened, 55, 55)]),
    ("privateai", &[Of(Alphanumeric, 32, 32)]),
    ("private_ai", &[Of(Alphanumeric, 32, 32)]),
    ("private-ai", &[Of(Alphanumeric, 32, 32)]),
    ("rapidapi", &[Of(Url64, 50, 50)]),
    ("sendbird", &[Uuid, Of(Hex, 40, 40)]),
    ("sentry", &[Of(Hex, 64, 64)]),
    ("contribsys__com", &[Of(ColonHex, 17, 17)]),
    ("snyk", &[Uuid]),
    ("sonar", &[Of(Equals64, 40, 40), Of(Equals64, 44, 44)]),
    ("squarespace", &[Uuid]),
    ("sumo", &[Of(Alphanumeric, 14, 14), Of(Alphanumeric, 64, 64)]),
    ("travis", &[Of(Alphanumeric, 22, 22)]),
    ("twitch", &[Of(Alphanumeric, 30, 30)]),
    ("twitter", &[Of(Alphanumeric, 25, 25), Of(Alphanumeric, 45, 45), Of(Alphanumeric, 50, 50), Of(Hyphened, 36, 66), Of(Escaped64, 102, 122)]),
    ("yandex", &[Of(Url64, 40, 40)]),
    ("zendesk", &[Of(Alphanumeric, 40, 40)]),
];

/// Returns the range of a key after a service's name, which ends at `end`.
pub(super) fn key_after(
    text: &str,
    end: usize,
    forms: &[ServiceKeyForm],
    reach: &mut RunExtents<'_>,
) -> Option<(usize, usize)> {
    let at = assignment::value_at(text.as_bytes(), end)?;
    let key_end = forms.iter().find_map(|form| form.end(text, at, reach))?;
    let key = text.get(at..key_end)?;
    (!value::is_phrase(key) && !value::is_placeholder(key)).then_some((at, key_end))
}

impl ServiceKeyForm {
    fn end(self, text: &str, at: usize, reach: &mut RunExtents<'_>) -> Option<usize> {
        const UUID_LENGTH: usize = 36;
        let (alphabet, least, most) = match self {
            Of(alphabet, least, most) => (alphabet, least, most),
            Uuid => (Hyphened, UUID_LENGTH, UUID_LENGTH),
        };
        let end = reach.end(alphabet, at);
        let next = text.as_bytes().get(end);
        let whole =
            (least..=most).contains(&(end - at)) && !next.is_some_and(u8::is_ascii_alphanumeric);
        let key = text.get(at..end).filter(|_| whole)?;
        let drawn = match self {
            Of(Digit, ..) => true,
            Of(..) => is_mixed(key),
            Uuid => is_uuid(key),
        };
        drawn.then_some(end)
    }
}

fn is_uuid(key: &str) -> bool {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let bytes = || key.bytes().enumerate();
    bytes().all(|(at, byte)| (byte == b'-') == DASHES.contains(&at))
        && key.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}
