//! The file `environment.json`: the facts of an environment that matter to a run. The digest of
//! the environment covers it, so it must never hold a time, a host's path or a builder, and each
//! content has exactly one text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The limit of `environment.json`, and of `build.json`.
pub(crate) const CONTENT_BYTES_MAX: usize = 64 * 1024;

const FORMAT: &str = "toolexec-environment 1";
const NAME_BYTES_MAX: usize = 255;
const PATH_BYTES_MAX: usize = 4095;
/// The most variables, and the most bytes of their names and values together. The launcher takes 256
/// variables, and the command of a request has most of a message to it.
const VARIABLES_MAX: usize = 96;
const VARIABLE_BYTES_MAX: usize = 8192;
/// The longest value of one variable, which is the launcher's limit.
const VALUE_BYTES_MAX: usize = 4096;

model::closed_set! {
    /// The place of an environment's tree in the sandbox.
    pub enum EnvironmentKind {
        Libraries = "libraries": "The tree is shown at `/cache/env`, beside the runtime of the policy.",
        Root = "root": "The tree replaces the system directories of the host.",
    }
}

model::serialize_closed_set!(EnvironmentKind);
model::deserialize_closed_set!(EnvironmentKind);

/// The facts of an environment that matter to a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnvironmentContent {
    /// The place of the tree in the sandbox.
    pub kind: EnvironmentKind,
    /// The first words of commands that the environment offers, and the path of each program
    /// inside the tree.
    pub programs: BTreeMap<String, String>,
    /// The environment variables of the tool.
    pub variables: BTreeMap<String, String>,
    /// The runtimes of the policy that the libraries need, and the version of each.
    pub needs: BTreeMap<String, String>,
}

/// The form of `environment.json`. Its keys have this order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentFile<'a> {
    format: Cow<'a, str>,
    kind: EnvironmentKind,
    programs: Cow<'a, BTreeMap<String, String>>,
    variables: Cow<'a, BTreeMap<String, String>>,
    needs: Cow<'a, BTreeMap<String, String>>,
}

impl EnvironmentContent {
    /// The limit of `environment.json`, in bytes.
    pub const BYTES_MAX: usize = CONTENT_BYTES_MAX;

