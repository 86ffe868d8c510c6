//! The numbers that the state directory keeps, and its lock.

use super::*;

/// An empty directory, removed at the end.
struct StateScene(PathBuf);

impl StateScene {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-fleet-state-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for StateScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn one_agent_uses_a_state_directory_at_a_time() {
    let scene = StateScene::new("lock");
    let state = scene.0.join("state");
    let first = StateDirectory::open(&state).unwrap();
    let why = StateDirectory::open(&state).err().unwrap();
    assert!(why.contains("another agent uses it; help: "), "{why}");
    drop(first);
    assert!(StateDirectory::open(&state).is_ok());
}

#[test]
fn the_serial_of_a_fleet_list_is_kept() {
    let scene = StateScene::new("serial");
    let state = StateDirectory::open(&scene.0).unwrap();
    assert_eq!(state.list_serial(), Ok(None));
    for text in ["0b1c2d3e 3\n", "0b1c2d3e 11\n", "ffff-0123 2\n"] {
        let serial = FleetListSerial::parse(text.as_bytes()).unwrap();
        state.note_list_serial(&serial).unwrap();
        assert_eq!(state.list_serial(), Ok(Some(serial)));
    }
    File::create(scene.0.join("fleet-list")).unwrap();
    let why = state.list_serial().unwrap_err();
    assert!(why.contains("; help: "), "{why}");
}

#[test]
fn the_number_of_beats_belongs_to_one_fleet() {
    let scene = StateScene::new("beats");
    let state = StateDirectory::open(&scene.0).unwrap();
    assert_eq!(state.last_beats("0b1c-01"), 0);
    state.note_beats("0b1c-01", 7).unwrap();
    state.note_beats("0b1c-01", 8).unwrap();
    assert_eq!(state.last_beats("0b1c-01"), 8);
    assert_eq!(state.last_beats("ffff-02"), 0);
}

#[test]
fn incoming_files_do_not_survive_a_start() {
    let scene = StateScene::new("incoming");
    let state = StateDirectory::open(&scene.0).unwrap();
    let made = state.make_incoming("TR-20261127-080000Z-a").unwrap();
    File::create(made.join("x.md")).unwrap();
    let again = state.make_incoming("TR-20261127-080000Z-a").unwrap();
    assert_eq!(fs::read_dir(&again).unwrap().count(), 0);
    drop(state);
    File::create(again.join("x.md")).unwrap();
    drop(StateDirectory::open(&scene.0).unwrap());
    assert!(!again.exists());
}
