//! Finds text that looks like a secret, by its form. One automaton searches for every prefix and
//! name at once, and each hit is verified in place. A message must never repeat a finding: more
//! people read reports than requests.

mod alphabet;
mod assignment;
mod checksum;
mod cloud;
mod code_host;
mod encoded;
mod format;
mod guess;
mod kind;
mod language_model;
mod messaging;
mod office;
mod payment;
mod search;
mod service;
mod value;
mod violations;

pub use kind::SecretKind;
pub use search::secret_kinds;
pub(crate) use search::{find, find_in_text};
pub(crate) use violations::{report, report_password};

/// Returns true if a word is an option whose next word is a secret, such as `--password`.
pub(crate) fn is_password_option(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(assignment::is_secret_name)
}

/// Returns true if a value is long enough for a secret and not a path, variable or placeholder.
pub(crate) fn is_value(text: &str) -> bool {
    value::is_value(text) && !value::is_placeholder(text)
}
