//! Commands about the four authorization checks: policy, permission, gate and AIS.

pub(super) mod ais;
pub(super) mod gate;
pub(super) mod permission;
pub(super) mod policy;
