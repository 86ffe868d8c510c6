//! One file of a manifest.

use model::Sha256;

model::closed_set! {
    /// The kind of a file.
    #[derive(PartialOrd, Ord)]
    pub(in crate::bytes) enum ManifestFileKind {
        /// A request or standing approval.
        Document = "document",
        /// A signature file, or the AIS bundle.
        Signature = "signature",
        /// An input file, by its name in the document.
        Input = "input",
        /// An input folder, by its name in the document, which ends with `/`. Its blob is a tar.
        Folder = "folder",
        /// A file of a result, by its path in the result's directory.
        Result = "result",
        /// A file of a result that is too large. It stayed on its host, and has no blob.
        LeftOut = "left-out",
    }
}

model::serialize_closed_set!(ManifestFileKind);
model::deserialize_closed_set!(ManifestFileKind);

model::closed_set! {
    /// The mode of a file. The umask of the reader removes the access of others.
    pub(in crate::bytes) enum ManifestMode {
        /// A file without execute bits.
        Plain = "0644",
        /// A file with any execute bit.
        Program = "0755",
    }
}

model::serialize_closed_set!(ManifestMode);
model::deserialize_closed_set!(ManifestMode);

/// One file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::bytes) struct ManifestFile {
    pub(in crate::bytes) kind: ManifestFileKind,
    pub(in crate::bytes) name: String,
    pub(in crate::bytes) sha256: Sha256,
    /// The size of the blob.
    pub(in crate::bytes) bytes: u64,
    pub(in crate::bytes) mode: ManifestMode,
}

impl ManifestMode {
    /// Returns the mode of a file with or without execute bits.
    pub(in crate::bytes) fn of(is_executable: bool) -> Self {
        if is_executable { Self::Program } else { Self::Plain }
    }
}
