//! Integration tests of the crate: the rendered records, the acceptance of signatures by stock
//! tools, and the detection of every change by the verifier. No test may need a network, another
//! user, or a program other than `ssh-keygen` and `openssl`; without those it reports a skip.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod attestation;
#[cfg(test)]
mod backend;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod environment;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fleet;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hidden_results;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hostile_everywhere;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod log;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod names;
#[cfg(test)]
mod negative;
#[cfg(test)]
mod network;
#[cfg(test)]
mod oracles;
#[cfg(test)]
mod passkey;
#[cfg(test)]
mod predicate;
#[cfg(test)]
mod render;
#[cfg(test)]
mod rotation;
#[cfg(test)]
mod signature;
#[cfg(test)]
#[path = "../../../tests/soft_keys/mod.rs"]
mod soft;
#[cfg(test)]
mod standing;
#[cfg(test)]
mod summary;
#[cfg(test)]
mod takeover;
#[cfg(test)]
mod unpublished;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod whole_record;
#[cfg(test)]
mod witness;
