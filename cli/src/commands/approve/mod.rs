//! Commands that show a request to its approvers and sign their answers.

#[allow(clippy::module_inception, reason = "a command has the name of its group")]
pub(crate) mod approve;
pub(super) mod explain;
pub(crate) mod reject;
pub(crate) mod review;
pub(crate) mod signing;
pub(super) mod standing;