    /// Returns the text of `environment.json`: one line.
    #[must_use]
    pub fn render(&self) -> String {
        let file = ContentFile {
            format: Cow::Borrowed(FORMAT),
            kind: self.kind,
            programs: Cow::Borrowed(&self.programs),
            variables: Cow::Borrowed(&self.variables),
            needs: Cow::Borrowed(&self.needs),
        };
        // Texts, and maps with texts as keys, are always valid JSON.
        let mut text = serde_json::to_string(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads `environment.json`. Refuses every text that [`Self::render`] does not write.
    ///
    /// # Errors
    /// The text is too large, not JSON of this form, not the one text of its content, or has a
    /// name, a path or a value that an environment must not have.
    pub fn parse(text: &[u8]) -> Result<Self, NotAnEnvironment> {
        if text.len() > CONTENT_BYTES_MAX {
            return Err(NotAnEnvironment::TooLarge);
        }
        let read: Result<ContentFile<'_>, _> = serde_json::from_slice(text);
        let file = read.map_err(|error| NotAnEnvironment::Json(error.to_string()))?;
        if file.format != FORMAT {
            return Err(NotAnEnvironment::Format);
        }
        let content = Self {
            kind: file.kind,
            programs: file.programs.into_owned(),
            variables: file.variables.into_owned(),
            needs: file.needs.into_owned(),
        };
        content.check_entries()?;
        match content.render().as_bytes() == text {
            true => Ok(content),
            false => Err(NotAnEnvironment::OtherText),
        }
    }

    fn check_entries(&self) -> Result<(), NotAnEnvironment> {
        let path = |name: &str, path: &str| is_word(name) && is_relative(path);
        let variable = |name: &str, value: &str| is_variable(name) && is_plain(value);
        let need = |name: &str, version: &str| is_word(name) && is_word(version);
        check_each("programs", &self.programs, path)?;
        check_each("variables", &self.variables, variable)?;
        check_sizes(&self.variables)?;
        check_each("needs", &self.needs, need)
    }
}

fn check_each(
    key: &'static str,
    entries: &BTreeMap<String, String>,
    allowed: impl Fn(&str, &str) -> bool,
) -> Result<(), NotAnEnvironment> {
    match entries.iter().find(|(name, value)| !allowed(name, value)) {
        Some((name, _)) => Err(NotAnEnvironment::Entry { key, name: name.clone() }),
        None => Ok(()),
    }
}

/// Checks that a run can get all variables.
fn check_sizes(variables: &BTreeMap<String, String>) -> Result<(), NotAnEnvironment> {
    if let Some((name, _)) = variables.iter().find(|(_, value)| value.len() > VALUE_BYTES_MAX) {
        return Err(NotAnEnvironment::LongValue { name: name.clone() });
    }
    let count = variables.len();
    let bytes = variables.iter().map(|(name, value)| name.len() + value.len()).sum();
    match count > VARIABLES_MAX || bytes > VARIABLE_BYTES_MAX {
        true => Err(NotAnEnvironment::ManyVariables { count, bytes }),
        false => Ok(()),
    }
}

fn is_plain(text: &str) -> bool {
    !model::has_deceptive(text)
}

/// Returns whether the text can be a word of a command: not empty, without blanks or `/`.
fn is_word(text: &str) -> bool {
    let separates = |c: char| c.is_whitespace() || c == '/';
    let sized = (1..=NAME_BYTES_MAX).contains(&text.len());
    sized && is_plain(text) && !text.contains(separates) && text != "." && text != ".."
}

fn is_variable(name: &str) -> bool {
    let digit_first = name.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    is_word(name) && !digit_first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns whether the path is inside the tree, as it is written: relative and without `..`.
fn is_relative(path: &str) -> bool {
    let named = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.len() <= PATH_BYTES_MAX && is_plain(path) && path.split('/').all(named)
}

/// The error for a text that is not the `environment.json` or `build.json` of an environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAnEnvironment {
    /// Larger than the limit.
    TooLarge,
    /// Not JSON of this form. Holds the message of the parser.
    Json(String),
    /// Another format, or a later version of it.
    Format,
    /// A name or a value that an environment must not have.
    Entry {
        /// The key of the file.
        key: &'static str,
        /// The refused name, or the value if the key has only one.
        name: String,
    },
    /// The value of a variable is longer than a run can get.
    LongValue {
        /// The name of the variable.
        name: String,
    },
    /// A run cannot get so many variables, or so many bytes of them.
    ManyVariables {
        /// The number of the variables.
        count: usize,
        /// The bytes of their names and values.
        bytes: usize,
    },
    /// The file has another text than its content requires.
    OtherText,
}

impl fmt::Display for NotAnEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(
                f,
                "larger than {CONTENT_BYTES_MAX} bytes; help: offer fewer programs and variables"
            ),
            Self::Json(problem) => {
                write!(f, "not of the required form: {problem}; help: build the environment again")
            }
            Self::Format => {
                f.write_str("has an unknown format; help: use a version of TOOL-EXEC that has it")
            }
            Self::Entry { key, name } => write!(
                f,
                "{key}: {}: has a character or a form that is not allowed; help: rename it in the \
                 source, then build again",
                model::quote(name)
            ),
            Self::LongValue { name } => write!(
                f,
                "variables: the value of {} is longer than {VALUE_BYTES_MAX} bytes; help: shorten \
                 it in the source, then build again",
                model::quote(name)
            ),
            Self::ManyVariables { count, bytes } => write!(
                f,
                "variables: {count} of {bytes} bytes are more than {VARIABLES_MAX} or than \
                 {VARIABLE_BYTES_MAX} bytes; help: remove some in the source, then build again"
            ),
            Self::OtherText => {
                f.write_str("not written by TOOL-EXEC; help: build the environment again")
            }
        }
    }
}

