//! The checked path of an entry: relative, without `.` and `..`, and within the limits.

use model::quote;

use super::limits::UnpackLimits;
use crate::error::UnpackError;
use crate::fault::{EntryFault, ExceededLimit};

/// No file system of Linux holds a longer part of a path.
const PART_BYTES_MAX: usize = 255;

/// A path inside the unpacked tree. The top is the empty path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EntryPath(String);

impl EntryPath {
    /// Checks a name of an archive.
    pub(crate) fn parse(name: &[u8], limits: &UnpackLimits) -> Result<Self, UnpackError> {
        let refuse = |fault| UnpackError::entry(name, fault);
        let text = std::str::from_utf8(name).map_err(|_| refuse(EntryFault::NameNotUtf8))?;
        if text.len() > limits.path_bytes_max {
            let most = u64::try_from(limits.path_bytes_max).unwrap_or(u64::MAX);
            return Err(limit(text, ExceededLimit::PathBytes, most));
        }
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        check_parts(text, &parts).map_err(refuse)?;
        if u32::try_from(parts.len()).unwrap_or(u32::MAX) > limits.depth_max {
            return Err(limit(text, ExceededLimit::Depth, limits.depth_max.into()));
        }
        Ok(Self(parts.join("/")))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_top(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of the directory of this entry; empty for the top.
    pub(super) fn parent(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(parent, _)| parent)
    }

    /// The last part.
    pub(super) fn last(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.0.as_str(), |(_, last)| last)
    }

    /// The path of another name in the same directory, unless it is none.
    pub(super) fn beside(&self, name: &str) -> Option<Self> {
        match (name, self.parent()) {
            ("" | "." | "..", _) => None,
            (name, "") => Some(Self(name.to_owned())),
            (name, parent) => Some(Self(format!("{parent}/{name}"))),
        }
    }

    /// The error for this entry.
    pub(super) fn refused(&self, fault: EntryFault) -> UnpackError {
        UnpackError::entry(self.0.as_bytes(), fault)
    }

    /// The path as messages show it.
    pub(crate) fn shown(&self) -> String {
        quote(&self.0)
    }
}

fn check_parts(text: &str, parts: &[&str]) -> Result<(), EntryFault> {
    if text.is_empty() {
        return Err(EntryFault::EmptyName);
    }
    if text.starts_with('/') {
        return Err(EntryFault::AbsoluteName);
    }
    if text.chars().any(char::is_control) {
        return Err(EntryFault::NameControl);
    }
    if parts.contains(&"..") {
        return Err(EntryFault::ParentName);
    }
    match parts.iter().any(|part| part.len() > PART_BYTES_MAX) {
        true => Err(EntryFault::LongPart),
        false => Ok(()),
    }
}

fn limit(text: &str, limit: ExceededLimit, most: u64) -> UnpackError {
    UnpackError::Limit { object: quote(text), limit, most }
}
