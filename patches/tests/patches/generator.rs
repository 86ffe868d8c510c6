//! Generated trees and their changes, the same ones in every run.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare fails")]

use std::collections::BTreeMap;

use patches::PatchedFileKind;

use PatchedFileKind::{Executable, Regular, Symlink};

/// The files and links of a tree, by their paths in byte order. Directories are not listed.
pub(crate) type GeneratedTree = BTreeMap<String, (PatchedFileKind, Vec<u8>)>;

/// Names that git quotes or that look special, and a name that is a file or a directory.
const NAMES: [&str; 20] = [
    "a",
    "A",
    "a b",
    "b",
    "b.txt",
    "c",
    "d",
    "d/x",
    "d/y z",
    "d/e/f",
    "d/e/g",
    "-n",
    ".hidden",
    "grün",
    "q\"q",
    "back\\slash",
    "tab\tname",
    "new\nline",
    " lead",
    "trail ",
];

/// Lines that a reader of patches may misread.
const LINES: [&[u8]; 14] = [
    b"a\n",
    b"b\n",
    b"c\n",
    b"\n",
    b"\n",
    b"  d\n",
    b"e\r\n",
    b"-- \n",
    b"--- a/x\n",
    b"+++ b/x\n",
    b"@@ -1 +1 @@\n",
    b"\\ No newline at end of file\n",
    b"diff --git a/a b/a\n",
    b"\xff\xfe\n",
];

const TARGETS: [&str; 6] = ["a", "nowhere", "../x", "d/x", "a b", "grün"];

/// The generator splitmix64.
pub(crate) struct FixedRandom(pub(crate) u64);

impl FixedRandom {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(count).unwrap()).unwrap()
    }

    fn one_of(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    pub(crate) fn tree(&mut self) -> GeneratedTree {
        let mut tree = GeneratedTree::new();
        for _ in 0..self.below(9) {
            let file = self.file();
            insert(&mut tree, self.of(&NAMES), file);
        }
        tree
    }

    /// Returns the tree after some changes.
    pub(crate) fn changed(&mut self, before: &GeneratedTree) -> GeneratedTree {
        let mut tree = GeneratedTree::new();
        for (path, (kind, bytes)) in before {
            let file = match (self.below(7), kind) {
                (0, _) => continue,
                (1, _) => self.file(),
                (2, Regular) => (Executable, bytes.clone()),
                (2, Executable) => (Regular, bytes.clone()),
                (2..=4, Symlink) => (Symlink, self.target()),
                (3 | 4, kind) => (*kind, self.edited(bytes)),
                _ => (*kind, bytes.clone()),
            };
            tree.insert(path.clone(), file);
        }
        for _ in 0..self.below(4) {
            let file = self.file();
            insert(&mut tree, self.of(&NAMES), file);
        }
        tree
    }

    fn file(&mut self) -> (PatchedFileKind, Vec<u8>) {
        match self.below(8) {
            0 => (Symlink, self.target()),
            1 | 2 => (Executable, self.content()),
            _ => (Regular, self.content()),
        }
    }

    fn target(&mut self) -> Vec<u8> {
        self.of(&TARGETS).as_bytes().to_vec()
    }

    fn content(&mut self) -> Vec<u8> {
        let length = match self.below(10) {
            0 => 0,
            1 => return self.binary(),
            2 => 200,
            _ => self.below(30),
        };
        let mut bytes = Vec::new();
        for _ in 0..length {
            bytes.extend_from_slice(self.of(&LINES));
        }
        self.without_newline(bytes)
    }

    fn binary(&mut self) -> Vec<u8> {
        let length = self.below(300);
        let mut bytes: Vec<u8> =
            (0..length).map(|_| u8::try_from(self.below(256)).unwrap()).collect();
        bytes.push(0);
        bytes
    }

    fn without_newline(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.one_of(4) && bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        bytes
    }

    /// Deletes, replaces and inserts some lines.
    fn edited(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..=self.below(4) {
            let at = self.below(lines.len() + 1);
            let is_inside = at < lines.len();
            match self.below(3) {
                0 if is_inside => {
                    lines.remove(at);
                }
                1 if is_inside => lines[at] = self.of(&LINES).to_vec(),
                _ => lines.insert(at, self.of(&LINES).to_vec()),
            }
        }
        self.without_newline(lines.concat())
    }
}

/// Adds a file, and removes the files that cannot exist beside it.
fn insert(tree: &mut GeneratedTree, path: &str, file: (PatchedFileKind, Vec<u8>)) {
    let is_below = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    tree.retain(|other, _| !is_below(other, path) && !is_below(path, other));
    tree.insert(path.to_owned(), file);
}