impl std::error::Error for NotAnEnvironment {}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn libraries() -> EnvironmentContent {
        EnvironmentContent {
            kind: EnvironmentKind::Libraries,
            programs: map(&[("pytest", "bin/pytest")]),
            variables: map(&[("PYTHONPATH", "/cache/env")]),
            needs: map(&[("python", "3.11")]),
        }
    }

    #[test]
    fn a_content_has_one_text() {
        let text = "{\"format\":\"toolexec-environment 1\",\"kind\":\"libraries\",\
                    \"programs\":{\"pytest\":\"bin/pytest\"},\"variables\":{\"PYTHONPATH\":\
                    \"/cache/env\"},\"needs\":{\"python\":\"3.11\"}}\n";
        assert_eq!(libraries().render(), text);
        assert_eq!(EnvironmentContent::parse(text.as_bytes()), Ok(libraries()));
        let twice = text.replace("\"needs\":{", "\"needs\":{\"python\":\"3.9\",");
        for other in [text.trim_end().to_owned(), format!(" {text}"), twice] {
            let read = EnvironmentContent::parse(other.as_bytes());
            assert_eq!(read, Err(NotAnEnvironment::OtherText), "{other}");
        }
    }

    #[test]
    fn other_keys_kinds_formats_and_sizes_are_refused() {
        let text = libraries().render();
        let later = text.replace("environment 1", "environment 2");
        assert_eq!(EnvironmentContent::parse(later.as_bytes()), Err(NotAnEnvironment::Format));
        let wrong = [
            text.replace("\"needs\"", "\"note\":1,\"needs\""),
            text.replace("libraries", "image"),
            text.replace("\"3.11\"", "3.11"),
            String::new(),
        ];
        for text in wrong {
            let read = EnvironmentContent::parse(text.as_bytes());
            assert!(matches!(read, Err(NotAnEnvironment::Json(_))), "{text}: {read:?}");
        }
        let mut large = libraries();
        large.variables.insert("A".to_owned(), "a".repeat(CONTENT_BYTES_MAX));
        let read = EnvironmentContent::parse(large.render().as_bytes());
        assert_eq!(read, Err(NotAnEnvironment::TooLarge));
    }

    #[test]
    fn names_paths_and_values_are_checked() {
        let programs = [("", "a"), ("a b", "a"), ("a/b", "a"), ("a", "/a"), ("a", "b/../../c")];
        let others = [("a", "./b"), ("a", "b//c"), ("a", ""), ("a", "b\nc"), ("a\u{202e}", "a")];
        for (name, path) in programs.into_iter().chain(others) {
            let content = EnvironmentContent { programs: map(&[(name, path)]), ..libraries() };
            let read = EnvironmentContent::parse(content.render().as_bytes());
            let wanted = NotAnEnvironment::Entry { key: "programs", name: name.to_owned() };
            assert_eq!(read, Err(wanted));
        }
        for (name, value) in [("", "a"), ("1A", "a"), ("A-B", "a"), ("A=B", "a"), ("A", "a\nb")] {
            let content = EnvironmentContent { variables: map(&[(name, value)]), ..libraries() };
            let read = EnvironmentContent::parse(content.render().as_bytes());
            let wanted = NotAnEnvironment::Entry { key: "variables", name: name.to_owned() };
            assert_eq!(read, Err(wanted));
        }
    }

    #[test]
    fn variables_that_a_run_cannot_get_are_refused() {
        let read = |pairs: &[(&str, &str)]| {
            let content = EnvironmentContent { variables: map(pairs), ..libraries() };
            EnvironmentContent::parse(content.render().as_bytes()).map(|_| ())
        };
        let value = "a".repeat(VALUE_BYTES_MAX);
        assert_eq!(read(&[("A", &value)]), Ok(()));
        let long = read(&[("A", &format!("{value}a"))]);
        assert_eq!(long, Err(NotAnEnvironment::LongValue { name: "A".to_owned() }));
        let large = read(&[("A", &value), ("B", &value)]);
        assert_eq!(large, Err(NotAnEnvironment::ManyVariables { count: 2, bytes: 8194 }));
        let names: Vec<String> = (0..=VARIABLES_MAX).map(|it| format!("V{it}")).collect();
        let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        assert_eq!(read(&pairs[1..]), Ok(()));
        let many = read(&pairs);
        assert!(matches!(many, Err(NotAnEnvironment::ManyVariables { count: 97, .. })), "{many:?}");
    }
}
