//! Claims survive a start of the agent, and incomplete ones do not.

use std::fs::File;
use std::io::Write as _;

use super::*;

const REQUEST: &str = "TR-20261127-080000Z-a";

/// An empty directory, removed at the end.
struct BookScene(PathBuf);

impl BookScene {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-fleet-book-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn open(&self) -> ClaimBook {
        self.try_open("0b1c2d3e", "host-a").unwrap()
    }

    fn try_open(&self, fleet_id: &str, host: &str) -> Result<ClaimBook, String> {
        let owner = ClaimOwner::new(fleet_id, &HostName::parse(host).unwrap());
        ClaimBook::open(self.0.clone(), owner)
    }
}

impl Drop for BookScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn file(epoch: Option<i64>) -> ClaimFile {
    ClaimFile { document_sha256: "0".repeat(64), epoch, known_results: vec!["TS-1".to_owned()] }
}

#[test]
fn a_claim_survives_a_start_of_the_agent() {
    let scene = BookScene::new("survives");
    let book = scene.open();
    book.insert(REQUEST, file(Some(4)), false).unwrap();
    book.note_placed(REQUEST);
    book.note_started(REQUEST);
    assert!(book.claim(REQUEST).unwrap().is_placed);
    assert!(book.insert(REQUEST, file(Some(5)), false).is_err(), "one claim of a request");
    drop(book);
    let claim = scene.open().claim(REQUEST).unwrap();
    let wanted = LocalClaim { file: file(Some(4)), is_placed: false, is_started: false };
    assert_eq!(claim, wanted, "the database and the spool know the rest");
}

#[test]
fn a_removed_claim_is_known_as_removed_until_the_next_look() {
    let scene = BookScene::new("removed");
    let book = scene.open();
    book.insert(REQUEST, file(None), true).unwrap();
    book.begin_look();
    assert!(!book.was_removed(REQUEST));
    book.remove(REQUEST).unwrap();
    assert!(book.was_removed(REQUEST) && book.requests().is_empty());
    book.remove(REQUEST).unwrap();
    book.begin_look();
    assert!(!book.was_removed(REQUEST));
    assert!(scene.open().requests().is_empty());
}

#[test]
fn only_claims_of_the_database_count_as_not_started() {
    let scene = BookScene::new("unstarted");
    let book = scene.open();
    for (name, epoch) in [("a", Some(1)), ("b", Some(1)), ("c", None)] {
        book.insert(&format!("TR-20261127-080000Z-{name}"), file(epoch), false).unwrap();
    }
    book.note_started("TR-20261127-080000Z-b");
    assert_eq!(book.unstarted(), ["TR-20261127-080000Z-a"]);
    assert_eq!(book.requests().len(), 3);
}

#[test]
fn an_interrupted_write_is_removed_and_a_foreign_file_is_named() {
    let scene = BookScene::new("foreign");
    let hidden = scene.0.join(".TR-20261127-080000Z-a.json.new-00");
    File::create(&hidden).unwrap();
    assert!(scene.open().requests().is_empty());
    assert!(!hidden.exists());
    for name in ["TR-20261127-080000Z-a.json", "notes.txt"] {
        let path = scene.0.join(name);
        File::create(&path).unwrap();
        let why = scene.try_open("0b1c2d3e", "host-a").err().unwrap();
        assert!(why.contains(name) && why.contains("; help: "), "{why}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_claim_of_another_fleet_or_host_is_refused() {
    let scene = BookScene::new("owner");
    scene.open().insert(REQUEST, file(Some(4)), false).unwrap();
    for (fleet_id, host) in [("ffff-0123", "host-a"), ("0b1c2d3e", "host-b")] {
        let why = scene.try_open(fleet_id, host).err().unwrap();
        assert!(why.contains("a claim of host host-a in the fleet with id 0b1c2d3e"), "{why}");
        assert!(why.contains(REQUEST) && why.contains("; help: "), "{why}");
    }
    assert!(scene.open().claim(REQUEST).is_some(), "it stays for its owner");
    // A file without an owner is none of this host.
    let path = scene.0.join(format!("{REQUEST}.json"));
    let claim = serde_json::to_vec(&file(Some(4))).unwrap();
    File::create(&path).unwrap().write_all(&claim).unwrap();
    let why = scene.try_open("0b1c2d3e", "host-a").err().unwrap();
    assert!(why.contains("not the file of a claim"), "{why}");
}
