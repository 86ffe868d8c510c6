//! Results: the files that arrive are those of the host, or there is an error and nothing is
//! visible.

use std::fs::{self, File};
use std::io::Write as _;

use super::scene::{BytesScene, MemoryRows, SceneEntry};
use crate::bytes::fault::ManifestFault;
use crate::bytes::model::{DATABASE_BYTES_MAX, PackedResult, UnpackedResult};
use crate::bytes::{ByteStore, ByteStoreError, pack_result, unpack_result};

const ID: &str = "TS-20250102-030506Z-TR-20250102-030405Z-count";

/// A result in the directory of its id.
fn scene() -> BytesScene {
    let scene = BytesScene::new();
    let file = |name: &str, bytes: &[u8]| {
        scene.file(&format!("{ID}/{name}"), bytes);
    };
    file(&format!("{ID}.md"), b"record");
    file(&format!("{ID}.md.sig"), b"signature");
    file(&format!("{ID}.bundle.json"), b"{}");
    file(&format!("{ID}.tlog-proof"), b"proof");
    file("request/TR-20250102-030405Z-count.md", b"request");
    file("stdout", b"");
    file("artifacts/.hidden/Fig 1.png", b"png");
    scene.program(&format!("{ID}/artifacts/run"), b"#!/bin/sh\n");
    scene.directory("to");
    scene
}

async fn packed(scene: &BytesScene, rows: &mut MemoryRows) -> PackedResult {
    pack_result(&scene.path(ID), &ByteStore::Database, rows).await.unwrap()
}

async fn unpack(
    scene: &BytesScene,
    packed: &PackedResult,
    rows: &mut MemoryRows,
) -> Result<UnpackedResult, ByteStoreError> {
    let manifest = packed.manifest_sha256.parse().unwrap();
    unpack_result(&manifest, &scene.path("to"), ID, &ByteStore::Database, rows).await
}

#[tokio::test]
async fn a_result_arrives_whole() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let packed = packed(&scene, &mut rows).await;
    assert_eq!(packed.left_out, Vec::<String>::new());
    let unpacked = unpack(&scene, &packed, &mut rows).await.unwrap();
    assert_eq!(unpacked.directory, scene.path("to").join(ID));
    assert_eq!(unpacked.left_out, Vec::<String>::new());
    assert_eq!(scene.tree(&format!("to/{ID}")), scene.tree(ID));
    let error = unpack(&scene, &packed, &mut rows).await.unwrap_err();
    assert!(matches!(error, ByteStoreError::Exists { .. }), "{error}");
    assert_eq!(fs::read_dir(scene.path("to")).unwrap().count(), 1);
}

#[tokio::test]
async fn an_output_that_is_too_large_stays_and_the_record_does_not() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let large = "artifacts/a-large-file";
    scene.sparse_file(&format!("{ID}/{large}"), DATABASE_BYTES_MAX);
    let packed = packed(&scene, &mut rows).await;
    assert_eq!(packed.left_out, [large]);
    let unpacked = unpack(&scene, &packed, &mut rows).await.unwrap();
    assert_eq!(unpacked.left_out, [large]);
    let mut wanted = scene.tree(ID);
    wanted.remove(large).unwrap();
    assert_eq!(scene.tree(&format!("to/{ID}")), wanted);
}

#[tokio::test]
async fn a_record_that_is_too_large_is_an_error() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    scene.sparse_file(&format!("{ID}/{ID}.bundle.json"), DATABASE_BYTES_MAX + 1);
    let packed = pack_result(&scene.path(ID), &ByteStore::Database, &mut rows).await;
    let error = packed.unwrap_err();
    assert!(matches!(error, ByteStoreError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn a_link_in_a_result_is_an_error() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    scene.link(&format!("{ID}/artifacts/link"), "/etc/hostname");
    let packed = pack_result(&scene.path(ID), &ByteStore::Database, &mut rows).await;
    match packed.unwrap_err() {
        ByteStoreError::Unpackable(problem) => {
            assert_eq!(problem.name, "artifacts/link");
            assert_eq!(problem.fault, ManifestFault::ResultKind);
        }
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn nothing_is_visible_of_a_result_with_a_wrong_blob() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let packed = packed(&scene, &mut rows).await;
    for sha256 in rows.blobs.keys().copied().collect::<Vec<_>>() {
        let mut wrong = rows.clone();
        wrong.blobs.get_mut(&sha256).unwrap().push(0);
        let error = unpack(&scene, &packed, &mut wrong).await.unwrap_err();
        assert!(error.is_defect(), "{error}");
        wrong.blobs.remove(&sha256);
        let error = unpack(&scene, &packed, &mut wrong).await.unwrap_err();
        assert!(matches!(error, ByteStoreError::Missing { .. }), "{error}");
        assert_eq!(fs::read_dir(scene.path("to")).unwrap().count(), 0, "{sha256}");
    }
}

#[tokio::test]
async fn only_the_id_of_a_result_names_its_directory() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let packed = packed(&scene, &mut rows).await;
    let manifest = packed.manifest_sha256.parse().unwrap();
    for name in ["", ".", "..", "../x", "/tmp/x", "TS-1", "TR-20250102-030405Z-count"] {
        let into = scene.path("to");
        let unpacked = unpack_result(&manifest, &into, name, &ByteStore::Database, &mut rows).await;
        let error = unpacked.unwrap_err();
        assert!(matches!(error, ByteStoreError::ResultName { .. }), "{name}: {error}");
    }
    assert_eq!(fs::read_dir(scene.path("to")).unwrap().count(), 0);
}

#[tokio::test]
async fn the_manifest_of_a_submission_is_not_that_of_a_result() {
    let (scene, mut rows) = (BytesScene::new(), MemoryRows::default());
    let name = "SA-20250102-030405Z-count.md";
    let from = scene.directory("from");
    scene.file(&format!("from/{name}"), b"any bytes");
    let store = ByteStore::Database;
    let packed = crate::bytes::pack_submission(&from, name, &store, &mut rows).await.unwrap();
    let manifest = packed.manifest_sha256.parse().unwrap();
    let into = scene.directory("to");
    let error = unpack_result(&manifest, &into, ID, &store, &mut rows).await.unwrap_err();
    assert!(error.is_defect(), "{error}");
    assert_eq!(scene.tree("to").len(), 0);
}

#[tokio::test]
async fn a_full_directory_of_another_owner_is_not_replaced() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let packed = packed(&scene, &mut rows).await;
    scene.directory(&format!("to/{ID}"));
    let mine = scene.path("to").join(ID).join("mine");
    File::create(&mine).unwrap().write_all(b"mine").unwrap();
    let error = unpack(&scene, &packed, &mut rows).await.unwrap_err();
    assert!(matches!(error, ByteStoreError::Exists { .. }), "{error}");
    let entry = SceneEntry::File { bytes: b"mine".to_vec(), is_executable: false };
    assert_eq!(scene.tree(&format!("to/{ID}")).into_values().collect::<Vec<_>>(), [entry]);
}
