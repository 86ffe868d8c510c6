//! A folder as one blob: a tar of one form only. The entries are in the order of their names,
//! without owners and times, so that equal folders have equal archives. The reader accepts this
//! form only, because programs read other forms in different ways.

mod archive;
mod header;
mod plan;
mod stream;
#[cfg(test)]
mod tests;

pub(super) use archive::unpack_folder;
pub(super) use plan::FolderTarPlan;
pub(super) use stream::FolderTarStream;
