//! The file `facts` beside a stored input tree. A torn file must never be read as facts.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use model::Sha256;
use rustix::fs::{Mode, OFlags, open};

const FORMAT: &str = "toolexec-input-tree 1";
const FACTS_BYTES_MAX: u64 = 1024;

/// The facts of a stored tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InputTreeFacts {
    /// The kernel's id of the boot in which the tree was copied.
    pub(super) boot: String,
    /// The stamp of the tree right after its digest was computed.
    pub(super) stamp: Sha256,
    /// The bytes of its files.
    pub(super) bytes: u64,
    /// The number of its files, directories and links.
    pub(super) entries: u64,
}

impl InputTreeFacts {
    pub(super) fn render(&self) -> String {
        let Self { boot, stamp, bytes, entries } = self;
        format!("{FORMAT}\n{boot}\n{stamp}\n{bytes}\n{entries}\n")
    }

    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(path, flags, Mode::empty())?);
        let mut text = String::new();
        file.take(FACTS_BYTES_MAX).read_to_string(&mut text)?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "not the facts of a tree");
        Self::parse(&text).ok_or_else(wrong)
    }

    fn parse(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
        let [format, boot, stamp, bytes, entries] = lines.as_slice() else { return None };
        let boot = (*format == FORMAT).then(|| (*boot).to_owned())?;
        Some(Self {
            boot,
            stamp: stamp.parse().ok()?,
            bytes: bytes.parse().ok()?,
            entries: entries.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_text_states_facts() {
        let (boot, stamp) = ("boot".to_owned(), Sha256::of(b"stamp"));
        let facts = InputTreeFacts { boot, stamp, bytes: 1234, entries: 56 };
        let text = facts.render();
        assert_eq!(InputTreeFacts::parse(&text), Some(facts));
        for length in 0..text.len() {
            assert_eq!(InputTreeFacts::parse(&text[..length]), None, "{length}");
        }
        assert_eq!(InputTreeFacts::parse(&format!("{text}\n")), None);
    }
}
