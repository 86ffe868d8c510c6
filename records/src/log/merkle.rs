//! The arithmetic of RFC 6962's Merkle tree: hashes, roots, proofs and their verification. Pure:
//! callers supply the hashes by position. The expected root must never come from the proof itself.

use model::{Sha256, Sha256Stream};

/// The length of a proof in the tallest possible tree.
pub(crate) const HASHES_MAX: usize = 64;

pub(crate) fn leaf_hash(entry: &[u8]) -> Sha256 {
    let mut stream = Sha256Stream::new();
    stream.update(&[0]);
    stream.update(entry);
    stream.finish()
}

pub(crate) fn node_hash(left: Sha256, right: Sha256) -> Sha256 {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(left.as_bytes());
    bytes[33..].copy_from_slice(right.as_bytes());
    Sha256::of(&bytes)
}

/// Returns the root of a perfect tree over these hashes, whose number must be a power of two.
pub(crate) fn perfect_root(hashes: &[Sha256]) -> Option<Sha256> {
    let mut row = hashes.to_vec();
    while row.len() > 1 {
        if row.len() % 2 == 1 {
            return None;
        }
        row = row.chunks_exact(2).map(|pair| node_hash(pair[0], pair[1])).collect();
    }
    row.first().copied()
}

/// The roots of a tree's perfect subtrees, largest first. Appending needs nothing else.
#[derive(Clone, Default)]
pub(crate) struct Peaks {
    size: u64,
    roots: Vec<Sha256>,
}

impl Peaks {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Appends a perfect tree of `1 << level` leaves. No peak may be smaller.
    pub(crate) fn push(&mut self, level: u32, root: Sha256) {
        let mut root = root;
        let mut bit = 1_u64 << level;
        while self.size & bit != 0 {
            match self.roots.pop() {
                Some(left) => root = node_hash(left, root),
                None => break,
            }
            bit <<= 1;
        }
        self.roots.push(root);
        self.size += 1 << level;
    }

    pub(crate) fn root(&self) -> Sha256 {
        let mut peaks = self.roots.iter().rev().copied();
        let smallest = peaks.next();
        smallest.map_or_else(
            || Sha256::of(b""),
            |smallest| peaks.fold(smallest, |right, left| node_hash(left, right)),
        )
    }
}

/// Returns the largest power of two below the size, which must be at least 2.
fn split(size: u64) -> u64 {
    1 << (63 - (size - 1).leading_zeros())
}

/// Returns the root over leaves `from..to`. `from` must be a multiple of the smallest power of two
/// that is not less than the length. `node(level, index)` is the root over `1 << level` leaves.
pub(crate) fn range_root<E>(
    from: u64,
    to: u64,
    node: &mut impl FnMut(u32, u64) -> Result<Sha256, E>,
) -> Result<Sha256, E> {
    let mut peaks = Peaks::default();
    let mut at = from;
    while at < to {
        let level = 63 - (to - at).leading_zeros();
        peaks.push(level, node(level, at >> level)?);
        at += 1 << level;
    }
    Ok(peaks.root())
}

/// Returns the audit path of a leaf, from the leaf to the root (RFC 6962, 2.1.1). `index < size`.
pub(crate) fn inclusion<E>(
    index: u64,
    size: u64,
    node: &mut impl FnMut(u32, u64) -> Result<Sha256, E>,
) -> Result<Vec<Sha256>, E> {
    let (mut from, mut to, mut path) = (0, size, Vec::new());
    while to - from > 1 {
        let middle = from + split(to - from);
        if index < middle {
            path.push(range_root(middle, to, node)?);
            to = middle;
        } else {
            path.push(range_root(from, middle, node)?);
            from = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// Returns the proof that the tree of `old` leaves is the beginning of the tree of `new` leaves
/// (RFC 6962, 2.1.2). `old <= new`; empty for equal sizes and for the empty tree.
pub(crate) fn consistency<E>(
    old: u64,
    new: u64,
    node: &mut impl FnMut(u32, u64) -> Result<Sha256, E>,
) -> Result<Vec<Sha256>, E> {
    let (mut from, mut to, mut path) = (0, new, Vec::new());
    if old == 0 || old == new {
        return Ok(path);
    }
    while old != to {
        let middle = from + split(to - from);
        if old <= middle {
            path.push(range_root(middle, to, node)?);
            to = middle;
        } else {
            path.push(range_root(from, middle, node)?);
            from = middle;
        }
    }
    // A range from the first leaf is the old root itself, which the verifier has.
    if from != 0 {
        path.push(range_root(from, to, node)?);
    }
    path.reverse();
    Ok(path)
}

/// Returns the root that a leaf and its audit path lead to; `None` if the path is invalid.
pub(crate) fn root_of_inclusion(
    leaf: Sha256,
    index: u64,
    size: u64,
    path: &[Sha256],
) -> Option<Sha256> {
    let mut last = size.checked_sub(1).filter(|last| index <= *last)?;
    let (mut at, mut root) = (index, leaf);
    for beside in path {
        if last == 0 {
            return None;
        }
        if at % 2 == 1 || at == last {
            root = node_hash(*beside, root);
            while at % 2 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            root = node_hash(root, *beside);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(root)
}

/// Returns whether the proof shows that a tree with the first size and root grew into the second.
#[must_use]
pub fn is_consistent(old: (u64, Sha256), new: (u64, Sha256), proof: &[Sha256]) -> bool {
    match old.0 {
        0 => return proof.is_empty() && old.1 == Sha256::of(b""),
        size if size == new.0 => return proof.is_empty() && old.1 == new.1,
        size if size > new.0 => return false,
        _ => {}
    }
    // A perfect old tree is a node of the larger one and is not repeated in the proof.
    let (first, rest) = match proof {
        rest if old.0.is_power_of_two() => (old.1, rest),
        [first, rest @ ..] => (*first, rest),
        [] => return false,
    };
    let skipped = (old.0 - 1).trailing_ones();
    let (mut at, mut last) = ((old.0 - 1) >> skipped, (new.0 - 1) >> skipped);
    let (mut old_root, mut new_root) = (first, first);
    for beside in rest {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            old_root = node_hash(*beside, old_root);
            new_root = node_hash(*beside, new_root);
            while at % 2 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            new_root = node_hash(new_root, *beside);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && old_root == old.1 && new_root == new.1
}
