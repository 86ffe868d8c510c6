//! Unpacks one layer, and returns the digest of its unpacked bytes.

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;
use model::Sha256;

use super::headers::EntryExtensions;
use super::meter::UnpackMeter;
use super::place::LayerWriter;
use super::streams::{PackedReader, UnpackedReader};
use super::tree::UnpackedTree;
use crate::error::UnpackError;

const BUFFER_BYTES: usize = 128 * 1024;

/// The packing of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LayerPacking {
    Plain,
    Gzip,
}

/// One layer before it is unpacked.
pub(crate) struct PackedLayer<R> {
    /// Its name in messages.
    pub(crate) label: String,
    pub(crate) source: R,
    pub(crate) packing: LayerPacking,
    /// The digest that the configuration declares for the unpacked bytes.
    pub(crate) diff_id: Sha256,
}

/// Unpacks a layer over the ones before it. Calls `progress` with the unpacked bytes of all layers
/// so far. Fails if the bytes are not those that the configuration declares.
pub(crate) fn unpack_layer<R: Read>(
    layer: PackedLayer<R>,
    tree: &mut UnpackedTree<'_>,
    meter: &UnpackMeter,
    progress: &mut dyn FnMut(u64),
) -> Result<(), UnpackError> {
    let packed = PackedReader::new(layer.source, meter);
    let found = match layer.packing {
        LayerPacking::Plain => unpack_stream(&layer.label, packed, tree, meter, progress),
        LayerPacking::Gzip => {
            // Some programs write a layer as several gzip members.
            let stream = MultiGzDecoder::new(packed);
            unpack_stream(&layer.label, stream, tree, meter, progress)
        }
    }?;
    match found == layer.diff_id {
        true => Ok(()),
        false => {
            let object = format!("{}, unpacked", layer.label);
            Err(UnpackError::Digest { object, declared: layer.diff_id, found })
        }
    }
}

fn unpack_stream<R: Read>(
    label: &str,
    stream: R,
    tree: &mut UnpackedTree<'_>,
    meter: &UnpackMeter,
    progress: &mut dyn FnMut(u64),
) -> Result<Sha256, UnpackError> {
    let unpacked = UnpackedReader::new(stream, meter);
    let mut archive = tar::Archive::new(BufReader::with_capacity(BUFFER_BYTES, unpacked));
    let mut writer = LayerWriter::new(label, tree, meter, progress);
    place_entries(label, &mut archive, &mut writer)?;
    // The digest covers the bytes behind the end of the archive, too.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(|error| UnpackError::stream(label, error))?;
    Ok(rest.into_inner().finish())
}

/// Reads raw entries: the reader of `tar` itself would hold extended headers of any length.
fn place_entries<R: Read>(
    label: &str,
    archive: &mut tar::Archive<R>,
    writer: &mut LayerWriter<'_, '_>,
) -> Result<(), UnpackError> {
    let unreadable = |error| UnpackError::stream(label, error);
    let mut extensions = EntryExtensions::default();
    for raw in archive.entries().map_err(unreadable)?.raw(true) {
        let mut raw = raw.map_err(unreadable)?;
        writer.count_entry()?;
        if let Some(entry) = extensions.join(label, &mut raw)? {
            writer.place(&entry, &mut raw)?;
        }
    }
    match extensions.is_empty() {
        true => Ok(()),
        false => Err(UnpackError::damaged(label, "the last extended header has no entry")),
    }
}
