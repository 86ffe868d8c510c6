//! The store of environments: each one in a directory that its digest names. It is added and
//! removed by one rename, and it never changes in between.

mod add;
mod build_file;
mod build_record;
mod check;
mod directory;
mod draft;
mod environment;
mod error;
mod handle;
mod list;
mod lock;
mod modes;
mod new_environment;
mod recheck;
mod removal;
mod shared_files;
mod sweep;
#[cfg(test)]
mod tests;

pub use build_file::{BuildFacts, SourceFacts};
pub use check::OpenEnvironment;
pub use directory::EnvironmentStore;
pub use draft::EnvironmentDraft;
pub use environment::Environment;
pub use error::StoreError;
pub use list::{DamagedEnvironment, ListedEnvironments};
pub use sweep::SweptFiles;
