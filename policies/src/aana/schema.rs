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

const REFERENCES_MAX: usize = 1000;

enum ValueForm {
    Text,
    /// Text of at least one character.
    Name,
    OneOf(&'static [&'static str]),
    Exactly(&'static str),
    Number,
    Texts,
    Anything,
    Object(&'static [EventField]),
    References,
}

struct EventField {
    name: &'static str,
    form: ValueForm,
    required: bool,
}

const fn required(name: &'static str, form: ValueForm) -> EventField {
    EventField { name, form, required: true }
}

const fn optional(name: &'static str, form: ValueForm) -> EventField {
    EventField { name, form, required: false }
}

const EVENT: &[EventField] = &[
    optional("schema_version", ValueForm::Exactly(CONTRACT)),
    required("tool_name", ValueForm::Name),
    required("tool_category", ValueForm::OneOf(ToolCategory::TEXTS)),
    required("authorization_state", ValueForm::OneOf(AuthorizationState::TEXTS)),
    required("evidence_refs", ValueForm::References),
    required("risk_domain", ValueForm::OneOf(RiskDomain::TEXTS)),
    required("proposed_arguments", ValueForm::Anything),
    required("recommended_route", ValueForm::OneOf(Route::TEXTS)),
    optional("request_id", ValueForm::Text),
    optional("agent_id", ValueForm::Text),
    optional("user_intent", ValueForm::Text),
    optional("authorization_subject", ValueForm::Object(SUBJECT)),
];

const SUBJECT: &[EventField] = &[
    optional("subject_type", ValueForm::OneOf(SubjectType::TEXTS)),
    optional("subject_ref", ValueForm::Text),
];

/// Only the source is required. Every other field of the contract has a default.
const REFERENCE: &[EventField] = &[
    required("source_id", ValueForm::Name),
    optional("kind", ValueForm::OneOf(EvidenceKind::TEXTS)),
    optional("trust_tier", ValueForm::OneOf(TrustTier::TEXTS)),
    optional("redaction_status", ValueForm::OneOf(RedactionStatus::TEXTS)),
    optional("summary", ValueForm::Text),
    optional("retrieved_at", ValueForm::Text),
    optional("freshness", ValueForm::Object(FRESHNESS)),
    optional("citation_url", ValueForm::Text),
    optional("retrieval_url", ValueForm::Text),
    optional("provenance", ValueForm::Name),
    optional("supports", ValueForm::Texts),
    optional("contradicts", ValueForm::Texts),
];

const FRESHNESS: &[EventField] = &[
    optional("status", ValueForm::OneOf(Freshness::TEXTS)),
    optional("checked_at", ValueForm::Text),
    optional("max_age_hours", ValueForm::Number),
    optional("age_hours", ValueForm::Number),
    optional("source", ValueForm::Text),
];

/// One step of a path in an event. Names are ordered as text, items by number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PathStep {
    Name(&'static str),
    Item(usize),
}

#[derive(Default)]
struct SchemaWalk {
    path: Vec<PathStep>,
    errors: Vec<(Vec<PathStep>, String)>,
}

/// Returns every error in the form of an event, sorted by path.
pub(super) fn errors(event: &Value) -> Vec<ValidationError> {
    let mut walk = SchemaWalk::default();
    walk.fields(event, EVENT);
    walk.into_errors()
}

/// Returns the errors of a state that must not even propose the route.
pub(super) fn forbidden(
    category: Option<ToolCategory>,
    route: Option<&Value>,
    state: Option<&Value>,
) -> Vec<ValidationError> {
    let mut walk = SchemaWalk::default();
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
                walk.path = vec![PathStep::Name("recommended_route")];
                walk.one_of(route, &Route::TEXTS[1..]);
            }
            return walk.into_errors();
        }
        _ => return Vec::new(),
    };
    if let Some(state) = state {
        walk.path = vec![PathStep::Name("authorization_state")];
        walk.one_of(state, &states);
    }
    walk.into_errors()
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

impl SchemaWalk {
    fn into_errors(mut self) -> Vec<ValidationError> {
        self.errors.sort_by(|one, other| one.0.cmp(&other.0));
        let row = |(path, message): (Vec<PathStep>, String)| {
            let steps = path.iter().map(|step| match step {
                PathStep::Name(name) => (*name).to_owned(),
                PathStep::Item(number) => number.to_string(),
            });
            ValidationError { path: steps.collect::<Vec<_>>().join("."), message }
        };
        self.errors.into_iter().map(row).collect()
    }

    fn report(&mut self, message: String) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push((self.path.clone(), message));
        }
    }

    fn at(&mut self, step: PathStep, look: impl FnOnce(&mut Self)) {
        self.path.push(step);
        look(self);
        self.path.pop();
    }

    fn fields(&mut self, value: &Value, fields: &'static [EventField]) {
        let Some(object) = value.as_object() else {
            return self.wrong_type(value, "object");
        };
        self.unexpected(object, fields);
        for field in fields.iter().filter(|it| it.required && !object.contains_key(it.name)) {
            self.report(format!("{} is a required property", quoted(&field.name.into())));
        }
        for field in fields {
            if let Some(value) = object.get(field.name) {
                self.at(PathStep::Name(field.name), |walk| walk.form(value, &field.form));
            }
        }
    }

    fn unexpected(&mut self, object: &Map<String, Value>, fields: &[EventField]) {
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
        self.report(format!("Additional properties are not allowed ({names} {verb} unexpected)"));
    }

    fn form(&mut self, value: &Value, form: &ValueForm) {
        match form {
            ValueForm::Text => self.text(value),
            ValueForm::Name => {
                self.text(value);
                if value.as_str() == Some("") {
                    self.report("'' should be non-empty".to_owned());
                }
            }
            ValueForm::OneOf(words) => {
                self.text(value);
                self.one_of(value, words);
            }
            ValueForm::Exactly(text) => {
                self.text(value);
                if value.as_str() != Some(text) {
                    self.report(format!("{} was expected", quoted(&(*text).into())));
                }
            }
            ValueForm::Number if !value.is_number() => self.wrong_type(value, "number"),
            ValueForm::Anything if !value.is_object() => self.wrong_type(value, "object"),
            ValueForm::Number | ValueForm::Anything => {}
            ValueForm::Texts => self.items(value, Self::text),
            ValueForm::Object(fields) => self.fields(value, fields),
            ValueForm::References => {
                if value.as_array().is_some_and(|it| it.len() > REFERENCES_MAX) {
                    return self.report(format!("{} is too long", quoted(value)));
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
            self.at(PathStep::Item(number), |walk| look(walk, item));
        }
    }

    /// Checks a reference. A text names a source; as upstream reports it, an empty text is an
    /// object's empty name.
    fn reference(&mut self, value: &Value) {
        match value.as_str() {
            None => self.fields(value, REFERENCE),
            Some("") => {
                self.at(PathStep::Name("source_id"), |walk| walk.form(value, &ValueForm::Name))
            }
            Some(_) => {}
        }
    }

    fn text(&mut self, value: &Value) {
        if !value.is_string() {
            self.wrong_type(value, "string");
        }
    }

    fn one_of(&mut self, value: &Value, words: &[&str]) {
        if !value.as_str().is_some_and(|word| words.contains(&word)) {
            self.report(format!("{} is not one of [{}]", quoted(value), quoted_list(words)));
        }
    }

    fn wrong_type(&mut self, value: &Value, wanted: &str) {
        self.report(format!("{} is not of type '{wanted}'", quoted(value)));
    }
}
