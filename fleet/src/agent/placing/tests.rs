//! Files are placed once, and removed only if they are ours and of this document.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use super::*;

const NAME: &str = "TR-20261127-080000Z-a.md";
const TEXT: &[u8] = b"---\nid: x\n---\n";

/// A directory of unpacked files and an `approved/`, removed at the end.
struct PlacingScene(PathBuf);

impl PlacingScene {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-fleet-placing-{name}-{}", std::process::id());
        let top = std::env::temp_dir().join(name);
        fs::create_dir_all(top.join("approved")).unwrap();
        fs::create_dir_all(top.join("unpacked/TR-20261127-080000Z-a.inputs")).unwrap();
        let scene = Self(top);
        scene.write(&format!("unpacked/{NAME}"), TEXT);
        scene.write(&format!("unpacked/{NAME}.alice.sig"), b"signature");
        scene.write("unpacked/TR-20261127-080000Z-a.inputs/data.csv", b"1,2");
        scene
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let mut options = OpenOptions::new();
        let opened = options.write(true).create(true).truncate(true).open(self.0.join(path));
        opened.unwrap().write_all(bytes).unwrap();
    }

    fn approved(&self) -> PathBuf {
        self.0.join("approved")
    }

    fn place(&self) -> Result<PlaceOutcome, FleetAgentError> {
        let document = self.0.join("unpacked").join(NAME);
        place(&document, &digest(), &self.approved(), &["data.csv".to_owned()])
    }

    fn presence(&self) -> SubmissionPresence {
        submission(&self.approved(), NAME, &digest()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.approved()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for PlacingScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn digest() -> String {
    Sha256::of(TEXT).to_string()
}

#[test]
fn a_document_is_placed_once_with_its_files() {
    let scene = PlacingScene::new("once");
    assert_eq!(scene.presence(), SubmissionPresence::Absent);
    assert_eq!(scene.place().unwrap(), PlaceOutcome::Placed);
    assert_eq!(scene.presence(), SubmissionPresence::Ours);
    let inputs = "TR-20261127-080000Z-a.inputs".to_owned();
    let wanted = [inputs, NAME.to_owned(), format!("{NAME}.alice.sig")];
    assert_eq!(scene.names(), wanted);
    assert_eq!(scene.place().unwrap(), PlaceOutcome::Placed, "an interrupted agent repeats it");
    scene.write(&format!("unpacked/{NAME}.bob.sig"), b"another signature");
    assert_eq!(scene.place().unwrap(), PlaceOutcome::Placed);
    assert_eq!(scene.names().len(), 4, "a new signature is added");
}

#[test]
fn a_taken_name_keeps_no_signature_away() {
    let scene = PlacingScene::new("squat");
    scene.write("unpacked/TR-20261127-080000Z-a.ais.json", b"{}");
    scene.place().unwrap();
    scene.write("unpacked/TR-20261127-080000Z-a.ais.json", b"[]");
    for _ in 0..2 {
        scene.write(&format!("unpacked/{NAME}.alice.sig"), b"rejection");
        assert_eq!(scene.place().unwrap(), PlaceOutcome::Placed);
        let other = format!("{NAME}.{}.sig", Sha256::of(b"rejection"));
        assert_eq!(fs::read(scene.approved().join(other)).unwrap(), b"rejection");
        let first = fs::read(scene.approved().join(format!("{NAME}.alice.sig")));
        assert_eq!(first.unwrap(), b"signature");
        assert_eq!(scene.names().len(), 5, "{:?}", scene.names());
    }
}

#[test]
fn files_of_an_interrupted_placing_do_not_block_the_next() {
    let scene = PlacingScene::new("leftovers");
    fs::create_dir(scene.approved().join("TR-20261127-080000Z-a.inputs")).unwrap();
    scene.write(&format!("approved/{NAME}.alice.sig"), b"sig");
    scene.write(&format!("approved/.{NAME}.new-00ff"), b"---");
    scene.write(&format!("approved/{NAME}.hold"), b"");
    assert_eq!(scene.place().unwrap(), PlaceOutcome::Placed);
    let names = scene.names();
    assert!(names.contains(&format!("{NAME}.hold")), "an order of an operator stays: {names:?}");
    assert!(!names.iter().any(|name| name.contains(".new-")), "{names:?}");
}

#[test]
fn another_document_of_the_same_name_blocks_and_stays() {
    let scene = PlacingScene::new("blocked");
    scene.write(&format!("approved/{NAME}"), b"another document");
    assert_eq!(scene.presence(), SubmissionPresence::Other);
    assert_eq!(scene.place().unwrap(), PlaceOutcome::Blocked);
    withdraw(&scene.approved(), NAME, &digest()).unwrap();
    assert_eq!(fs::read(scene.approved().join(NAME)).unwrap(), b"another document");
}

#[test]
fn a_document_that_is_not_the_claimed_one_is_never_placed() {
    let scene = PlacingScene::new("lie");
    scene.write(&format!("unpacked/{NAME}"), b"what the store made of it");
    let error = scene.place().unwrap_err();
    assert!(!error.is_momentary());
    assert!(error.to_string().contains("; help: "), "{error}");
    assert!(scene.names().is_empty());
}

#[test]
fn a_withdrawn_document_leaves_nothing_but_orders() {
    let scene = PlacingScene::new("withdrawn");
    scene.place().unwrap();
    scene.write(&format!("approved/{NAME}.cancel"), b"");
    scene.write("approved/TR-20261127-080000Z-ab.md", b"another request");
    withdraw(&scene.approved(), NAME, &digest()).unwrap();
    let wanted = [format!("{NAME}.cancel"), "TR-20261127-080000Z-ab.md".to_owned()];
    assert_eq!(scene.names(), wanted);
    withdraw(&scene.approved(), NAME, &digest()).unwrap();
}

#[test]
fn a_missing_directory_is_not_a_missing_document() {
    let scene = PlacingScene::new("missing");
    let away = scene.0.join("away");
    assert!(submission(&away, NAME, &digest()).is_err());
}

#[test]
fn odd_objects_with_the_name_are_other_documents() {
    let scene = PlacingScene::new("odd");
    let path = scene.approved().join(NAME);
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert_eq!(scene.presence(), SubmissionPresence::Other);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(scene.presence(), SubmissionPresence::Other);
}
