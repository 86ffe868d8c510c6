//! The file `build.json`: the facts of a build. No digest covers it: it says where an environment
//! comes from, and a run must never depend on it.

use model::{Sha256, UtcTime};
use serde::{Deserialize, Serialize};

use crate::content::{CONTENT_BYTES_MAX, NotAnEnvironment};
use crate::digest::TreeSummary;
use crate::name::{EnvironmentName, parse_digest};

const FORMAT: &str = "toolexec-build 1";
/// The number of other sources that are kept.
const OTHER_SOURCES_MAX: usize = 16;
/// The most other names: the file stays small enough to be read.
const OTHER_NAMES_MAX: usize = 512;

/// The source of an environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFacts {
    /// The kind, such as `requirements`.
    pub kind: String,
    /// The name of the lock file, the archive or the directory.
    pub file: String,
    /// The digest of the lock file, the manifest or the tree.
    pub sha256: Sha256,
}

/// The facts of a build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildFacts {
    /// The name that the operator gave to the environment.
    pub name: EnvironmentName,
    /// The source.
    pub source: SourceFacts,
    /// The time of the build.
    pub built: UtcTime,
    /// The user who built it.
    pub uid: u32,
}

impl BuildFacts {
    /// Reads the facts from the text of a `build.json`, such as that of an exported environment.
    ///
    /// # Errors
    /// The text is too large, or not a `build.json`.
    pub fn parse(text: &[u8]) -> Result<Self, NotAnEnvironment> {
        Ok(StoredBuild::parse(text)?.facts)
    }
}

/// The facts of a build, and whether they come from another store.
#[derive(Clone, Copy)]
pub(super) struct StatedBuild<'a> {
    pub(super) facts: &'a BuildFacts,
    /// Another store states the facts, and no digest covers them.
    pub(super) imported: bool,
}

/// An environment cannot get a further name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooManyNames;

