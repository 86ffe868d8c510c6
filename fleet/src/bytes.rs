//! Bytes between hosts: blobs, each named by its SHA-256. Small ones are always in the database;
//! larger ones are in a store, if there is one. A manifest lists the files of a submission or of a
//! result, and is a blob itself; a folder is one blob, a tar.
//!
//! SECURITY. The database and the store may send any bytes. This module bounds every blob before
//! reading it, and hashes it before any use. It checks each name before it makes a path of the
//! name. It follows no link, and writes only in the directory that the caller names.
//!
//! The program must install the process-wide provider of rustls before [`ByteStore::open`] opens a
//! store of a cloud. The HTTP client of such a store has no provider of its own:
//! `rustls::crypto::ring::default_provider().install_default()`.
//!
//! Work that blocks runs on threads of its own, so that a large file never delays an answer of the
//! gate.

mod blob;
mod byte_store;
mod error;
mod fault;
mod files;
mod folder;
mod hashed_target;
mod hidden_directory;
mod manifest;
mod model;
mod new_tree;
mod object;
mod object_address;
mod pack;
mod result_files;
mod submission_files;
#[cfg(test)]
mod tests;
mod unpack;

pub(crate) use self::model::{
    PackedResult, PackedSubmission, UnpackedSignatures, UnpackedSubmission,
};
pub(crate) use byte_store::ByteStore;
pub(crate) use error::ByteStoreError;
pub(crate) use pack::{pack_result, pack_submission};
pub(crate) use unpack::{unpack_result, unpack_signatures, unpack_submission};
