//! The contract's schema, checked by hand. It reports every violation at once, with the paths and
//! the wording of upstream's JSON Schema validator. `event.schema.json` is the same schema for
//! other programs, and a test compares the two. Nothing here may be looser than that file.

use serde_json::{Map, Value};

use super::model::{CONTRACT, ValidationError};
use super::quote::{quoted, quoted_list};
use super::vocabulary::{
    AuthorizationState, EvidenceKind, Freshness, RedactionStatus, RiskDomain, Route, SubjectType,
    ToolCategory, TrustTier,
};

/// The maximum number of reported errors. The event is refused in any case.
const ERRORS_MAX: usize = 64;

/// The maximum number of references in an event.
const REFERENCES_MAX: usize = 1000;

/// The required form of a value.
enum Form {
    Text,
    /// Text of at least one character.
    Name,
    Word(&'static [&'static str]),
    Exactly(&'static str),
    Number,
    Texts,
    Anything,
    Object(&'static [Field]),
    References,
}

struct Field {
    name: &'static str,
    form: Form,
    required: bool,
}

const fn required(name: &'static str, form: Form) -> Field {
    Field { name, form, required: true }
}

const fn optional(name: &'static str, form: Form) -> Field {
    Field { name, form, required: false }
}

const EVENT: &[Field] = &[
    optional("schema_version", Form::Exactly(CONTRACT)),
    required("tool_name", Form::Name),
    required("tool_category", Form::Word(ToolCategory::TEXTS)),
    required("authorization_state", Form::Word(AuthorizationState::TEXTS)),
    required("evidence_refs", Form::References),
    required("risk_domain", Form::Word(RiskDomain::TEXTS)),
    required("proposed_arguments", Form::Anything),
    required("recommended_route", Form::Word(Route::TEXTS)),
    optional("request_id", Form::Text),
    optional("agent_id", Form::Text),
    optional("user_intent", Form::Text),
    optional("authorization_subject", Form::Object(SUBJECT)),
];

const SUBJECT: &[Field] = &[
    optional("subject_type", Form::Word(SubjectType::TEXTS)),
    optional("subject_ref", Form::Text),
];

/// Only the source is required. Every other field of the contract has a default.
const REFERENCE: &[Field] = &[
    required("source_id", Form::Name),
    optional("kind", Form::Word(EvidenceKind::TEXTS)),
    optional("trust_tier", Form::Word(TrustTier::TEXTS)),
    optional("redaction_status", Form::Word(RedactionStatus::TEXTS)),
    optional("summary", Form::Text),
    optional("retrieved_at", Form::Text),
    optional("freshness", Form::Object(FRESHNESS)),
    optional("citation_url", Form::Text),
    optional("retrieval_url", Form::Text),
    optional("provenance", Form::Name),
    optional("supports", Form::Texts),
    optional("contradicts", Form::Texts),
];

const FRESHNESS: &[Field] = &[
    optional("status", Form::Word(Freshness::TEXTS)),
    optional("checked_at", Form::Text),
    optional("max_age_hours", Form::Number),
    optional("age_hours", Form::Number),
    optional("source", Form::Text),
];

/// One step of a path in an event. Names are ordered as text, items by number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Name(&'static str),
    Item(usize),
}

/// The current path and the errors so far.
#[derive(Default)]
struct Walk {
    path: Vec<Step>,
    found: Vec<(Vec<Step>, String)>,
}

/// Returns every error in the form of an event, sorted by path.
pub(super) fn errors(event: &Value) -> Vec<ValidationError> {
    let mut walk = Walk::default();
    walk.fields(event, EVENT);
    walk.told()
}

/// Returns the errors of a state that is too low for the proposed route. Each state has actions
/// that it must not even propose.
pub(super) fn forbidden(
    category: Option<ToolCategory>,
    route: Option<&Value>,
    state: Option<&Value>,
) -> Vec<ValidationError> {
    let mut walk = Walk::default();
    let accepts = route.is_some_and(|it| it == Route::Accept.as_str());
    let from = |first: AuthorizationState| {
        let words = AuthorizationState::ALL.iter().filter(|it| **it >= first);
        words.map(|it| it.as_str()).collect::<Vec<_>>()
    };
    let states = match category {
        Some(ToolCategory::Write) if accepts => from(AuthorizationState::Validated),
        Some(ToolCategory::PrivateRead) if accepts => from(AuthorizationState::Authenticated),
        Some(ToolCategory::Unknown) => {
            if let Some(route) = route {
                walk.path = vec![Step::Name("recommended_route")];
                walk.word(route, &Route::TEXTS[1..]);
            }
            return walk.told();
        }
        _ => return Vec::new(),
    };
    if let Some(state) = state {
        walk.path = vec![Step::Name("authorization_state")];
        walk.word(state, &states);
    }
    walk.told()
}

