//! Tests of the store on a real file system: building, sharing, changes, removal and refusals.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Sha256, UtcTime};
use rustix::fs::CWD;

use super::removal::remove_tree;
use super::{BuildFacts, Environment, EnvironmentStore, SourceFacts, StoreError, SweptFiles};
use crate::content::{EnvironmentContent, EnvironmentKind};
use crate::error::TreeError;
use crate::limits::TreeLimits;

const LIMITS: TreeLimits = TreeLimits { entries_max: 100, bytes_max: 1 << 20, depth_max: 10 };
const CHART: [(&str, &str); 3] =
    [("lib/chart.py", "import data"), ("lib/data.py", "rows = []"), ("lib/empty.py", "")];

/// A store in a directory of its own, which is removed at the end.
struct StoreScene {
    root: PathBuf,
    store: EnvironmentStore,
    next: Cell<u128>,
}

impl StoreScene {
    fn new(test: &str) -> Self {
        let unique = format!("toolexec-store-{test}-{}", std::process::id());
        let root = std::env::temp_dir().join(unique);
        let store = EnvironmentStore::create(&root.join("environments")).unwrap();
        Self { root, store, next: Cell::new(1) }
    }

    fn build(&self, name: &str, files: &[(&str, &str)]) -> Environment {
        self.build_with(name, |tree| put_all(tree, files)).unwrap()
    }

    fn build_with(&self, name: &str, fill: impl Fn(&Path)) -> Result<Environment, StoreError> {
        let random = self.next.get();
        self.next.set(random + 1);
        let draft = self.store.draft(random).unwrap();
        fill(draft.tree());
        self.store.add(draft, &content(EnvironmentKind::Libraries), &facts(name), &LIMITS)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.store.path().join(below)
    }

    fn count(&self, below: &str) -> usize {
        fs::read_dir(self.path(below)).unwrap().count()
    }

    fn names(&self) -> Vec<String> {
        self.store.list().unwrap().iter().map(|it| it.name.to_string()).collect()
    }
}

impl Drop for StoreScene {
    fn drop(&mut self) {
        let root = CString::new(self.root.as_os_str().as_bytes()).unwrap();
        remove_tree(CWD, &root).unwrap();
    }
}

fn content(kind: EnvironmentKind) -> EnvironmentContent {
    let programs = BTreeMap::from([("chart".to_owned(), "bin/chart".to_owned())]);
    EnvironmentContent { kind, programs, variables: BTreeMap::new(), needs: BTreeMap::new() }
}

fn facts(name: &str) -> BuildFacts {
    let (kind, file) = ("requirements".to_owned(), "requirements.txt".to_owned());
    BuildFacts {
        name: name.parse().unwrap(),
        source: SourceFacts { kind, file, sha256: Sha256::of(b"pandas") },
        built: UtcTime::from_unix(1_700_000_000),
        uid: 1000,
    }
}

