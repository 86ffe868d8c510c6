//! The body and headers of a POST for an event. Texts of requests are escaped by their reader; here
//! the forms of the receivers are escaped.

use model::{Sha256, UtcTime, digest_words};
use serde::Serialize;
use serde_json::json;

use super::model::{NotifyForm, SpoolEvent, SpoolEventKind};

/// The name of the number of waiting events, among the kinds of events.
const MORE_WAIT: &str = "more_wait";
const PLAIN: &str = "text/plain; charset=utf-8";

pub(super) struct EventMessage {
    pub(super) content_type: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

/// The json form. Absent facts are left out.
#[derive(Serialize)]
struct EventLine<'a> {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk_class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<[&'static str; 6]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purpose: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    at_utc: String,
    host: &'a str,
}

impl EventMessage {
    /// `host` must consist of letters, digits, `.`, `_` and `-`.
    pub(super) fn of(event: &SpoolEvent, form: NotifyForm, host: &str) -> Self {
        match form {
            NotifyForm::Json => Self::json(json_line(event, host)),
            NotifyForm::Slack => Self::json(slack(event, host)),
            NotifyForm::Ntfy => Self {
                content_type: PLAIN,
                headers: ntfy_headers(event, host),
                body: facts(event).join("\n"),
            },
        }
    }

    /// Returns the message that so many events wait for their posts. `host` as for an event.
    pub(super) fn more_wait(count: usize, at: UtcTime, form: NotifyForm, host: &str) -> Self {
        let sentence = format!("{count} more wait");
        match form {
            NotifyForm::Json => {
                let at = at.to_string();
                let line =
                    json!({ "event": MORE_WAIT, "count": count, "at_utc": at, "host": host });
                Self::json(format!("{line}\n"))
            }
            NotifyForm::Slack => Self::json(slack_text(&format!("{host}: {sentence}"))),
            NotifyForm::Ntfy => Self {
                content_type: PLAIN,
                headers: vec![
                    ("Title", format!("{host}: {sentence}")),
                    ("Tags", MORE_WAIT.to_owned()),
                    ("Priority", "4".to_owned()),
                ],
                body: sentence,
            },
        }
    }

    fn json(body: String) -> Self {
        Self { content_type: "application/json", headers: Vec::new(), body }
    }
}

fn json_line(event: &SpoolEvent, host: &str) -> String {
    let facts = &event.facts;
    let line = EventLine {
        event: event.kind.as_str(),
        request_id: event.request_id.as_deref(),
        outcome: facts.outcome.as_deref(),
        risk_class: facts.risk_class.map(|risk| risk.as_str()),
        sha256: facts.sha256.map(|sha256| sha256.to_string()),
        words: words(event),
        purpose: facts.text.as_ref().map(|text| text.purpose.as_str()),
        command: facts.text.as_ref().map(|text| text.command.as_str()),
        at_utc: event.at.to_string(),
        host,
    };
    // Texts can always be written.
    let mut body = serde_json::to_string(&line).unwrap_or_default();
    body.push('\n');
    body
}

/// Returns the words to compare on another device, for an event that asks for an approval.
fn words(event: &SpoolEvent) -> Option<[&'static str; 6]> {
    let digest: &Sha256 = event.facts.sha256.as_ref()?;
    (event.kind != SpoolEventKind::Ended).then(|| digest_words(digest))
}

/// Returns the facts for people, a line each.
fn facts(event: &SpoolEvent) -> Vec<String> {
    let facts = &event.facts;
    let text = facts.text.as_ref();
    let rows = [
        ("request", event.request_id.clone()),
        ("outcome", facts.outcome.clone()),
        ("risk", facts.risk_class.map(|risk| risk.to_string())),
        ("purpose", text.map(|text| text.purpose.clone())),
        ("command", text.map(|text| text.command.clone())),
        ("words", words(event).map(|words| words.join(" "))),
        ("sha256", facts.sha256.map(|sha256| sha256.to_string())),
        ("time", Some(event.at.to_string())),
    ];
    rows.into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", value?))).collect()
}

