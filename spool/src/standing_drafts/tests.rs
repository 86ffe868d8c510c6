//! Tests of the limits of a look, which a daemon does not show.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use super::input_tree::{ENTRIES_MAX, LEVELS_MAX, check_inputs};
use super::*;

const USE: &str = "---\nx-standing: \"SA\"\n---\n";
const OTHER: &str = "---\npurpose: \"x\"\n---\nx-standing: \"SA\"\n";
const INPUT_BYTES_MAX: u64 = 1000;
const SHA256: &str = "d287bb7f9d15abdc5b6e98536263815744b6ef21c8f3c839fc434ca70d8efe99";

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
        self.approved.take_standing_drafts(&self.drafts, seen, INPUT_BYTES_MAX)
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
fn a_directory_that_was_replaced_gets_no_draft_and_the_next_one_does() {
    let mut scene = DraftScene::new("replaced");
    scene.add_inputs("inputs", 0, 1);
    scene.add("inputs", USE);
    scene.add("none", USE);
    let path = scene.approved.path().to_owned();
    fs::rename(&path, scene.top.join("old")).unwrap();
    fs::create_dir(&path).unwrap();
    let mut seen = SeenDrafts::default();
    scene.take(&mut seen).unwrap_err();
    assert!(!scene.is_approved("inputs") && !scene.is_approved("none"));
    scene.approved = Inbox::open(&path).unwrap();
    assert_eq!(scene.pass(&mut seen), (1, 2));
    assert!(scene.is_approved("inputs") && scene.is_approved("none"));
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
        let name = format!("{}.inputs", stem(slug));
        let bounds = InputTreeBounds::standing(INPUT_BYTES_MAX);
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

/// An agent can hold the lock of a file of its own, so none of them gets into `approved/`.
#[test]
fn a_draft_is_taken_as_new_files() {
    let scene = DraftScene::new("new");
    scene.add_inputs("use", 1, 1);
    let inputs = scene.drafts.path().join(format!("{}.inputs", stem("use")));
    symlink("d/0", inputs.join("link")).unwrap();
    scene.add("use", USE);
    let inode = |inbox: &Inbox, name: &str| {
        let path = inbox.path().join(format!("{}{name}", stem("use")));
        fs::symlink_metadata(path).unwrap().ino()
    };
    let names = [".md", ".inputs", ".inputs/d", ".inputs/d/0", ".inputs/link"];
    let before = names.map(|name| inode(&scene.drafts, name));
    // The copy of a killed daemon is replaced.
    let hidden = scene.approved.path().join(format!(".{}.inputs.draft", stem("use")));
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("half"), "").unwrap();
    assert_eq!(scene.pass(&mut SeenDrafts::default()).1, 1);
    let after = names.map(|name| inode(&scene.approved, name));
    assert!(before.iter().all(|inode| !after.contains(inode)), "{before:?} {after:?}");
    let link = scene.approved.path().join(format!("{}.inputs/link", stem("use")));
    assert_eq!(fs::read_link(link).unwrap().to_str(), Some("d/0"));
    assert!(!hidden.exists());
    assert_eq!(fs::read_dir(scene.drafts.path()).unwrap().count(), 0);
}

#[test]
fn inputs_of_too_many_bytes_stay() {
    let scene = DraftScene::new("bytes");
    for (slug, bytes) in [("fits", INPUT_BYTES_MAX), ("large", INPUT_BYTES_MAX + 1)] {
        scene.add_inputs(slug, 0, 0);
        let inputs = scene.drafts.path().join(format!("{}.inputs", stem(slug)));
        fs::write(inputs.join("data"), vec![b'x'; usize::try_from(bytes).unwrap()]).unwrap();
        scene.add(slug, USE);
    }
    let mut seen = SeenDrafts::default();
    let error = scene.take(&mut seen).unwrap_err().to_string();
    assert!(error.contains(", 1000 bytes, or "), "{error}");
    assert_eq!(["fits", "large"].map(|slug| scene.is_approved(slug)), [true, false]);
    assert_eq!(scene.pass(&mut seen).1, 0, "it is reported once");
}

/// Policy may list the daemon's user as an approver, and a copy belongs to that user.
#[test]
fn a_request_without_a_standing_approval_is_known() {
    let text = format!(
        "---\nrequest_type: tool_request\nschema_version: 1\nrequest_id: \"{id}\"\n\
         created_utc: \"2026-02-09T16:05:01Z\"\nrequested_by: \"human\"\n\
         approved_by: \"tester\"\napproved_utc: \"2999-02-09T16:05:01Z\"\n\
         purpose: \"A test.\"\nlanguage: \"python\"\nnetwork: \"none\"\n\
         network_allowlist: []\ncpu_limit: \"1\"\nmemory_limit_mb: 256\ntime_limit_sec: 20\n\
         inputs:\n  - name: \"script.py\"\n    sha256: \"{sha256}\"\noutputs_expected: []\n\
         constraints:\n  - \"No network unless allowlisted\"\n  - \"No writes outside /out\"\n  \
         - \"No persistence\"\n---\n\n# A test\n\n## Command\n\npython script.py\n\n\
         ## Input Files\n\n- /in/script.py\n\n## Output Expectations\n\nNone.\n\n\
         ## Risk Assessment\n\n- Risk level: low\n- Justification: it is a test.\n\
         - Data sensitivity: public\n- Network rationale: none\n",
        id = stem("other"),
        sha256 = SHA256,
    );
    let is_other =
        |text: &str| is_other_request(text.as_bytes().to_vec(), &format!("{}.md", stem("other")));
    assert!(is_other(&text), "its date is in the future, and will not be for ever");
    assert!(!is_other(&text.replacen("purpose", "x-unknown", 1)), "it can never run");
    let reference = format!("x-standing: \"SA-20260209-160501Z-one@sha256:{SHA256}\"\n");
    let with_use = text.replacen("constraints:", &format!("{reference}constraints:"), 1);
    assert!(!is_other(&with_use));
}
