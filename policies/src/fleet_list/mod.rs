//! The list of a fleet: its hosts with their labels and keys, signed by an operator. A host must
//! never use a list whose signature does not count. The order that declares a host lost is signed
//! in the same namespace.
//!
//! Start with [`SignedFleetList::read`]; [`FleetList::parse`] reads the text alone. Key lines of
//! logs and witnesses are compared as texts here; `records` reads them.

mod check;
mod lost_order;
mod model;
mod raw;
mod serial;
mod signature;
mod signed;
#[cfg(test)]
mod tests;

pub use self::model::{FLEET_LIST_BYTES_MAX, FleetList, FleetListHost};
pub use lost_order::{CountedFleetLostOrder, FleetLostOrder, FleetLostOrderError};
pub use serial::{FLEET_LIST_SERIAL_BYTES_MAX, FleetListSerial, FleetListSerialError};
pub use signature::FleetSignatureError;
pub use signed::{FleetListError, SignedFleetList};
