//! The rules for the targets of symbolic links. A target is only compared, never followed.

/// The targets of symbolic links that a tree may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkRule {
    /// Relative targets that stay in the tree, with `..` only at their beginning. After another
    /// name, `..` would lead out of the tree if that name were a link itself.
    Inside,
    /// Any target, as in a root file system: absolute ones count from the top, and `..` at the top
    /// stays there.
    Root,
}

impl LinkRule {
    /// Returns whether a link may have the target, `levels` directories below the top.
    pub(crate) fn allows(self, target: &str, levels: u32) -> bool {
        match self {
            Self::Root => true,
            Self::Inside => stays_inside(target, levels),
        }
    }
}

fn stays_inside(target: &str, levels: u32) -> bool {
    let mut parts = target.split('/').filter(|part| !part.is_empty() && *part != ".");
    let up = parts.by_ref().take_while(|part| *part == "..").count();
    let is_within = u32::try_from(up).is_ok_and(|up| up <= levels);
    is_within && !target.starts_with('/') && parts.all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use super::LinkRule;

    #[test]
    fn targets_that_may_leave_the_tree_are_refused() {
        let inside = |target, levels| LinkRule::Inside.allows(target, levels);
        for (target, levels) in [
            ("a", 0),
            (".", 0),
            ("./a//b/", 0),
            ("..a", 0),
            ("a/...", 0),
            ("..", 1),
            ("../..", 2),
            ("./../a", 1),
            (".././/../a", 2),
        ] {
            assert!(inside(target, levels), "{target} {levels}");
            assert!(LinkRule::Root.allows(target, levels), "{target} {levels}");
        }
        for (target, levels) in [
            ("/", 9),
            ("/a", 9),
            ("..", 0),
            ("../a", 0),
            ("../../a", 1),
            ("./../..", 1),
            ("a/..", 9),
            ("../a/../b", 9),
        ] {
            assert!(!inside(target, levels), "{target} {levels}");
            assert!(LinkRule::Root.allows(target, levels), "{target} {levels}");
        }
    }
}
