//! Submissions: the files that arrive are those that were packed, or there is an error.

use std::fs::{self, File};
use std::io::Write as _;

use model::Sha256;
use spool::SubmissionFiles;

use super::scene::{BytesScene, MemoryRows};
use crate::bytes::model::{DATABASE_BYTES_MAX, PackedSubmission, SMALL_BYTES_MAX};
use crate::bytes::{
    ByteStore, ByteStoreError, pack_submission, unpack_signatures, unpack_submission,
};

const STEM: &str = "TR-20250102-030405Z-count";
const DOCUMENT: &str = "TR-20250102-030405Z-count.md";
const LARGE: &str = "data/large.bin";
const INPUTS: [&str; 4] = ["data/large.bin", "data/run.sh", "repo/", "rows.csv"];

/// A request that declares these inputs. Nothing here compares their digests.
fn request(inputs: &[&str]) -> String {
    let digest = Sha256::of(b"");
    let rows =
        inputs.iter().map(|name| format!("  - name: \"{name}\"\n    sha256: \"{digest}\"\n"));
    let lines = inputs.iter().map(|name| format!("- /in/{name}\n"));
    format!(
        "---\nrequest_type: tool_request\nschema_version: 1\nrequest_id: \"{STEM}\"\n\
         created_utc: \"2025-01-02T03:04:05Z\"\nrequested_by: human\napproved_by: alice\n\
         approved_utc: \"2025-01-02T03:12:00Z\"\npurpose: \"Look at a file.\"\nlanguage: python\n\
         network: none\ncpu_limit: \"1\"\nmemory_limit_mb: 64\ntime_limit_sec: 10\n\
         inputs:\n{}outputs_expected: []\n\
         constraints: []\n---\n\n## Command\n\npython -V\n\n## Input Files\n\n\
         {}\n## Output Expectations\n\nNone.\n\n## Risk Assessment\n\n\
         - Risk level: low\n- Justification: it looks\n- Data sensitivity: public\n\
         - Network rationale: none\n",
        rows.collect::<String>(),
        lines.collect::<String>(),
    )
}

/// A submission with every kind of file, in the directory `from`.
fn scene() -> BytesScene {
    let scene = BytesScene::new();
    scene.file(&format!("from/{DOCUMENT}"), request(&INPUTS).as_bytes());
    scene.file(&format!("from/{DOCUMENT}.sig"), b"one signature");
    scene.file(&format!("from/{DOCUMENT}.bob.sig"), b"another signature");
    scene.file(&format!("from/{STEM}.ais.json"), b"{}");
    let input = |name: &str| format!("from/{STEM}.inputs/{name}");
    let large = usize::try_from(SMALL_BYTES_MAX).unwrap() + 1;
    scene.file(&input(LARGE), &vec![7; large]);
    scene.program(&input("data/run.sh"), b"#!/bin/sh\n");
    scene.file(&input("rows.csv"), b"");
    scene.file(&input("repo/src/main.py"), b"print(1)\n");
    scene.program(&input("repo/run"), b"#!/bin/sh\n");
    scene.directory(&input("repo/empty/below"));
    scene.link(&input("repo/src/up"), "../run");
    scene.directory("to");
    scene
}

async fn packed(scene: &BytesScene, store: &ByteStore, rows: &mut MemoryRows) -> PackedSubmission {
    pack_submission(&scene.path("from"), DOCUMENT, store, rows).await.unwrap()
}

fn store_of(scene: &BytesScene) -> ByteStore {
    let directory = scene.directory("store");
    ByteStore::open(Some(&format!("file://{}", directory.display()))).unwrap()
}

async fn unpack_error(
    scene: &BytesScene,
    packed: &PackedSubmission,
    store: &ByteStore,
    mut rows: MemoryRows,
) -> ByteStoreError {
    fs::remove_dir_all(scene.directory("again")).unwrap();
    let into = scene.directory("again");
    let manifest = packed.manifest_sha256.parse().unwrap();
    unpack_submission(&manifest, &into, store, &mut rows).await.unwrap_err()
}

