//! The ids by which git names contents. They name a version of a file, and must never be used as a
//! proof of its content.

use sha1::{Digest as _, Sha1};

use crate::file::PatchedFile;

/// The id of a file that does not exist.
const ABSENT: &str = "0000000000000000000000000000000000000000";

/// Returns the full id of a version in hexadecimal digits.
pub(crate) fn blob_id(file: Option<PatchedFile<'_>>) -> String {
    let Some(PatchedFile { bytes, .. }) = file else { return ABSENT.to_owned() };
    let mut digest = Sha1::new();
    digest.update(format!("blob {}\0", bytes.len()));
    digest.update(bytes);
    let id: [u8; 20] = digest.finalize().into();
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::PatchedFileKind;

    #[test]
    fn ids_are_those_of_git() {
        let id = |bytes| blob_id(Some(PatchedFile { kind: PatchedFileKind::Regular, bytes }));
        assert_eq!(id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(id(b"what is up, doc?"), "bd9dbf5aae1a3862dd1526723246b20206e5fc37");
        assert_eq!(id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(blob_id(None).len(), 40);
    }
}
