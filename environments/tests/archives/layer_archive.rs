//! Writes the archive of a layer byte by byte, so that it can be wrong in any way.

use tar::{EntryType, Header};

/// The archive of a layer.
#[derive(Clone, Default)]
pub(super) struct LayerArchive(Vec<u8>);

impl LayerArchive {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn file(self, name: &str, content: &[u8]) -> Self {
        self.entry(EntryType::Regular, name.as_bytes(), b"", content)
    }

    /// A file with a mode of its own.
    pub(super) fn file_with_mode(self, name: &str, mode: u32) -> Self {
        let mut header = header(EntryType::Regular, name.as_bytes(), b"", 0);
        header.set_mode(mode);
        self.raw(header, b"")
    }

    pub(super) fn directory(self, name: &str) -> Self {
        self.entry(EntryType::Directory, name.as_bytes(), b"", b"")
    }

    pub(super) fn symlink(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Symlink, name.as_bytes(), target.as_bytes(), b"")
    }

    pub(super) fn hard_link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Link, name.as_bytes(), target.as_bytes(), b"")
    }

    /// An entry with these bytes as its name and target, at most 100 each.
    pub(super) fn entry(self, kind: EntryType, name: &[u8], target: &[u8], content: &[u8]) -> Self {
        let size = u64::try_from(content.len()).unwrap();
        self.raw(header(kind, name, target, size), content)
    }

    /// An extended header for the next entry.
    pub(super) fn pax(self, records: &[(&str, &[u8])]) -> Self {
        self.entry(EntryType::XHeader, b"PaxHeaders/x", b"", &pax_text(records))
    }

    /// An extended header for all entries.
    pub(super) fn global(self, records: &[(&str, &[u8])]) -> Self {
        self.entry(EntryType::XGlobalHeader, b"pax_global_header", b"", &pax_text(records))
    }

    /// A long name for the next entry, as GNU tar writes it.
    pub(super) fn long_name(self, name: &str) -> Self {
        let text = format!("{name}\0");
        self.entry(EntryType::GNULongName, b"././@LongLink", b"", text.as_bytes())
    }

    /// A header, which gets its checksum, and the content behind it.
    pub(super) fn raw(mut self, mut header: Header, content: &[u8]) -> Self {
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// The bytes so far, without an end.
    pub(super) fn unfinished(self) -> Vec<u8> {
        self.0
    }

    /// The archive with its end: two blocks of zeros.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

/// Returns a header with these bytes as its name and target.
pub(super) fn header(kind: EntryType, name: &[u8], target: &[u8], size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    let fields = header.as_old_mut();
    fields.name[..name.len()].copy_from_slice(name);
    fields.linkname[..target.len()].copy_from_slice(target);
    header
}

fn pax_text(records: &[(&str, &[u8])]) -> Vec<u8> {
    let mut text = Vec::new();
    for (key, value) in records {
        let rest = key.len() + value.len() + 3;
        let digits = |length: usize| length.to_string().len();
        let length = (rest..).find(|length| *length == rest + digits(*length)).unwrap();
        text.extend_from_slice(format!("{length} {key}=").as_bytes());
        text.extend_from_slice(value);
        text.push(b'\n');
    }
    text
}
