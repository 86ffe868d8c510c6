//! A store that is a directory: each blob is one object, and no object has other bytes.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use super::scene::{BytesScene, MemoryRows};
use crate::bytes::blob::{Blob, PART_BYTES};
use crate::bytes::files::open_directory;
use crate::bytes::model::SMALL_BYTES_MAX;
use crate::bytes::{ByteStore, ByteStoreError};

fn store_of(scene: &BytesScene) -> ByteStore {
    let directory = scene.directory("store");
    ByteStore::open(Some(&format!("file://{}", directory.display()))).unwrap()
}

/// Returns the blob of a new file of this size.
fn blob(scene: &BytesScene, bytes: u64) -> Blob {
    scene.file("from/file", &vec![5; usize::try_from(bytes).unwrap()]);
    let directory = Arc::new(open_directory(&scene.path("from")).unwrap());
    Blob::of_file(&directory, "file", u64::MAX).unwrap().0
}

#[tokio::test]
async fn a_blob_of_several_parts_is_one_object_that_others_can_read() {
    let (scene, mut rows) = (BytesScene::new(), MemoryRows::default());
    let store = store_of(&scene);
    for bytes in [SMALL_BYTES_MAX + 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES] {
        let sha256 = store.put(&mut rows, blob(&scene, bytes)).await.unwrap();
        let object = scene.path("store").join(format!("sha256-{sha256}"));
        let found = fs::metadata(&object).unwrap();
        assert_eq!(found.len(), bytes);
        assert_eq!(found.permissions().mode() & 0o777, 0o644);
        let fetched = store.get(&mut rows, &sha256, bytes).await.unwrap();
        assert_eq!(fetched, vec![5; usize::try_from(bytes).unwrap()]);
        let error = store.get(&mut rows, &sha256, bytes - 1).await.unwrap_err();
        assert!(matches!(error, ByteStoreError::Larger { .. }), "{error}");
    }
    assert_eq!(scene.tree("store").len(), 4, "nothing but the objects");
    assert_eq!(rows, MemoryRows::default());
}

#[tokio::test]
async fn a_small_blob_is_in_the_database() {
    let (scene, mut rows) = (BytesScene::new(), MemoryRows::default());
    let store = store_of(&scene);
    for bytes in [0, 1, SMALL_BYTES_MAX] {
        let sha256 = store.put(&mut rows, blob(&scene, bytes)).await.unwrap();
        assert!(rows.blobs.contains_key(&sha256), "{bytes}");
    }
    assert_eq!(scene.tree("store").len(), 0);
}

#[tokio::test]
async fn a_file_that_changes_after_it_was_hashed_is_not_stored() {
    for bytes in [10, SMALL_BYTES_MAX + 10] {
        for is_longer in [false, true] {
            let (scene, mut rows) = (BytesScene::new(), MemoryRows::default());
            let store = store_of(&scene);
            let blob = blob(&scene, bytes);
            let path = scene.path("from/file");
            let file = File::options().append(is_longer).write(true).open(path);
            file.unwrap().write_all(b"changed").unwrap();
            let error = store.put(&mut rows, blob).await.unwrap_err();
            assert!(matches!(error, ByteStoreError::Changed { .. }), "{error}");
            assert_eq!(rows, MemoryRows::default());
            assert_eq!(scene.tree("store").len(), 0, "no part of it stays");
        }
    }
}

#[tokio::test]
async fn an_object_of_another_size_is_replaced_and_an_equal_one_stays() {
    let (scene, mut rows) = (BytesScene::new(), MemoryRows::default());
    let store = store_of(&scene);
    let bytes = SMALL_BYTES_MAX + 1;
    let sha256 = store.put(&mut rows, blob(&scene, bytes)).await.unwrap();
    let object = scene.path("store").join(format!("sha256-{sha256}"));
    File::create(&object).unwrap().write_all(b"cut off").unwrap();
    store.put(&mut rows, blob(&scene, bytes)).await.unwrap();
    assert_eq!(store.get(&mut rows, &sha256, bytes).await.unwrap().len(), 1_048_577);
    let before = fs::metadata(&object).unwrap().modified().unwrap();
    store.put(&mut rows, blob(&scene, bytes)).await.unwrap();
    assert_eq!(fs::metadata(&object).unwrap().modified().unwrap(), before);
}

#[test]
fn a_store_in_memory_and_one_without_a_provider_are_refused() {
    for address in ["memory:///", "http://localhost/", "/srv/store", "s3://key:sesame@bucket"] {
        let error = ByteStore::open(Some(address)).unwrap_err().to_string();
        assert!(error.contains("; help: ") && !error.contains("sesame"), "{error}");
    }
    // The tests of this crate install no provider of rustls.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let error = ByteStore::open(Some("s3://bucket/prefix")).unwrap_err();
        assert!(matches!(error, ByteStoreError::Client { .. }), "{error}");
    }
}
