//! Tests of the limits of a look, which a daemon does not show.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;
use std::path::PathBuf;

use super::input_tree::{ENTRIES_MAX, LEVELS_MAX, check_inputs};
use super::*;

const USE: &str = "---\nx-standing: \"SA\"\n---\n";
const OTHER: &str = "---\npurpose: \"x\"\n---\nx-standing: \"SA\"\n";

struct DraftScene {
    top: PathBuf,
    drafts: Inbox,
    approved: Inbox,
}

impl Drop for DraftScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl DraftScene {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("drafts-{name}-{}", std::process::id()));
        let open = |name: &str| {
            fs::create_dir_all(top.join(name)).unwrap();
            Inbox::open(&top.join(name)).unwrap()
        };
        let (drafts, approved) = (open("drafts"), open("approved"));
        Self { top, drafts, approved }
    }

    fn add(&self, slug: &str, text: &str) {
        fs::write(self.drafts.path().join(format!("{}.md", stem(slug))), text).unwrap();
    }

    /// Creates inputs with so many levels of directories, and so many files in the deepest one.
    fn add_inputs(&self, slug: &str, levels: usize, files: usize) {
        let mut place = self.drafts.path().join(format!("{}.inputs", stem(slug)));
        place.extend(std::iter::repeat_n("d", levels));
        fs::create_dir_all(&place).unwrap();
        for number in 0..files {
            fs::write(place.join(number.to_string()), "").unwrap();
        }
    }

    fn take(&self, seen: &mut SeenDrafts) -> Result<usize, SpoolError> {
        self.approved.take_standing_drafts(&self.drafts, seen)
    }

    /// Returns the number of looks until all drafts were looked at, and of moved drafts.
    fn pass(&self, seen: &mut SeenDrafts) -> (usize, usize) {
        let (mut looks, mut moved) = (0, 0);
        loop {
            looks += 1;
            moved += self.take(seen).unwrap();
            if seen.is_pass_over() {
                return (looks, moved);
            }
        }
    }

    fn is_approved(&self, slug: &str) -> bool {
        self.approved.identity(format!("{}.md", stem(slug))).is_some()
    }
}

fn stem(slug: &str) -> String {
    format!("TR-20260209-160501Z-{slug}")
}

#[test]
fn other_files_delay_a_draft_and_do_not_prevent_it() {
    let scene = DraftScene::new("flood");
    for number in 0..3 * OPENED_MAX {
        scene.add(&format!("n{number}"), OTHER);
    }
    for number in 0..2 * NAMES_MAX {
        fs::write(scene.drafts.path().join(number.to_string()), "").unwrap();
    }
    scene.add("use", USE);
    let mut seen = SeenDrafts::default();
    let (looks, moved) = scene.pass(&mut seen);
    assert_eq!(moved, 1);
    assert!(scene.is_approved("use"));
    assert!((4..=6).contains(&looks), "{looks} looks");
    // The other drafts are known now, so only the number of names counts.
    assert_eq!(scene.pass(&mut seen), (3, 0));
    scene.add("later", USE);
    assert_eq!(scene.pass(&mut seen), (3, 1));
}

#[test]
fn a_draft_with_too_many_inputs_stays_and_the_others_move() {
    let scene = DraftScene::new("inputs");
    for (slug, levels, files) in [
        ("deep", 100, 1),
        ("wide", 0, ENTRIES_MAX + 9),
        ("full", LEVELS_MAX, ENTRIES_MAX - LEVELS_MAX),
    ] {
        scene.add_inputs(slug, levels, files);
        scene.add(slug, USE);
    }
    scene.add("none", USE);
    let mut seen = SeenDrafts::default();
    let mut failures = Vec::new();
    loop {
        failures.extend(scene.take(&mut seen).err().map(|error| error.to_string()));
        if seen.is_pass_over() {
            break;
        }
    }
    assert!(!failures.is_empty());
    for failure in failures {
        assert!(failure.contains("levels of directories; help: "), "{failure}");
    }
    let approved = ["deep", "wide", "full", "none"].map(|slug| scene.is_approved(slug));
    assert_eq!(approved, [false, false, true, true]);
    let inputs = scene.approved.path().join(format!("{}.inputs", stem("full")));
    assert!(inputs.join("d/d/d/d/d/d/d/d/0").exists());
    assert_eq!(scene.pass(&mut seen).1, 0, "it is reported once");
}

#[test]
fn the_check_of_inputs_is_limited() {
    let scene = DraftScene::new("work");
    let check = |slug: &str| {
        let mut work = InputTreeWork::default();
        let (name, bounds) = (format!("{}.inputs", stem(slug)), InputTreeBounds::STANDING);
        let checked = check_inputs(&scene.drafts, &name, bounds, &mut work);
        (checked.is_ok(), work.names, work.directories)
    };
    scene.add_inputs("deep", 100, 1);
    assert_eq!(check("deep"), (false, LEVELS_MAX + 1, LEVELS_MAX + 1));
    scene.add_inputs("wide", 0, ENTRIES_MAX + 9);
    assert_eq!(check("wide"), (false, ENTRIES_MAX + 1, 1));
    assert_eq!(check("missing"), (true, 0, 0));
    fs::write(scene.drafts.path().join(format!("{}.inputs", stem("file"))), "").unwrap();
    assert_eq!(check("file"), (true, 0, 0));
}
