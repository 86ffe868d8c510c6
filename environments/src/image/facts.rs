//! The facts of an image about the programs in it.

use model::Sha256;

/// The facts of an image that a run needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageFacts {
    /// The digest of the manifest: of the OCI document, or of the archive's `manifest.json`.
    pub manifest_sha256: Sha256,
    /// The directories of the image's `PATH`, in its order.
    pub path: Vec<String>,
    /// The other variables, in the image's order.
    pub env: Vec<(String, String)>,
}
