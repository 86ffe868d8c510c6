//! The reason why a command failed, as its caller shows it.

use fleet::commands::FleetAnswer;

use crate::bytes::ByteStoreError;
use crate::database::DatabaseError;

/// A failed command: the message, which has help.
#[derive(Debug)]
pub(super) struct CommandFailure(pub(super) String);

impl CommandFailure {
    pub(super) fn into_answer(self) -> FleetAnswer {
        FleetAnswer::Failed { message: self.0 }
    }
}

impl From<DatabaseError> for CommandFailure {
    fn from(error: DatabaseError) -> Self {
        Self(error.to_string())
    }
}

impl From<ByteStoreError> for CommandFailure {
    fn from(error: ByteStoreError) -> Self {
        Self(error.to_string())
    }
}
