//! Unpacks the layers of an image into one directory. Every entry is placed by handle beneath that
//! directory, never through a link, and every limit is counted while the layer is read.

mod entry_path;
mod headers;
mod layer;
mod limits;
mod made_paths;
mod meter;
mod pax;
mod place;
mod removal;
mod streams;
mod tree;
mod whiteout;

pub(crate) use entry_path::EntryPath;
pub(crate) use headers::{EntryExtensions, LayerEntryKind};
pub(crate) use layer::{LayerPacking, PackedLayer, unpack_layer};
pub use limits::UnpackLimits;
pub(crate) use meter::UnpackMeter;
pub(crate) use tree::UnpackedTree;
