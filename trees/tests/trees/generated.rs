//! Generated trees: the script computes the same digest and refuses the same trees, equal digests
//! are equal trees, and nothing but the content counts. `TREES` sets their number.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare fails")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use model::Sha256;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use trees::{LinkRule, digest_content, digest_tree};

use crate::scene::{LIMITS, TreeScene, copy, digest};
use crate::script::digests_by_script;

type TestDirectory = BTreeMap<&'static str, TestNode>;

#[derive(Clone, PartialEq, Eq, Debug)]
enum TestNode {
    File { bytes: Vec<u8>, mode: u32 },
    Link(&'static str),
    Directory(TestDirectory),
}

/// Names that other orders than that of the bytes sort differently, and names that look special.
const NAMES: &[&str] = &[
    "a",
    "b",
    "B",
    "ab",
    "a.b",
    "a-b",
    "a b",
    "-rf",
    "--root",
    ".hidden",
    "...",
    " ",
    "\\",
    "a\\nb",
    "\"'",
    "*",
    "~",
    "é",
    "e\u{301}",
    "\u{fffd}",
    "\u{1f600}",
    "\u{200b}",
    "日本",
    "\u{2028}",
];

const TARGETS: &[&str] = &[
    "a",
    "b/c",
    "./a",
    "a//b/",
    "nowhere",
    ".",
    "..",
    "../a",
    "../../b",
    "../../../../../a",
    "a/../b",
    "/",
    "/etc/passwd",
];

const MODES: &[u32] = &[0o644, 0o600, 0o444, 0o755, 0o700, 0o654, 0o641];

fn directories() -> impl Strategy<Value = TestDirectory> {
    let file = (proptest::collection::vec(any::<u8>(), 0..40), select(MODES))
        .prop_map(|(bytes, mode)| TestNode::File { bytes, mode });
    let leaf = prop_oneof![8 => file, 1 => select(TARGETS).prop_map(TestNode::Link)];
    let node = leaf.prop_recursive(4, 30, 5, |inner| {
        proptest::collection::btree_map(select(NAMES), inner, 0..5).prop_map(TestNode::Directory)
    });
    proptest::collection::btree_map(select(NAMES), node, 0..7)
}

fn make(scene: &TreeScene, at: &str, directory: &TestDirectory) {
    scene.directory(at);
    for (name, node) in directory {
        let path = format!("{at}/{name}");
        match node {
            TestNode::File { bytes, mode } => scene.file(&path, bytes, *mode),
            TestNode::Link(target) => scene.link(&path, target),
            TestNode::Directory(below) => make(scene, &path, below),
        }
    }
}

/// Returns the tree as the digest sees it.
fn without_modes(directory: &TestDirectory) -> TestDirectory {
    let seen = |node: &TestNode| match node {
        TestNode::File { bytes, mode } => {
            TestNode::File { bytes: bytes.clone(), mode: u32::from(mode & 0o111 != 0) }
        }
        TestNode::Link(target) => TestNode::Link(target),
        TestNode::Directory(below) => TestNode::Directory(without_modes(below)),
    };
    directory.iter().map(|(name, node)| (*name, seen(node))).collect()
}

fn generated(count: usize) -> Vec<TestDirectory> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = directories();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

fn compare_with_script(tops: &[PathBuf], rule: LinkRule) -> usize {
    let Some(of_script) = digests_by_script(tops, rule) else { return tops.len() };
    for top in tops {
        let ours = digest(top, rule, &LIMITS);
        let ours_text = ours.as_ref().ok().map(|found| found.sha256.to_string());
        assert_eq!(of_script.get(top), ours_text.as_ref(), "{}: {ours:?}", top.display());
    }
    of_script.len()
}

#[test]
fn the_script_agrees_on_generated_trees() {
    let count = std::env::var("TREES").map_or(500, |count| count.parse().unwrap());
    let scene = TreeScene::new();
    let generated = generated(count);
    let mut tops = Vec::new();
    for (number, directory) in generated.iter().enumerate() {
        make(&scene, &number.to_string(), directory);
        tops.push(scene.path(&number.to_string()));
    }
    assert_eq!(compare_with_script(&tops, LinkRule::Root), count);
    let inside = compare_with_script(&tops, LinkRule::Inside);
    assert!((count / 10..count).contains(&inside), "{inside} of {count} trees are not refused");
    let mut seen: BTreeMap<Sha256, TestDirectory> = BTreeMap::new();
    for (top, directory) in tops.iter().zip(&generated) {
        let sha256 = digest(top, LinkRule::Root, &LIMITS).unwrap().sha256;
        let directory = without_modes(directory);
        assert_eq!(*seen.entry(sha256).or_insert_with(|| directory.clone()), directory);
    }
    let different = seen.len();
    let mut all: Vec<_> = generated.iter().map(without_modes).collect();
    all.sort_by_key(|tree| format!("{tree:?}"));
    all.dedup();
    assert_eq!(different, all.len());
}

#[test]
fn copies_of_generated_trees_have_their_digests() {
    let scene = TreeScene::new();
    for (number, directory) in generated(200).iter().enumerate() {
        make(&scene, &number.to_string(), directory);
        let from = scene.path(&number.to_string());
        for (rule, to) in [(LinkRule::Root, "root"), (LinkRule::Inside, "inside")] {
            let to = format!("{number}-{to}");
            scene.directory(&to);
            let to = scene.path(&to);
            match (copy(&from, &to, rule, &LIMITS), digest(&from, rule, &LIMITS)) {
                (Ok(copied), Ok(original)) => {
                    assert_eq!(copied, original, "{}", from.display());
                    assert_eq!(copied, digest(&to, rule, &LIMITS).unwrap(), "{}", from.display());
                }
                (Err(_), Err(_)) => assert_eq!(rule, LinkRule::Inside),
                different => panic!("{}: {different:?}", from.display()),
            }
        }
    }
}

#[test]
fn only_the_content_counts() {
    let scene = TreeScene::new();
    scene.directory("lib");
    scene.file("lib/a.py", b"same", 0o644);
    scene.file("lib/b.py", b"same", 0o444);
    let before = scene.sha256();
    let past = SystemTime::now() - Duration::from_secs(1_000_000);
    File::options().write(true).open(scene.path("lib/a.py")).unwrap().set_modified(past).unwrap();
    scene.chmod("lib/a.py", 0o600);
    scene.chmod("lib", 0o2700);
    fs::remove_file(scene.path("lib/b.py")).unwrap();
    fs::hard_link(scene.path("lib/a.py"), scene.path("lib/b.py")).unwrap();
    assert_eq!(scene.sha256(), before);
    scene.chmod("lib/a.py", 0o601);
    assert_ne!(scene.sha256(), before);
}

#[test]
fn each_file_is_reported_in_order() {
    let scene = TreeScene::new();
    scene.directory("a");
    scene.file("a/z", b"1", 0o644);
    scene.file("a-b", b"22", 0o755);
    scene.file("B", b"", 0o644);
    let mut seen = Vec::new();
    let top = File::open(&scene.top).unwrap();
    let mut see = |file: &trees::TreeFile<'_>| {
        seen.push((file.path.to_owned(), file.sha256, file.executable, file.bytes));
    };
    let summary = digest_tree(top.as_fd(), LinkRule::Inside, &LIMITS, &mut see).unwrap();
    let wanted = [
        ("B".to_owned(), Sha256::of(b""), false, 0),
        ("a/z".to_owned(), Sha256::of(b"1"), false, 1),
        ("a-b".to_owned(), Sha256::of(b"22"), true, 2),
    ];
    assert_eq!(seen, wanted);
    assert_eq!((summary.files, summary.directories, summary.bytes), (3, 1, 3));
    // The descriptor has no position of its own that a second walk could begin at.
    let again = digest_content(top.as_fd(), LinkRule::Inside, &LIMITS, &mut |_| {}).unwrap();
    assert_eq!(again, summary);
}
