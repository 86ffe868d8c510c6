//! Images on the disk: OCI layouts and archives of `docker save`. Every blob is compared with its
//! digest before it is used, and every layer again with the digest of its unpacked bytes.

mod archive_index;
mod config;
mod digests;
mod docker_archive;
mod documents;
mod facts;
mod layout;
mod oci;
mod platform;
mod section;

pub use docker_archive::unpack_docker_archive;
pub use facts::ImageFacts;
pub use oci::unpack_oci_layout;
