//! What is in a result directory against what its record names. Nothing that is there may be left
//! without a name, and nothing that is named may be missing.

use std::collections::BTreeSet;

use crate::fault::Fault;
use crate::tree::Tree;
use crate::verify::facts::Facts;

/// Gives how many files are as stated.
pub(super) fn compare(
    facts: &Facts,
    ours: &[String],
    tree: &Tree,
    faults: &mut Vec<Fault>,
) -> usize {
    let stated = facts.stated();
    let mut equal = 0;
    for (path, stated) in stated {
        match tree.files.get(path) {
            Some(found) if found == stated => equal += 1,
            Some(found) => {
                faults.push(Fault::Digest { path: path.clone(), found: *found, stated: *stated })
            }
            None if tree.odd.contains(path) => {}
            None => faults.push(Fault::Missing { path: path.clone() }),
        }
    }
    let extra = tree.files.keys().filter(|path| !stated.contains_key(*path));
    let extra = extra.chain(tree.own.iter().filter(|path| !ours.contains(path)));
    faults.extend(extra.map(|path| Fault::NotNamed { path: path.clone() }));
    let mut parents = BTreeSet::from(["artifacts", "request"]);
    for path in stated.keys() {
        parents.extend(path.match_indices('/').filter_map(|(at, _)| path.get(..at)));
    }
    let strays = tree.directories.iter().filter(|path| !parents.contains(path.as_str()));
    faults.extend(strays.map(|path| Fault::NotNamed { path: path.clone() }));
    equal
}
