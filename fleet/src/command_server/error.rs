//! The reason why a command failed, as its caller shows it.

use fleet::commands::FleetAnswer;

use crate::bytes::ByteStoreError;
use crate::database::DatabaseError;

/// A failed command. The message has help.
#[derive(Debug)]
pub(super) struct CommandFailure {
    message: String,
    is_momentary: bool,
}

impl CommandFailure {
    /// A failure that another try does not avoid.
    pub(super) fn lasting(message: String) -> Self {
        Self { message, is_momentary: false }
    }

    pub(super) fn into_answer(self) -> FleetAnswer {
        FleetAnswer::Failed { message: self.message, is_momentary: self.is_momentary }
    }
}

impl From<DatabaseError> for CommandFailure {
    fn from(error: DatabaseError) -> Self {
        Self { message: error.to_string(), is_momentary: error.is_momentary() }
    }
}

impl From<ByteStoreError> for CommandFailure {
    fn from(error: ByteStoreError) -> Self {
        Self { message: error.to_string(), is_momentary: error.is_momentary() }
    }
}
