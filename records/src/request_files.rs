//! What is stored under `request/`, and under which name. Anybody who may drop a file chooses its
//! name, so no name may keep a record from being made; one that is not plain gives way to a plain
//! one and stays as a fact beside it.

use std::collections::BTreeSet;

use crate::statement::{Statement, Subject};

/// Stands for the name of a request that cannot be a file name here.
const NAMELESS: &str = "request.md";
const PLAIN_BYTES_MAX: usize = 200;
/// File systems have no longer names.
const NAME_CHARS_MAX: usize = 1000;

/// One file under `request/`.
pub(crate) struct Row<'a> {
    /// A plain name, and the only one of its kind.
    pub(crate) stored_as: String,
    /// The name where it was found, if it is another: any text.
    pub(crate) name: Option<String>,
    pub(crate) bytes: &'a [u8],
}

/// The request itself first, then what lay beside it.
pub(crate) struct RequestFiles<'a> {
    found_as: String,
    rows: Vec<Row<'a>>,
}

impl<'a> RequestFiles<'a> {
    pub(crate) fn of(says: &Statement<'a>) -> Self {
        let found_as = match says.subject {
            Subject::Request(request) => format!("{}.md", request.id()),
            Subject::Unusable { file_name, .. } => file_name.to_owned(),
        };
        let own = if plain(&found_as) { &found_as } else { NAMELESS };
        // Every name that is kept is taken before one is made up: none gives way to a made-up one.
        let mut taken = BTreeSet::from([own.to_owned()]);
        let beside = says.request_files.iter();
        let kept: Vec<bool> =
            beside.map(|(name, _)| plain(name) && taken.insert(name.clone())).collect();
        let found_as = head(&found_as);
        let name = (own != found_as).then(|| found_as.clone());
        let mut rows = vec![Row { stored_as: own.to_owned(), name, bytes: says.request_bytes() }];
        for ((name, bytes), kept) in says.request_files.iter().zip(kept) {
            rows.push(match kept {
                true => Row { stored_as: name.clone(), name: None, bytes },
                false => Row { stored_as: free(name, &mut taken), name: Some(head(name)), bytes },
            });
        }
        Self { found_as, rows }
    }

    /// The request's name where it was found: any text.
    pub(crate) fn found_as(&self) -> &str {
        &self.found_as
    }

    pub(crate) fn rows(&self) -> &[Row<'a>] {
        &self.rows
    }

    /// The files by their path in the directory of the record.
    pub(crate) fn into_files(self) -> impl Iterator<Item = (String, Vec<u8>)> {
        self.rows.into_iter().map(|row| (format!("request/{}", row.stored_as), row.bytes.to_vec()))
    }
}

/// A name that every file system, shell and reader takes for what it is.
fn plain(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte);
    !name.is_empty()
        && name.len() <= PLAIN_BYTES_MAX
        && !name.starts_with('.')
        && name.bytes().all(allowed)
}

/// The first made-up name of its kind that is not taken; it is then.
fn free(name: &str, taken: &mut BTreeSet<String>) -> String {
    let (kind, ending) = if name.ends_with(".sig") { ("signature", ".sig") } else { ("file", "") };
    let mut number: u64 = 1;
    loop {
        let made = format!("{kind}-{number}{ending}");
        if taken.insert(made.clone()) {
            return made;
        }
        number += 1;
    }
}

fn head(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_few() {
        for name in ["a.md", "-x", "TR-1.md.alice@example.org+2.sig", "_", &"a".repeat(200)] {
            assert!(plain(name), "{name}");
        }
        for name in ["", ".", ".x", "a b", "a/b", "x\n", "é", "a\\b", &"a".repeat(201)] {
            assert!(!plain(name), "{name}");
        }
    }
}
