//! The records crate from outside: what it renders, whether stock tools accept its signatures, and
//! whether its verifier finds each thing that was changed. Nothing here may need a network, another
//! user, or a program beyond `ssh-keygen` and `openssl`, whose absence is told as a skip.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod attestation;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod gathered;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod log;
#[cfg(test)]
mod names;
#[cfg(test)]
mod nasty;
#[cfg(test)]
mod negative;
#[cfg(test)]
mod network;
#[cfg(test)]
mod oracles;
#[cfg(test)]
mod predicate;
#[cfg(test)]
mod render;
#[cfg(test)]
mod rotation;
#[cfg(test)]
mod signature;
#[cfg(test)]
mod summary;
#[cfg(test)]
mod takeover;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod whole;
