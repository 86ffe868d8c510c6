//! A disk in memory: the current names and contents, and those that would survive a power failure.
//! Unsynced data may be lost: contents in any way, and names either in reverse order on each file
//! system or in any order, as the test selects.

use std::collections::BTreeMap;

/// The guarantee of a file system for names that are not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameLoss {
    /// They are lost in the reverse order of their creation.
    InOrder,
    /// Any of them may be lost.
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NameOp {
    Create(String, usize),
    Remove(String),
    Rename(String, String),
}

#[derive(Clone, Debug, Default)]
struct ModelContent {
    now: String,
    synced: String,
}

type NameTree = BTreeMap<String, usize>;

/// A simulated disk. The first component of a path names its file system.
#[derive(Clone, Debug)]
pub(crate) struct ModelDisk {
    names: NameLoss,
    now: NameTree,
    synced: NameTree,
    pending: Vec<NameOp>,
    contents: Vec<ModelContent>,
}

/// A source of random numbers that decide which data is lost.
pub(crate) struct ModelRandom(pub(crate) u64);

impl ModelRandom {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The splitmix64 algorithm, as published.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap() % bound.max(1)
    }
}

fn file_system(path: &str) -> &str {
    path.split('/').next().unwrap()
}

fn apply(tree: &mut NameTree, op: &NameOp) {
    match op {
        NameOp::Create(path, file) => {
            tree.insert(path.clone(), *file);
        }
        NameOp::Remove(path) => {
            tree.remove(path);
        }
        NameOp::Rename(from, to) => {
            let below = format!("{from}/");
            let moved: Vec<String> =
                tree.keys().filter(|it| *it == from || it.starts_with(&below)).cloned().collect();
            for path in moved {
                let file = tree.remove(&path).unwrap();
                tree.insert(format!("{to}{}", &path[from.len()..]), file);
            }
        }
    }
}

impl ModelDisk {
    pub(crate) fn new(names: NameLoss) -> Self {
        let (now, synced) = (NameTree::new(), NameTree::new());
        Self { names, now, synced, pending: Vec::new(), contents: Vec::new() }
    }

    fn change(&mut self, op: NameOp) {
        apply(&mut self.now, &op);
        self.pending.push(op);
    }

    pub(crate) fn create(&mut self, path: &str, content: &str) {
        assert!(!self.now.contains_key(path), "{path} already exists");
        self.contents.push(ModelContent { now: content.to_owned(), synced: String::new() });
        self.change(NameOp::Create(path.to_owned(), self.contents.len() - 1));
    }

    pub(crate) fn append(&mut self, path: &str, text: &str) {
        let file = self.now[path];
        self.contents[file].now.push_str(text);
    }

    pub(crate) fn cut_unfinished_line(&mut self, path: &str) {
        let content = &mut self.contents[self.now[path]].now;
        let whole = content.rfind('\n').map_or(0, |at| at + 1);
        content.truncate(whole);
    }

    pub(crate) fn remove(&mut self, path: &str) {
        if self.now.contains_key(path) {
            self.change(NameOp::Remove(path.to_owned()));
        }
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        assert!(!self.is_there(to), "{to} already exists");
        self.change(NameOp::Rename(from.to_owned(), to.to_owned()));
    }

    pub(crate) fn is_there(&self, path: &str) -> bool {
        self.now.contains_key(path) || !self.below(path).is_empty()
    }

    pub(crate) fn below(&self, directory: &str) -> Vec<String> {
        let below = format!("{directory}/");
        self.now.keys().filter(|path| path.starts_with(&below)).cloned().collect()
    }

    pub(crate) fn list(&self, directory: &str) -> Vec<String> {
        let names = self.below(directory).into_iter();
        let mut names: Vec<String> = names
            .map(|path| path[directory.len() + 1..].split('/').next().unwrap().to_owned())
            .collect();
        names.dedup();
        names
    }

    pub(crate) fn read(&self, path: &str) -> Option<&str> {
        Some(self.contents[*self.now.get(path)?].now.as_str())
    }

    pub(crate) fn file(&self, path: &str) -> Option<usize> {
        self.now.get(path).copied()
    }

    /// Returns the part of a file that would survive, under any name.
    pub(crate) fn read_synced(&self, path: &str) -> Option<&str> {
        Some(self.contents[*self.synced.get(path)?].synced.as_str())
    }

    pub(crate) fn sync_content(&mut self, path: &str) {
        let content = &mut self.contents[self.now[path]];
        content.synced = content.now.clone();
    }

    /// The barrier: syncs every file system.
    pub(crate) fn barrier(&mut self) {
        for content in &mut self.contents {
            content.synced = content.now.clone();
        }
        self.synced = self.now.clone();
        self.pending.clear();
    }

    /// Simulates a power failure.
    pub(crate) fn lose(&mut self, chance: &mut ModelRandom) {
        let mut systems: Vec<String> = Vec::new();
        let mut kept = Vec::new();
        for (at, op) in self.pending.iter().enumerate() {
            let (NameOp::Create(path, _) | NameOp::Remove(path) | NameOp::Rename(path, _)) = op;
            let system = file_system(path).to_owned();
            let lost = systems.contains(&system) || chance.below(4) == 0;
            match (lost, self.names) {
                (true, NameLoss::InOrder) => systems.push(system),
                (true, NameLoss::Any) => {}
                (false, _) => kept.push(at),
            }
        }
        let mut tree = self.synced.clone();
        for at in kept {
            apply(&mut tree, &self.pending[at]);
        }
        for content in &mut self.contents {
            if content.now != content.synced {
                content.now = match chance.below(3) {
                    0 => content.synced.clone(),
                    1 => content.now.clone(),
                    _ => {
                        let least = content.synced.len();
                        let more = chance.below(content.now.len() - least);
                        content.now[..least + more].to_owned()
                    }
                };
            }
        }
        self.now = tree;
        self.barrier();
    }

    /// Returns all visible names and contents, for comparison.
    pub(crate) fn seen(&self) -> Vec<(String, String)> {
        let content =
            |(path, file): (&String, &usize)| (path.clone(), self.contents[*file].now.clone());
        self.now.iter().map(content).collect()
    }
}
