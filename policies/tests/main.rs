//! Tests of decisions: policies, approvals, permissions, AIS and the action gate.

mod aana;
mod ais;
mod approvals;
mod backends;
mod decision;
mod environments;
mod fuzz_seeds;
mod gate_rule;
mod machines;
mod monotone;
mod openssh;
mod oracle;
mod passkeys;
mod permission_rule;
mod permissions;
mod policy;
mod preview;
mod reference;
mod scene;
mod signatures;
mod signed_action;
mod signers;
#[path = "../../tests/src/skip.rs"]
mod skip;
#[path = "../../tests/soft_keys/mod.rs"]
mod soft;
mod standing;
mod trust_stores;
mod webauthn;
