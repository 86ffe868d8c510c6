//! The files stored below `request/`, and their names. Submitters choose file names, so none may
//! prevent a record: a name that is not plain is replaced, and the record states the original.

use std::collections::BTreeSet;

use crate::statement::{RecordSubject, Statement};

/// The replacement for a request name that is not plain.
const FALLBACK_NAME: &str = "request.md";
const PLAIN_BYTES_MAX: usize = 200;
/// No file system allows longer names.
const NAME_CHARS_MAX: usize = 1000;

pub(crate) struct RequestFileRow<'a> {
    /// A plain, unique name.
    pub(crate) stored_as: String,
    /// The original name if it differs; any text.
    pub(crate) name: Option<String>,
    pub(crate) bytes: &'a [u8],
}

/// The request, then its sidecar files.
pub(crate) struct RequestFiles<'a> {
    original_name: String,
    rows: Vec<RequestFileRow<'a>>,
}

impl<'a> RequestFiles<'a> {
    pub(crate) fn of(statement: &Statement<'a>) -> Self {
        let found_as = match statement.subject {
            RecordSubject::Request(request) => format!("{}.md", request.id()),
            RecordSubject::Unusable { file_name, .. } => file_name.to_owned(),
        };
        let own = if is_plain_name(&found_as) { &found_as } else { FALLBACK_NAME };
        // Reserve every kept name before a name is generated, so that none collides with one.
        let mut taken = BTreeSet::from([own.to_owned()]);
        let beside = statement.request_files.iter();
        let kept: Vec<bool> =
            beside.map(|(name, _)| is_plain_name(name) && taken.insert(name.clone())).collect();
        let found_as = name_prefix(&found_as);
        let name = (own != found_as).then(|| found_as.clone());
        let mut rows = vec![RequestFileRow {
            stored_as: own.to_owned(),
            name,
            bytes: statement.request_bytes(),
        }];
        for ((name, bytes), kept) in statement.request_files.iter().zip(kept) {
            rows.push(match kept {
                true => RequestFileRow { stored_as: name.clone(), name: None, bytes },
                false => RequestFileRow {
                    stored_as: free_name(name, &mut taken),
                    name: Some(name_prefix(name)),
                    bytes,
                },
            });
        }
        Self { original_name: found_as, rows }
    }

    /// Returns the original name of the request; any text.
    pub(crate) fn original_name(&self) -> &str {
        &self.original_name
    }

    pub(crate) fn rows(&self) -> &[RequestFileRow<'a>] {
        &self.rows
    }

    /// Returns the files by their path in the directory of the record.
    pub(crate) fn into_files(self) -> impl Iterator<Item = (String, Vec<u8>)> {
        self.rows.into_iter().map(|row| (format!("request/{}", row.stored_as), row.bytes.to_vec()))
    }
}

/// Returns whether a name is safe in every file system, shell and reader.
fn is_plain_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte);
    !name.is_empty()
        && name.len() <= PLAIN_BYTES_MAX
        && !name.starts_with('.')
        && name.bytes().all(allowed)
}

/// Returns the first generated name that is free, and reserves it.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
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

fn name_prefix(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_few() {
        for name in ["a.md", "-x", "TR-1.md.alice@example.org+2.sig", "_", &"a".repeat(200)] {
            assert!(is_plain_name(name), "{name}");
        }
        for name in ["", ".", ".x", "a b", "a/b", "x\n", "é", "a\\b", &"a".repeat(201)] {
            assert!(!is_plain_name(name), "{name}");
        }
    }
}
