//! Commands about the four authorization checks: policy, permission, gate and AIS.

pub(crate) mod ais;
pub(crate) mod gate;
pub(crate) mod permission;
pub(crate) mod policy;