#[tokio::test]
async fn what_is_packed_is_unpacked_with_and_without_a_store() {
    let mut all = Vec::new();
    for has_store in [false, true] {
        let (scene, mut rows) = (scene(), MemoryRows::default());
        let store = if has_store { store_of(&scene) } else { ByteStore::Database };
        let packed = packed(&scene, &store, &mut rows).await;
        let manifest = packed.manifest_sha256.parse().unwrap();
        let into = scene.path("to");
        let unpacked = unpack_submission(&manifest, &into, &store, &mut rows).await.unwrap();
        assert_eq!(scene.tree("to"), scene.tree("from"));
        assert_eq!(unpacked.document_name, DOCUMENT);
        assert_eq!(unpacked.document_sha256, packed.document_sha256);
        let mut declared = unpacked.declared.clone();
        declared.sort();
        assert_eq!(declared, INPUTS);
        let mut signatures: Vec<String> = [&b"{}"[..], b"one signature", b"another signature"]
            .map(|bytes| Sha256::of(bytes).to_string())
            .to_vec();
        signatures.sort();
        assert_eq!(packed.signatures, signatures);
        let in_store = if has_store { scene.tree("store").len() } else { 0 };
        assert_eq!(in_store, usize::from(has_store), "the large input only");
        assert_eq!(rows.blobs.len() + in_store, 9, "eight files and a manifest");
        all.push(packed);
    }
    assert_eq!(all[0], all[1], "equal files have equal digests everywhere");
}

#[tokio::test]
async fn an_unpacked_submission_can_be_placed() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let packed = packed(&scene, &ByteStore::Database, &mut rows).await;
    let manifest = packed.manifest_sha256.parse().unwrap();
    let into = scene.path("to");
    let unpacked =
        unpack_submission(&manifest, &into, &ByteStore::Database, &mut rows).await.unwrap();
    let files = SubmissionFiles::read(&into.join(&unpacked.document_name), None).unwrap();
    let declared: Vec<&str> = unpacked.declared.iter().map(String::as_str).collect();
    files.submit_to(&scene.directory("approved"), &declared).unwrap();
    assert_eq!(scene.tree("approved"), scene.tree("from"));
}

#[tokio::test]
async fn signatures_are_fetched_without_their_document_and_its_inputs() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let packed = packed(&scene, &ByteStore::Database, &mut rows).await;
    let manifest: Sha256 = packed.manifest_sha256.parse().unwrap();
    let kept = [&b"{}"[..], b"one signature", b"another signature"].map(Sha256::of);
    rows.blobs.retain(|sha256, _| kept.contains(sha256) || *sha256 == manifest);
    let into = scene.path("to");
    let unpacked =
        unpack_signatures(&manifest, &into, &ByteStore::Database, &mut rows).await.unwrap();
    assert_eq!(unpacked.document_name, DOCUMENT);
    assert_eq!(unpacked.document_sha256, packed.document_sha256);
    let mut wanted = scene.tree("from");
    wanted.retain(|name, _| name.ends_with(".sig") || name.ends_with(".json"));
    assert_eq!(wanted.len(), kept.len());
    assert_eq!(scene.tree("to"), wanted);
}