/// Merges two lists, in the order of paths.
pub(super) fn merged(
    mut one: Vec<ValidationError>,
    other: Vec<ValidationError>,
) -> Vec<ValidationError> {
    for error in other {
        let behind = one.iter().rposition(|it| it.path == error.path);
        let place = behind.map_or_else(
            || one.iter().position(|it| it.path > error.path).unwrap_or(one.len()),
            |at| at + 1,
        );
        one.insert(place, error);
    }
    one
}

impl Walk {
    fn told(mut self) -> Vec<ValidationError> {
        self.found.sort_by(|one, other| one.0.cmp(&other.0));
        let row = |(path, message): (Vec<Step>, String)| {
            let steps = path.iter().map(|step| match step {
                Step::Name(name) => (*name).to_owned(),
                Step::Item(number) => number.to_string(),
            });
            ValidationError { path: steps.collect::<Vec<_>>().join("."), message }
        };
        self.found.into_iter().map(row).collect()
    }

    fn say(&mut self, message: String) {
        if self.found.len() < ERRORS_MAX {
            self.found.push((self.path.clone(), message));
        }
    }

    fn at(&mut self, step: Step, look: impl FnOnce(&mut Self)) {
        self.path.push(step);
        look(self);
        self.path.pop();
    }

    fn fields(&mut self, value: &Value, fields: &'static [Field]) {
        let Some(object) = value.as_object() else {
            return self.wrong_type(value, "object");
        };
        self.unexpected(object, fields);
        for field in fields.iter().filter(|it| it.required && !object.contains_key(it.name)) {
            self.say(format!("{} is a required property", quoted(&field.name.into())));
        }
        for field in fields {
            if let Some(value) = object.get(field.name) {
                self.at(Step::Name(field.name), |walk| walk.form(value, &field.form));
            }
        }
    }

    fn unexpected(&mut self, object: &Map<String, Value>, fields: &[Field]) {
        let known = |name: &str| fields.iter().any(|field| field.name == name);
        let mut names: Vec<&str> =
            object.keys().map(String::as_str).filter(|name| !known(name)).collect();
        names.sort_unstable();
        let verb = match names.len() {
            0 => return,
            1 => "was",
            _ => "were",
        };
        let names = quoted_list(&names);
        self.say(format!("Additional properties are not allowed ({names} {verb} unexpected)"));
    }

    fn form(&mut self, value: &Value, form: &Form) {
        match form {
            Form::Text => self.text(value),
            Form::Name => {
                self.text(value);
                if value.as_str() == Some("") {
                    self.say("'' should be non-empty".to_owned());
                }
            }
            Form::Word(words) => {
                self.text(value);
                self.word(value, words);
            }
            Form::Exactly(text) => {
                self.text(value);
                if value.as_str() != Some(text) {
                    self.say(format!("{} was expected", quoted(&(*text).into())));
                }
            }
            Form::Number if !value.is_number() => self.wrong_type(value, "number"),
            Form::Anything if !value.is_object() => self.wrong_type(value, "object"),
            Form::Number | Form::Anything => {}
            Form::Texts => self.items(value, Self::text),
            Form::Object(fields) => self.fields(value, fields),
            Form::References => {
                if value.as_array().is_some_and(|it| it.len() > REFERENCES_MAX) {
                    return self.say(format!("{} is too long", quoted(value)));
                }
                self.items(value, Self::reference);
            }
        }
    }

    fn items(&mut self, value: &Value, look: fn(&mut Self, &Value)) {
        let Some(items) = value.as_array() else {
            return self.wrong_type(value, "array");
        };
        for (number, item) in items.iter().enumerate() {
            self.at(Step::Item(number), |walk| look(walk, item));
        }
    }

    /// Checks a reference. A text names a source; as upstream reports it, an empty text is an
    /// object's empty name.
    fn reference(&mut self, value: &Value) {
        match value.as_str() {
            None => self.fields(value, REFERENCE),
            Some("") => self.at(Step::Name("source_id"), |walk| walk.form(value, &Form::Name)),
            Some(_) => {}
        }
    }

    fn text(&mut self, value: &Value) {
        if !value.is_string() {
            self.wrong_type(value, "string");
        }
    }

    fn word(&mut self, value: &Value, words: &[&str]) {
        if !value.as_str().is_some_and(|word| words.contains(&word)) {
            self.say(format!("{} is not one of [{}]", quoted(value), quoted_list(words)));
        }
    }

    fn wrong_type(&mut self, value: &Value, wanted: &str) {
        self.say(format!("{} is not of type '{wanted}'", quoted(value)));
    }
}