fn put_all(tree: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn inode(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

/// Overwrites the first bytes of a stored file, and leaves its size and its mode.
fn overwrite(path: &Path, text: &str) {
    // Kernels before 6.13 keep coarse times: the change must not have the time of the build.
    std::thread::sleep(Duration::from_millis(20));
    let before = mode(path);
    set_mode(path, 0o644);
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    set_mode(path, before);
}

fn tree_path(environment: &Environment) -> PathBuf {
    environment.path.join("content/tree")
}

#[test]
fn a_built_environment_is_found_opened_and_verified() {
    let scene = StoreScene::new("built");
    let built = scene.build("charts", &CHART);
    let totals = (built.files, built.directories, built.links, built.bytes);
    assert_eq!(totals, (3, 1, 0, 20));
    assert_eq!(built.reference().to_string(), format!("charts@sha256:{}", built.sha256));
    assert_eq!((&built.build, built.name.as_str()), (&facts("charts"), "charts"));

    let hex = built.sha256.to_string();
    let words = ["charts".to_owned(), built.reference().to_string(), format!("sha256:{hex}")];
    let prefixes = [hex[..12].to_owned(), format!("sha256:{}", &hex[..20])];
    for word in words.iter().chain(&prefixes) {
        assert_eq!(scene.store.find(word).unwrap(), built, "{word}");
    }
    for word in ["chart", &hex[..11], &format!("plots@sha256:{hex}"), "000000000000", "../charts"] {
        let found = scene.store.find(word);
        assert!(matches!(found, Err(StoreError::Missing { .. })), "{word}: {found:?}");
    }

    let opened = scene.store.open_content(built.sha256).unwrap();
    assert_eq!(opened.content, built.content);
    assert_eq!(fs::read_to_string(opened.path.join("lib/chart.py")).unwrap(), "import data");
    let verified = scene.store.verify(built.sha256, &LIMITS).unwrap();
    assert_eq!((verified.sha256, verified.files, verified.bytes), (built.sha256, 3, 20));
    assert_eq!(scene.count("drafts"), 0);
}

#[test]
fn stored_files_are_read_only_and_without_other_links() {
    let scene = StoreScene::new("modes");
    let outside = scene.root.join("cache.py");
    File::create(&outside).unwrap().write_all(b"cached").unwrap();
    let built = scene.build_with("charts", |tree| {
        put_all(tree, &[("bin/chart", "#!/bin/sh"), ("closed/data", "data")]);
        set_mode(&tree.join("bin/chart"), 0o4711);
        set_mode(&tree.join("closed/data"), 0o600);
        fs::hard_link(&outside, tree.join("cache.py")).unwrap();
        symlink("bin/chart", tree.join("link")).unwrap();
        set_mode(&tree.join("closed"), 0o500);
    });
    let tree = tree_path(&built.unwrap());
    for (path, wanted) in [("bin/chart", 0o555), ("closed/data", 0o444), ("cache.py", 0o444)] {
        assert_eq!(mode(&tree.join(path)), wanted, "{path}");
    }
    for directory in ["", "bin", "closed", ".."] {
        assert_eq!(mode(&tree.join(directory)), 0o555, "{directory}");
    }
    assert_ne!(inode(&outside), inode(&tree.join("cache.py")));
    assert_eq!(fs::metadata(&outside).unwrap().nlink(), 1);
    assert_eq!(mode(&outside) & 0o200, 0o200);
}

#[test]
fn equal_files_are_stored_once() {
    let scene = StoreScene::new("shared");
    let first = scene.build("first", &CHART);
    let second = scene.build("second", &[("deep/er/copy.py", "import data"), ("own.py", "own")]);
    let (original, copy) =
        (tree_path(&first).join("lib/chart.py"), tree_path(&second).join("deep/er/copy.py"));
    assert_eq!(inode(&original), inode(&copy));
    scene.store.open_content(first.sha256).unwrap();

    assert!(scene.store.remove(first.sha256).unwrap() >= 9);
    assert_eq!(scene.names(), ["second"]);
    scene.store.open_content(second.sha256).unwrap();
    assert!(matches!(scene.store.find("first"), Err(StoreError::Missing { .. })));
    assert!(matches!(scene.store.remove(first.sha256), Err(StoreError::Missing { .. })));
    assert!(scene.store.remove(second.sha256).unwrap() >= 14);
    assert_eq!(scene.store.sweep().unwrap(), SweptFiles::default());
    assert_eq!((scene.count("names"), scene.count("drafts")), (0, 0));
}

#[test]
fn one_content_under_two_names_is_stored_once() {
    let scene = StoreScene::new("names");
    let first = scene.build("charts", &CHART);
    let second = scene.build("plots", &CHART);
    assert_eq!((first.sha256, second.name.as_str()), (second.sha256, "plots"));
    assert_eq!(scene.names(), ["charts"]);
    for name in ["charts", "plots"] {
        let found = scene.store.find(name).unwrap();
        assert_eq!((found.name.as_str(), found.build.name.as_str()), (name, "charts"));
        let by_reference = scene.store.find(&found.reference().to_string()).unwrap();
        assert_eq!(by_reference, found);
    }
    let later = scene.build("charts", &[("lib/chart.py", "import other")]);
    assert_eq!(scene.store.find("charts").unwrap(), later);
    assert_eq!(scene.store.find("plots").unwrap().sha256, first.sha256);
    assert_eq!(scene.names(), ["charts", "charts"]);
}

/// The sources differ in comments only, or another store states one.
#[test]
fn only_sources_that_were_built_here_count() {
    let (scene, other) = (StoreScene::new("sources"), StoreScene::new("stated"));
    let of = |text: String| {
        let mut facts = facts("charts");
        facts.source.sha256 = Sha256::of(text.as_bytes());
        facts
    };
    let copied = other.build("charts", &CHART);
    let content = content(EnvironmentKind::Libraries);
    let copy = |random: u128, facts: &BuildFacts| {
        let draft = scene.store.draft(random).unwrap();
        put_all(draft.tree(), &CHART);
        scene.store.add_copy(draft, copied.sha256, &content, facts, &LIMITS).unwrap()
    };
    let stored = copy(1000, &copied.build);
    assert!(stored.imported && !stored.is_built_from(&copied.build.source));
    for number in 0..18 {
        let draft = scene.store.draft(2000 + number).unwrap();
        put_all(draft.tree(), &CHART);
        let facts = of(format!("comment {number}"));
        let built = scene.store.add(draft, &content, &facts, &LIMITS).unwrap();
        assert!(built.is_built_from(&facts.source), "{number}");
    }
    let stored = copy(1001, &of("stated".to_owned()));
    assert!(!stored.is_built_from(&of("stated".to_owned()).source));
    let is_kept = |number: u128| stored.is_built_from(&of(format!("comment {number}")).source);
    assert_eq!((stored.other_sources.len(), is_kept(1), is_kept(2)), (16, false, true));
    let mut source = of("comment 2".to_owned()).source;
    source.kind = "uv-lock".to_owned();
    assert!(!stored.is_built_from(&source));
}

#[test]
fn a_change_of_one_byte_is_found_and_repaired_by_a_build() {
    let scene = StoreScene::new("changed");
    let built = scene.build("charts", &CHART);
    overwrite(&tree_path(&built).join("lib/data.py"), "ROWS");
    let wanted = built.reference().to_string();
    let opened = scene.store.open_content(built.sha256);
    assert!(matches!(&opened, Err(StoreError::Changed { environment }) if *environment == wanted));
    let message = opened.unwrap_err().to_string();
    assert!(message.contains("build it again"), "{message}");
    let verified = scene.store.verify(built.sha256, &LIMITS);
    assert!(matches!(verified, Err(StoreError::Changed { .. })));

    // The changed file is shared: the first build finds it, and the next one has a good file.
    let again = scene.build_with("charts", |tree| put_all(tree, &CHART));
    assert!(matches!(again, Err(StoreError::DamagedFile { .. })), "{again:?}");
    assert_eq!(scene.build("charts", &CHART).sha256, built.sha256);
    scene.store.open_content(built.sha256).unwrap();
    assert_eq!(scene.count("drafts"), 0);
}

#[test]
fn a_damaged_environment_is_listed_apart_and_can_be_removed() {
    let scene = StoreScene::new("damaged");
    let damaged = scene.build("broken", &CHART);
    scene.build("charts", &[("lib/other.py", "import other")]);
    overwrite(&damaged.path.join("build.json"), "x");
    let listed = scene.store.list_all().unwrap().damaged;
    let listed: Vec<_> = listed.iter().map(|it| it.sha256).collect();
    assert_eq!((scene.names(), listed), (vec!["charts".to_owned()], vec![damaged.sha256]));
    assert!(matches!(scene.store.find("broken"), Err(StoreError::File { .. })));
    for word in ["broken".to_owned(), damaged.reference().to_string()] {
        assert_eq!(scene.store.digest_of(&word).unwrap(), damaged.sha256, "{word}");
    }
    scene.store.remove(damaged.sha256).unwrap();
    assert!(scene.store.list_all().unwrap().damaged.is_empty());
}

#[test]
fn added_removed_and_renamed_files_are_found() {
    let scene = StoreScene::new("entries");
    let changes: [fn(&Path); 3] = [
        |lib| drop(File::create(lib.join("sitecustomize.py")).unwrap()),
        |lib| fs::remove_file(lib.join("empty.py")).unwrap(),
        |lib| symlink("chart.py", lib.join("link.py")).unwrap(),
    ];
    for change in changes {
        let built = scene.build("charts", &CHART);
        let lib = tree_path(&built).join("lib");
        set_mode(&lib, 0o755);
        change(&lib);
        set_mode(&lib, 0o555);
        let opened = scene.store.open_content(built.sha256);
        assert!(matches!(opened, Err(StoreError::Changed { .. })), "{opened:?}");
    }
}

#[test]
fn a_stamp_that_is_lost_is_made_again() {
    let scene = StoreScene::new("stamp");
    let built = scene.build("charts", &CHART);
    let stamp = built.path.join("stamp");
    let before = fs::read_to_string(&stamp).unwrap();
    fs::remove_file(&stamp).unwrap();
    File::create(built.path.join("stamp.new")).unwrap().write_all(b"left").unwrap();
    scene.store.open_content(built.sha256).unwrap();
    assert_eq!(fs::read_to_string(&stamp).unwrap(), before);
    assert!(!built.path.join("stamp.new").exists());
}

/// The index only spares listings: a wrong one costs time, and changes no answer.
#[test]
fn an_index_that_is_lost_or_wrong_is_made_again() {
    let scene = StoreScene::new("index");
    let built = scene.build("charts", &CHART);
    let index = built.path.join("index");
    let before = fs::read(&index).unwrap();
    for wrong in [b"".as_slice(), &before[..before.len() / 2], b"oenvironment.json\0", b"o/etc\0"] {
        fs::remove_file(&index).unwrap();
        File::create(&index).unwrap().write_all(wrong).unwrap();
        scene.store.open_content(built.sha256).unwrap();
        assert_eq!(fs::read(&index).unwrap(), before);
    }
    fs::remove_file(&index).unwrap();
    File::create(built.path.join("index.new")).unwrap();
    scene.store.open_content(built.sha256).unwrap();
    assert_eq!(fs::read(&index).unwrap(), before);
    assert!(!built.path.join("index.new").exists());
    // No other index can be made for such a tree, so a run does not try again.
    let none = |path: &Path| {
        fs::remove_file(path).unwrap();
        File::create(path).unwrap().write_all(b"n").unwrap();
    };
    none(&index);
    scene.store.open_content(built.sha256).unwrap();
    assert_eq!(fs::read(&index).unwrap(), b"n");
    scene.store.verify(built.sha256, &LIMITS).unwrap();
    assert_eq!(fs::read(&index).unwrap(), before);
    let written = inode(&index);
    scene.store.verify(built.sha256, &LIMITS).unwrap();
    assert_eq!(inode(&index), written);
    overwrite(&tree_path(&built).join("lib/data.py"), "ROWS");
    let opened = scene.store.open_content(built.sha256);
    assert!(matches!(opened, Err(StoreError::Changed { .. })), "{opened:?}");
}

#[test]
fn a_killed_build_leaves_a_draft_that_the_next_one_removes() {
    let scene = StoreScene::new("killed");
    let leave = |name: &str| {
        put_all(&scene.path("drafts").join(name), &[("lock", ""), ("environment/a/b", "left")]);
        set_mode(&scene.path("drafts").join(name).join("environment/a"), 0o555);
    };
    leave("0123");
    let draft = scene.store.draft(77).unwrap();
    assert_eq!(scene.count("drafts"), 1);
    leave("4567");
    fs::remove_file(scene.path("drafts/4567/lock")).unwrap();
    let swept = scene.store.sweep().unwrap();
    assert_eq!(swept, SweptFiles { drafts: 1, files: 0, bytes: 4 });
    // A build in progress stays.
    assert!(draft.tree().is_dir());
    drop(draft);
    assert_eq!(scene.count("drafts"), 0);
}

/// Builds an environment whose tree is refused, and checks that nothing is left of it.
fn refused(scene: &StoreScene, fill: impl Fn(&Path)) -> TreeError {
    let built = scene.build_with("charts", fill);
    assert_eq!((scene.count("drafts"), scene.count("names")), (0, 0));
    assert_eq!(scene.names(), Vec::<String>::new());
    let error = match built.unwrap_err() {
        StoreError::Tree { error, .. } => Some(error),
        _ => None,
    };
    error.unwrap()
}

#[test]
fn a_refused_tree_leaves_nothing() {
    let scene = StoreScene::new("refused");
    for target in ["../environment.json", "/etc/passwd"] {
        let error = refused(&scene, |tree| symlink(target, tree.join("out")).unwrap());
        assert!(matches!(error, TreeError::LinkLeaves { .. }), "{error}");
    }
    let large = "a".repeat(2 << 20);
    let error = refused(&scene, |tree| put_all(tree, &[("large", large.as_str())]));
    assert!(matches!(error, TreeError::TooManyBytes { .. }), "{error}");
    let deep = "a/".repeat(40);
    let error = refused(&scene, |tree| fs::create_dir_all(tree.join(&deep)).unwrap());
    assert!(matches!(error, TreeError::TooDeep { .. }), "{error}");
}

#[test]
fn a_root_may_have_links_that_only_a_root_may_have() {
    let scene = StoreScene::new("root");
    let draft = scene.store.draft(1).unwrap();
    symlink("/usr/bin/env", draft.tree().join("env")).unwrap();
    let content = content(EnvironmentKind::Root);
    let built = scene.store.add(draft, &content, &facts("base"), &LIMITS).unwrap();
    assert_eq!((built.links, built.content.kind), (1, EnvironmentKind::Root));
    scene.store.verify(built.sha256, &LIMITS).unwrap();
}

#[test]
fn a_copy_with_another_digest_is_refused_and_changes_no_name() {
    let (scene, other) = (StoreScene::new("copy"), StoreScene::new("copied"));
    let kept = scene.build("charts", &[("lib/chart.py", "import kept")]);
    let sha256 = other.build("charts", &CHART).sha256;
    let copy = |files: &[(&str, &str)]| {
        let draft = scene.store.draft(1000).unwrap();
        put_all(draft.tree(), files);
        let content = content(EnvironmentKind::Libraries);
        scene.store.add_copy(draft, sha256, &content, &facts("charts"), &LIMITS)
    };
    let refused = copy(&CHART[..1]);
    assert!(matches!(refused, Err(StoreError::Changed { .. })), "{refused:?}");
    assert_eq!(scene.store.find("charts").unwrap(), kept);
    assert_eq!(copy(&CHART).unwrap().sha256, sha256);
    assert_eq!(scene.store.find("charts").unwrap().sha256, sha256);
}

#[test]
fn invalid_content_is_refused() {
    let scene = StoreScene::new("content");
    let mut content = content(EnvironmentKind::Libraries);
    content.programs.insert("passwd".to_owned(), "../../etc/passwd".to_owned());
    let draft = scene.store.draft(1).unwrap();
    let built = scene.store.add(draft, &content, &facts("charts"), &LIMITS);
    assert!(matches!(built, Err(StoreError::Content(_))), "{built:?}");
    assert_eq!((scene.count("drafts"), scene.count("names")), (0, 0));
}

#[test]
fn a_store_that_others_may_write_is_refused() {
    let scene = StoreScene::new("writable");
    set_mode(scene.store.path(), 0o775);
    let opened = EnvironmentStore::open(scene.store.path());
    assert!(matches!(opened, Err(StoreError::Writable { .. })), "{opened:?}");
    set_mode(scene.store.path(), 0o755);
    assert!(EnvironmentStore::open(&scene.root.join("none")).unwrap_err().is_missing());
}

#[test]
fn an_environment_in_which_other_users_may_write_is_refused() {
    let scene = StoreScene::new("writable");
    let built = scene.build("charts", &CHART);
    for (directory, safe) in [(built.path.clone(), 0o755), (built.path.join("content"), 0o555)] {
        for wrong in [0o020, 0o002] {
            set_mode(&directory, safe | wrong);
            let opened = scene.store.open_content(built.sha256);
            let path = match opened.unwrap_err() {
                StoreError::Writable { path } => path,
                error => panic!("{error:?}"),
            };
            assert_eq!(path, directory);
            let read = scene.store.read_content(built.sha256);
            assert!(matches!(read, Err(StoreError::Writable { .. })), "{read:?}");
        }
        set_mode(&directory, safe);
    }
    let opened = scene.store.open_content(built.sha256).unwrap();
    let (_, path, identity) = scene.store.read_content(built.sha256).unwrap();
    assert_eq!((opened.path, opened.identity), (path, identity));
    assert_eq!(identity.1, inode(&tree_path(&built)));
}

#[test]
fn the_record_of_a_build_is_beside_its_facts() {
    let scene = StoreScene::new("record");
    let built = scene.build("charts", &CHART);
    assert_eq!(scene.store.build_record(built.sha256).unwrap(), None);
    for record in [&b"{}\n"[..], b"{\"payload\":\"\"}\n"] {
        scene.store.put_build_record(built.sha256, record).unwrap();
        assert_eq!(scene.store.build_record(built.sha256).unwrap().as_deref(), Some(record));
    }
    let path = built.path.join("build.dsse.json");
    assert_eq!(mode(&path), 0o644);
    // The digest does not cover it.
    scene.store.open_content(built.sha256).unwrap();

    fs::remove_file(&path).unwrap();
    File::create(&path).unwrap().write_all(&vec![b' '; 65 * 1024]).unwrap();
    // Its verifier refuses the first 64 KiB and one byte.
    let read = scene.store.build_record(built.sha256).unwrap().unwrap();
    assert_eq!(read.len(), 64 * 1024 + 1);

    let missing = scene.store.put_build_record(Sha256::of(b"another"), b"{}\n").unwrap_err();
    assert!(missing.is_missing(), "{missing}");
}