/// Headers are ASCII: the title, tags and priority of ntfy have words of this program only.
fn ntfy_headers(event: &SpoolEvent, host: &str) -> Vec<(&'static str, String)> {
    let priority: u8 = match event.kind {
        SpoolEventKind::AdmissionStopped => 5,
        SpoolEventKind::Draft | SpoolEventKind::Held => 4,
        SpoolEventKind::Ended => 3,
    };
    let outcome = event.facts.outcome.as_ref().map(|outcome| format!(",{outcome}"));
    vec![
        ("Title", format!("{host}: {}", event.kind.meaning())),
        ("Tags", format!("{}{}", event.kind.as_str(), outcome.unwrap_or_default())),
        ("Priority", priority.to_string()),
    ]
}

fn slack(event: &SpoolEvent, host: &str) -> String {
    slack_text(&format!("{host}: {}\n{}", event.kind.meaning(), facts(event).join("\n")))
}

/// Slack reads `&`, `<` and `>` as markup. Other markup and previews of links are switched off.
fn slack_text(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    json!({ "text": text, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false })
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::inspect::notify::model::{EventFacts, EventText};

    fn draft(text: Option<EventText>) -> SpoolEvent {
        let sha256 = Some(Sha256::of(b"x"));
        SpoolEvent {
            kind: SpoolEventKind::Draft,
            key: "the key".into(),
            request_id: Some("TR-20260209-160501Z-a".into()),
            name: "the name".into(),
            facts: EventFacts { sha256, text, ..EventFacts::default() },
            at: "2026-02-09T16:05:01Z".parse().unwrap(),
        }
    }

    #[test]
    fn the_json_form_is_one_line_of_facts() {
        let body = EventMessage::of(&draft(None), NotifyForm::Json, "desk").body;
        let words = serde_json::to_string(&digest_words(&Sha256::of(b"x"))).unwrap();
        let sha256 = Sha256::of(b"x");
        assert_eq!(
            body,
            format!(
                "{{\"event\":\"draft\",\"request_id\":\"TR-20260209-160501Z-a\",\"sha256\":\
                 \"{sha256}\",\"words\":{words},\"at_utc\":\"2026-02-09T16:05:01Z\",\"host\":\
                 \"desk\"}}\n"
            )
        );
    }

    #[test]
    fn the_number_of_waiting_events_has_each_form() {
        let of = |form| EventMessage::more_wait(37, UtcTime::from_unix(0), form, "desk");
        let line = json!({
            "event": "more_wait", "count": 37, "at_utc": "1970-01-01T00:00:00Z", "host": "desk",
        });
        assert_eq!(of(NotifyForm::Json).body, format!("{line}\n"));
        assert!(of(NotifyForm::Slack).body.contains("\"text\":\"desk: 37 more wait\""));
        let ntfy = of(NotifyForm::Ntfy);
        assert_eq!(ntfy.body, "37 more wait");
        assert_eq!(ntfy.headers[0], ("Title", "desk: 37 more wait".to_owned()));
    }

    #[test]
    fn markup_of_slack_is_escaped() {
        let purpose = "<!channel> <https://x.example|click> & *b*".to_owned();
        let text = EventText { purpose, command: "a > b".into() };
        let body = EventMessage::of(&draft(Some(text)), NotifyForm::Slack, "desk").body;
        assert!(!body.contains(['<', '>']) && body.contains("&lt;!channel&gt;"), "{body}");
        assert!(body.contains("\"mrkdwn\":false"), "{body}");
    }

    #[test]
    fn ntfy_has_its_headers_and_a_plain_body() {
        let message = EventMessage::of(&draft(None), NotifyForm::Ntfy, "desk");
        let title = "desk: a draft waits for approval".to_owned();
        assert_eq!(message.headers[0], ("Title", title));
        assert_eq!(
            message.headers[1..],
            [("Tags", "draft".to_owned()), ("Priority", "4".to_owned())]
        );
        assert!(message.body.starts_with("request: TR-20260209-160501Z-a\nwords: "));
    }
}
