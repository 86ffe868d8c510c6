//! A fleet list with the signature of an operator.

use std::fmt;
use std::path::{Path, PathBuf};

use model::UtcTime;

use super::model::FleetList;
use super::signature::{FleetSignatureError, signer_of};
use crate::approval::{AllowedSigners, FLEET_NAMESPACE};
use crate::problem::PolicyError;

/// A fleet list whose signature counts. Only [`SignedFleetList::read`] makes one.
#[derive(Clone, Debug)]
pub struct SignedFleetList {
    list: FleetList,
    signer: String,
}

/// The reason why a fleet list cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FleetListError {
    /// The text has problems.
    Form(PolicyError),
    /// Its signature does not count.
    Signature {
        /// The name of the list in messages.
        origin: String,
        /// The reason.
        problem: FleetSignatureError,
    },
}

impl fmt::Display for FleetListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(error) => error.fmt(f),
            Self::Signature { origin, problem } => write!(f, "{origin}: {problem}"),
        }
    }
}

impl std::error::Error for FleetListError {}

impl SignedFleetList {
    /// Returns the path of the signature of a list: beside it, with the suffix `.sig`.
    #[must_use]
    pub fn signature_path(list: &Path) -> PathBuf {
        let mut path = list.as_os_str().to_owned();
        path.push(".sig");
        path.into()
    }

    /// Returns the problem and the help for a list without the file of its signature. The message
    /// about it begins with the path of that file.
    #[must_use]
    pub fn missing_signature(list: &Path) -> String {
        format!(
            "does not exist; help: sign the list with `ssh-keygen -Y sign -f KEY -n \
             {FLEET_NAMESPACE} {}` (docs/fleet.md)",
            list.display()
        )
    }

    /// Reads a fleet list and checks that its signature counts now. Messages call it `origin`.
    ///
    /// # Errors
    /// [`FleetListError`]: the signature first, because the text of another author says nothing.
    pub fn read(
        bytes: &[u8],
        signature: &[u8],
        origin: &str,
        signers: &AllowedSigners,
        now: UtcTime,
    ) -> Result<Self, FleetListError> {
        let signer = signer_of(bytes, signature, signers, now)
            .map_err(|problem| FleetListError::Signature { origin: origin.to_owned(), problem })?;
        let list = FleetList::parse(bytes, origin).map_err(FleetListError::Form)?;
        Ok(Self { list, signer })
    }

    /// Returns the list.
    #[must_use]
    pub fn list(&self) -> &FleetList {
        &self.list
    }

    /// Returns the names and the key of the operator who signed it, for messages.
    #[must_use]
    pub fn signer(&self) -> &str {
        &self.signer
    }
}
