//! Standing approvals: whether a request is one that a signed document admits, and whether the
//! document may be used once more. Both are pure and compare parsed values. A value that the
//! document does not state is refused. This module must depend on nothing but `model` and `validator`.

mod admits;
mod difference;
mod standing_use;
mod uses;

pub(crate) use admits::compare;
pub use admits::{InputSize, admits, check_sizes};
pub use difference::{StandingDifference, StandingLimit};
pub use standing_use::StandingUse;
pub use uses::{StandingUses, UseRefusal, check_use};