#[tokio::test]
async fn a_blob_with_other_bytes_is_found_before_it_is_used() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let packed = packed(&scene, &ByteStore::Database, &mut rows).await;
    for sha256 in rows.blobs.keys().copied().collect::<Vec<_>>() {
        for act in ["change", "add", "remove"] {
            let mut wrong = rows.clone();
            let bytes = wrong.blobs.get_mut(&sha256).unwrap();
            match (act, bytes.pop()) {
                ("change", Some(last)) => bytes.push(last ^ 1),
                ("add", Some(last)) => bytes.extend([last, 0]),
                ("remove", Some(_)) => {}
                _ => bytes.push(0),
            }
            let error = unpack_error(&scene, &packed, &ByteStore::Database, wrong).await;
            assert!(error.is_defect(), "{act} {sha256}: {error}");
        }
        let mut less = rows.clone();
        less.blobs.remove(&sha256);
        let error = unpack_error(&scene, &packed, &ByteStore::Database, less).await;
        assert!(matches!(error, ByteStoreError::Missing { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_store_with_other_bytes_is_found_before_they_are_used() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    let store = store_of(&scene);
    let packed = packed(&scene, &store, &mut rows).await;
    let name = scene.tree("store").into_keys().next().unwrap();
    let object = scene.path("store").join(name);
    let bytes = fs::read(&object).unwrap();
    let put = |bytes: &[u8]| File::create(&object).unwrap().write_all(bytes).unwrap();
    put(&bytes[1..]);
    let error = unpack_error(&scene, &packed, &store, rows.clone()).await;
    assert!(matches!(error, ByteStoreError::Wrong { .. }), "{error}");
    put(&[&bytes[..], b"x"].concat());
    let error = unpack_error(&scene, &packed, &store, rows.clone()).await;
    assert!(matches!(error, ByteStoreError::Larger { .. }), "{error}");
    put(&[&bytes[1..], b"x"].concat());
    let error = unpack_error(&scene, &packed, &store, rows.clone()).await;
    assert!(matches!(error, ByteStoreError::Wrong { .. }), "{error}");
    fs::remove_file(&object).unwrap();
    let error = unpack_error(&scene, &packed, &store, rows.clone()).await;
    assert!(matches!(error, ByteStoreError::Missing { .. }), "{error}");
    assert!(error.to_string().contains("file:///"), "{error}");
    let error = unpack_error(&scene, &packed, &ByteStore::Database, rows).await;
    assert!(matches!(error, ByteStoreError::Missing { .. }), "{error}");
}

#[tokio::test]
async fn a_submission_beyond_the_limit_of_the_database_needs_a_store() {
    let (scene, mut rows) = (scene(), MemoryRows::default());
    scene.sparse_file(&format!("from/{STEM}.inputs/{LARGE}"), DATABASE_BYTES_MAX);
    let from = scene.path("from");
    let packed = pack_submission(&from, DOCUMENT, &ByteStore::Database, &mut rows).await;
    let error = packed.unwrap_err();
    assert!(matches!(error, ByteStoreError::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("--store"), "{error}");
    assert_eq!(rows, MemoryRows::default(), "nothing is stored of it");
    let store = store_of(&scene);
    pack_submission(&from, DOCUMENT, &store, &mut rows).await.unwrap();
}

#[tokio::test]
async fn no_link_is_followed() {
    for (name, target) in [
        (DOCUMENT.to_owned(), "/etc/hostname"),
        (format!("{DOCUMENT}.sig"), "/etc/hostname"),
        (format!("{STEM}.ais.json"), "/etc/hostname"),
        (format!("{STEM}.inputs/rows.csv"), "/etc/hostname"),
        (format!("{STEM}.inputs/repo"), "/etc"),
        (format!("{STEM}.inputs/data"), "/etc"),
    ] {
        let (scene, mut rows) = (scene(), MemoryRows::default());
        let path = scene.path("from").join(&name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        scene.link(&format!("from/{name}"), target);
        let from = scene.path("from");
        let packed = pack_submission(&from, DOCUMENT, &ByteStore::Database, &mut rows).await;
        assert!(packed.is_err(), "{name}");
        assert_eq!(rows, MemoryRows::default(), "{name}");
    }
}

#[tokio::test]
async fn a_standing_approval_has_no_inputs_and_other_documents_must_be_readable() {
    let (scene, mut rows) = (BytesScene::new(), MemoryRows::default());
    let (from, store) = (scene.directory("from"), ByteStore::Database);
    let name = "SA-20250102-030405Z-count.md";
    scene.file(&format!("from/{name}"), b"any bytes: each host checks them");
    let packed = pack_submission(&from, name, &store, &mut rows).await.unwrap();
    let into = scene.directory("to");
    let manifest = packed.manifest_sha256.parse().unwrap();
    let unpacked = unpack_submission(&manifest, &into, &store, &mut rows).await.unwrap();
    assert_eq!((unpacked.document_name.as_str(), unpacked.declared.len()), (name, 0));
    scene.file(&format!("from/{DOCUMENT}"), b"any bytes");
    let error = pack_submission(&from, DOCUMENT, &store, &mut rows).await.unwrap_err();
    assert!(matches!(error, ByteStoreError::Document { .. }), "{error}");
}
