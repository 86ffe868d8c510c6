//! The signed record of an environment's build: an in-toto statement in a DSSE envelope. Its
//! subject is the environment's digest; its predicate leads to the lock file. The envelope names
//! its own key, so that anyone can verify it. It must never decide whether that key is trusted.

mod error;
mod form;
mod key;
mod sign;
#[cfg(test)]
mod tests;
mod verify;

pub use error::BuildRecordError;
pub use form::{BUILD_PREDICATE_TYPE, BuildStatement, BuildTotals, StatedInstaller, StatedSource};
pub use key::BuilderKey;
pub use sign::sign_build;
pub use verify::{BuildRecord, verify_build_record};
