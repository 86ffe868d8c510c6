//! The errors of the record of a build. Records of runs state them, so no message may hold a text
//! of the file.

use std::fmt;

/// The reason why the record of a build does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildRecordError {
    /// It exceeds the size limit.
    TooLarge,
    /// Not the JSON of such a record: a field is missing, unknown, duplicated or of another type.
    Form,
    /// A field has a value that no such record has.
    Field(&'static str),
    /// It names another key than the one in its statement.
    OtherKey,
    /// Its subject is another environment.
    OtherEnvironment,
    /// The signature does not verify over the statement.
    Signature,
}

impl fmt::Display for BuildRecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("it is too large"),
            Self::Form => f.write_str("it is not the JSON of a build record"),
            Self::Field(name) => write!(f, "`{name}` has an unexpected value"),
            Self::OtherKey => f.write_str("it names another key than its statement"),
            Self::OtherEnvironment => f.write_str("it belongs to another environment"),
            Self::Signature => f.write_str("the signature does not verify"),
        }
    }
}

impl std::error::Error for BuildRecordError {}
