//! Approvals, policies, permissions, AIS artifacts and the action gate, through the programs.

mod ais;
mod approving;
mod authority;
mod daemon_approvals;
mod gate;
mod permission;
mod published_uses;
mod signed_actions;
mod standing;