/// The content of `build.json`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StoredBuild {
    pub(super) facts: BuildFacts,
    /// Another store states the facts.
    pub(super) imported: bool,
    /// The other sources from which the same environment was built in this store later.
    pub(super) other_sources: Vec<SourceFacts>,
    /// The other names under which the same environment was built later.
    pub(super) other_names: Vec<EnvironmentName>,
    pub(super) files: u64,
    pub(super) directories: u64,
    pub(super) links: u64,
    pub(super) bytes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildFile {
    format: String,
    name: String,
    other_names: Vec<String>,
    source: BuildSource,
    #[serde(default)]
    imported: bool,
    #[serde(default)]
    other_sources: Vec<BuildSource>,
    built_utc: String,
    uid: u32,
    files: u64,
    directories: u64,
    links: u64,
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildSource {
    kind: String,
    file: String,
    sha256: String,
}

impl StoredBuild {
    /// Joins the facts with the totals of the tree.
    pub(super) fn new(stated: StatedBuild<'_>, tree: &TreeSummary) -> Self {
        let &TreeSummary { files, directories, links, bytes, .. } = tree;
        Self {
            facts: stated.facts.clone(),
            imported: stated.imported,
            other_sources: Vec::new(),
            other_names: Vec::new(),
            files,
            directories,
            links,
            bytes,
        }
    }

    /// Adds the name of a later build, and its source if this store built it. Returns whether
    /// anything is new. The oldest of too many sources is dropped.
    ///
    /// # Errors
    /// The environment has too many names. References to an earlier one must stay valid.
    pub(super) fn add(&mut self, stated: StatedBuild<'_>) -> Result<bool, TooManyNames> {
        let BuildFacts { name, source, .. } = stated.facts;
        let is_named = self.facts.name == *name || self.other_names.contains(name);
        if !is_named {
            if self.other_names.len() >= OTHER_NAMES_MAX {
                return Err(TooManyNames);
            }
            self.other_names.push(name.clone());
        }
        let is_first = !self.imported && self.facts.source == *source;
        let has_source = stated.imported || is_first || self.other_sources.contains(source);
        if !has_source {
            if self.other_sources.len() >= OTHER_SOURCES_MAX {
                self.other_sources.remove(0);
            }
            self.other_sources.push(source.clone());
        }
        Ok(!(is_named && has_source))
    }

    pub(super) fn render(&self) -> String {
        let BuildFacts { name, source, built, uid } = &self.facts;
        let file = BuildFile {
            format: FORMAT.to_owned(),
            name: name.to_string(),
            other_names: self.other_names.iter().map(EnvironmentName::to_string).collect(),
            source: BuildSource::of(source),
            imported: self.imported,
            other_sources: self.other_sources.iter().map(BuildSource::of).collect(),
            built_utc: built.to_string(),
            uid: *uid,
            files: self.files,
            directories: self.directories,
            links: self.links,
            bytes: self.bytes,
        };
        // Texts and numbers are always valid JSON.
        let mut text = serde_json::to_string(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    pub(super) fn parse(text: &[u8]) -> Result<Self, NotAnEnvironment> {
        if text.len() > CONTENT_BYTES_MAX {
            return Err(NotAnEnvironment::TooLarge);
        }
        let read: Result<BuildFile, _> = serde_json::from_slice(text);
        let file = read.map_err(|error| NotAnEnvironment::Json(error.to_string()))?;
        if file.format != FORMAT {
            return Err(NotAnEnvironment::Format);
        }
        let other_names: Result<Vec<_>, _> = file.other_names.iter().map(|it| name(it)).collect();
        let facts = BuildFacts {
            name: name(&file.name)?,
            source: source(file.source)?,
            built: file.built_utc.parse().map_err(|_| wrong("built_utc", &file.built_utc))?,
            uid: file.uid,
        };
        let BuildFile { imported, other_sources, files, directories, links, bytes, .. } = file;
        let other_sources: Result<Vec<_>, _> = other_sources.into_iter().map(source).collect();
        let (other_names, other_sources) = (other_names?, other_sources?);
        Ok(Self { facts, imported, other_sources, other_names, files, directories, links, bytes })
    }
}

impl BuildSource {
    fn of(source: &SourceFacts) -> Self {
        let SourceFacts { kind, file, sha256 } = source;
        Self { kind: kind.clone(), file: file.clone(), sha256: sha256.to_string() }
    }
}

fn name(text: &str) -> Result<EnvironmentName, NotAnEnvironment> {
    text.parse().map_err(|_| wrong("name", text))
}

fn source(source: BuildSource) -> Result<SourceFacts, NotAnEnvironment> {
    let BuildSource { kind, file, sha256 } = source;
    let sha256 = parse_digest(&sha256).ok_or_else(|| wrong("source.sha256", &sha256))?;
    for (key, text) in [("source.kind", &kind), ("source.file", &file)] {
        if model::has_deceptive(text) {
            return Err(wrong(key, text));
        }
    }
    Ok(SourceFacts { kind, file, sha256 })
}

fn wrong(key: &'static str, text: &str) -> NotAnEnvironment {
    NotAnEnvironment::Entry { key, name: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_with_the_most_names_can_be_read() {
        let named = |number: usize| BuildFacts {
            name: format!("{number:0>40}").parse().unwrap(),
            source: SourceFacts {
                kind: "requirements".to_owned(),
                file: "requirements.txt".to_owned(),
                sha256: Sha256::of(b"lock"),
            },
            built: UtcTime::from_unix(0),
            uid: 0,
        };
        let sha256 = Sha256::of(b"tree");
        let tree = TreeSummary { sha256, files: 0, directories: 0, links: 0, bytes: 0 };
        let mut build = StoredBuild::new(StatedBuild { facts: &named(0), imported: false }, &tree);
        let mut add = |number| build.add(StatedBuild { facts: &named(number), imported: false });
        for number in 1..=OTHER_NAMES_MAX {
            assert_eq!(add(number), Ok(true));
        }
        assert_eq!(add(OTHER_NAMES_MAX + 1), Err(TooManyNames));
        assert_eq!(add(1), Ok(false), "it has this name");
        let read = StoredBuild::parse(build.render().as_bytes()).unwrap();
        assert_eq!(read, build);
        assert_eq!(read.other_names.len(), OTHER_NAMES_MAX);
    }
}
