//! The collector's messages to the daemon, with the counts that end a walk.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use model::RejectReason;

use super::access::PATH_BYTES_MAX;
use crate::messages::EvidenceMessage;
use crate::plan::CHANGES_MAX;
use crate::wire;

/// The most rejections that are sent; the walk then ends as incomplete.
const REJECTED_MAX: u32 = 1000;

/// The socket to the daemon, and the numbers of rejections and differences sent so far.
pub(super) struct EvidenceSender<'a> {
    evidence: &'a OwnedFd,
    rejected: u32,
    changes: u32,
}

impl<'a> EvidenceSender<'a> {
    pub(super) fn new(evidence: &'a OwnedFd) -> Self {
        Self { evidence, rejected: 0, changes: 0 }
    }

    pub(super) fn file(&self, path: &[u8], mode: u32, file: &OwnedFd) -> io::Result<()> {
        self.send(&EvidenceMessage::File { path: path.to_vec(), mode }, Some(file))
    }

    pub(super) fn rejected(&mut self, path: &[u8], reason: RejectReason) -> io::Result<()> {
        self.rejected += 1;
        let path = path[..path.len().min(PATH_BYTES_MAX)].to_vec();
        self.send(&EvidenceMessage::Rejected { path, reason }, None)
    }

    /// Returns whether the walk must end because of the rejections.
    pub(super) fn has_too_many_rejections(&self) -> bool {
        self.rejected > REJECTED_MAX
    }

    /// Counts one more difference. Returns false if it is above the maximum, and is not sent.
    pub(super) fn count_change(&mut self) -> bool {
        let few = self.changes < CHANGES_MAX;
        self.changes += u32::from(few);
        few
    }

    pub(super) fn changed(&self, path: &[u8], mode: u32, file: &OwnedFd) -> io::Result<()> {
        self.send(&EvidenceMessage::Changed { path: path.to_vec(), mode }, Some(file))
    }

    pub(super) fn removed(&self, path: &[u8]) -> io::Result<()> {
        self.send(&EvidenceMessage::Removed { path: path.to_vec() }, None)
    }

    pub(super) fn end(&self, complete: bool) -> io::Result<()> {
        self.send(&EvidenceMessage::End { complete }, None)
    }

    fn send(&self, message: &EvidenceMessage, file: Option<&OwnedFd>) -> io::Result<()> {
        let fds: Vec<_> = file.map(AsFd::as_fd).into_iter().collect();
        wire::send(self.evidence, &message.encode(), &fds)
    }
}
