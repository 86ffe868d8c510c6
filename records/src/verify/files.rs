//! Compares a result directory with the files that its record names, in both directions.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;

use rustix::fs::AtFlags;
use serde_json::Value;

use crate::tree::ResultTree;
use crate::verify::facts::RecordFacts;
use crate::verify::inconsistency::number;
use crate::verify_error::VerifyError;

/// Returns the number of files with the stated digest.
pub(super) fn compare(
    facts: &RecordFacts,
    ours: &[String],
    tree: &ResultTree,
    faults: &mut Vec<VerifyError>,
) -> usize {
    let stated = facts.stated();
    let mut equal = 0;
    for (path, stated) in stated {
        match tree.files.get(path) {
            Some(found) if found == stated => equal += 1,
            Some(found) => faults.push(VerifyError::Digest {
                path: path.clone(),
                found: *found,
                stated: *stated,
            }),
            None if tree.unhashed.contains(path) => {}
            None => faults.push(VerifyError::Missing { path: path.clone() }),
        }
    }
    let extra = tree.files.keys().filter(|path| !stated.contains_key(*path));
    let extra = extra.chain(tree.own_files.iter().filter(|path| !ours.contains(path)));
    faults.extend(extra.map(|path| VerifyError::NotNamed { path: path.clone() }));
    let mut parents = BTreeSet::from(["artifacts", "request"]);
    for path in stated.keys() {
        parents.extend(path.match_indices('/').filter_map(|(at, _)| path.get(..at)));
    }
    let strays = tree.directories.iter().filter(|path| !parents.contains(path.as_str()));
    faults.extend(strays.map(|path| VerifyError::NotNamed { path: path.clone() }));
    equal
}

/// Checks the stated sizes of files whose digest is correct.
pub(super) fn sizes(
    file: &str,
    front: &Value,
    facts: &RecordFacts,
    (root, tree): (BorrowedFd<'_>, &ResultTree),
) -> Vec<VerifyError> {
    let streams = ["stdout", "stderr"]
        .map(|name| (name.to_owned(), "kept_bytes", number(&front["streams"][name]["kept_bytes"])));
    let rows = |key: &str, below: &'static str| {
        let rows = front[key].as_array().into_iter().flatten();
        rows.filter_map(move |row| {
            let path = format!("{below}{}", row["path"].as_str()?);
            Some((path, "size_bytes", number(&row["size_bytes"])))
        })
    };
    let all = streams.into_iter().chain(rows("artifacts", "artifacts/")).chain(rows("files", ""));
    let wrong = all.filter_map(|(path, key, stated)| {
        let stated = stated?;
        let known = facts.stated().get(&path)?;
        if tree.files.get(&path) != Some(known) {
            return None;
        }
        let stat = rustix::fs::statat(root, path.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is = u64::try_from(stat.st_size).ok()?;
        (is != stated).then(|| format!("{key} of {path} is {stated} and the file has {is} bytes"))
    });
    wrong.map(|what| VerifyError::Inconsistency { file: file.to_owned(), what }).collect()
}
