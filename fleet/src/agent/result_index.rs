//! The names of this host's results, by the request or the refused file that they name.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use records::{request_of, result_names};

/// The names of results, in order, by the part of them that names a request or a refused file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ResultIndex(BTreeMap<String, Vec<String>>);

impl ResultIndex {
    /// Lists a directory of results.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub(super) fn of(results: &Path) -> io::Result<Self> {
        let mut index = Self::default();
        for name in result_names(results)? {
            index.add(name);
        }
        Ok(index)
    }

    /// Adds the name of a result. Other names are ignored.
    pub(super) fn add(&mut self, name: String) {
        let Some(subject) = request_of(&name) else { return };
        let names = self.0.entry(subject.to_owned()).or_default();
        if let Err(at) = names.binary_search(&name) {
            names.insert(at, name);
        }
    }

    /// Removes a name, if it is in the index.
    pub(super) fn remove(&mut self, name: &str) {
        let Some(subject) = request_of(name) else { return };
        let Some(names) = self.0.get_mut(subject) else { return };
        names.retain(|it| it != name);
        if names.is_empty() {
            self.0.remove(subject);
        }
    }

    /// Returns the names of the results that a request may have, oldest first.
    pub(super) fn names_of(&self, request: &str, document_sha256: &str) -> Vec<String> {
        let subjects = [request.to_owned(), refused_subject(document_sha256)];
        let found = subjects.iter().filter_map(|subject| self.0.get(subject)).flatten();
        let mut found: Vec<String> = found.cloned().collect();
        found.sort();
        found
    }
}

/// Returns the part of a result's name that names a document without a usable id.
fn refused_subject(document_sha256: &str) -> String {
    format!("REFUSED-{}", document_sha256.get(..16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(names: &[&str]) -> ResultIndex {
        let mut index = ResultIndex::default();
        for name in names {
            index.add((*name).to_owned());
        }
        index
    }

    #[test]
    fn a_document_without_an_id_is_found_by_its_digest() {
        assert_eq!(refused_subject(&"ab".repeat(32)), "REFUSED-abababababababab");
        assert_eq!(refused_subject("short"), "REFUSED-");
        let digest = "ab".repeat(32);
        let refused = "TS-20261127-080002Z-REFUSED-abababababababab";
        let found = index(&[refused, "TS-20261127-080001Z-TR-1", "TS-20261127-080003Z-TR-1"]);
        let wanted = ["TS-20261127-080001Z-TR-1", refused, "TS-20261127-080003Z-TR-1"];
        assert_eq!(found.names_of("TR-1", &digest), wanted, "the oldest first");
        assert_eq!(found.names_of("TR-2", &digest), [refused]);
        assert_eq!(found.names_of("TR-1", "short"), [wanted[0], wanted[2]]);
    }

    #[test]
    fn a_name_is_added_once_and_removed_without_a_trace() {
        let name = "TS-20261127-080001Z-TR-1";
        let mut found = index(&[name, name, ".TS-20261127-080002Z-TR-1", "other", "TS-short"]);
        assert_eq!(found, index(&[name]));
        found.remove("TS-20261127-080002Z-TR-1");
        found.remove("TS-20261127-080002Z-TR-2");
        found.remove("other");
        assert_eq!(found, index(&[name]));
        found.remove(name);
        assert_eq!(found, ResultIndex::default());
    }
}
