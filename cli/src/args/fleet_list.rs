//! The list of a fleet, fleet.yaml, with the signature beside it.

use std::io::ErrorKind;
use std::path::Path;

use policies::{
    AllowedSigners, FLEET_LIST_BYTES_MAX, FleetList, SIGNATURE_BYTES_MAX, SignedFleetList,
};

use super::files::read_document;
use crate::clock;
use crate::failure::Failure;

/// Reads a fleet list without its signature.
pub(crate) fn unsigned_list(file: &Path) -> Result<FleetList, Failure> {
    let bytes = read_document(file, FLEET_LIST_BYTES_MAX)?;
    let list = FleetList::parse(&bytes, &file.display().to_string());
    list.map_err(|error| Failure::Message(error.to_string()))
}

/// Reads a fleet list with the signature in `FILE.sig`, which must count now.
pub(crate) fn signed_list(
    file: &Path,
    signers: &AllowedSigners,
) -> Result<SignedFleetList, Failure> {
    let bytes = read_document(file, FLEET_LIST_BYTES_MAX)?;
    let signature = read_document(&SignedFleetList::signature_path(file), SIGNATURE_BYTES_MAX)
        .map_err(|failure| unread_signature(file, failure))?;
    let origin = file.display().to_string();
    SignedFleetList::read(&bytes, &signature, &origin, signers, clock::now())
        .map_err(|error| Failure::Message(error.to_string()))
}

fn unread_signature(list: &Path, failure: Failure) -> Failure {
    match failure {
        Failure::Io(path, error) if error.kind() == ErrorKind::NotFound => {
            let problem = SignedFleetList::missing_signature(list);
            Failure::Message(format!("{}: {problem}", path.display()))
        }
        other => other,
    }
}
