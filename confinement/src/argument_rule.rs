//! A condition on one argument of a system call.

use libc::c_int;
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition};

/// A condition on the low 32 bits of one argument of a system call. Arguments count from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgumentRule {
    argument: u8,
    /// The bits that are compared, or all.
    mask: Option<c_int>,
    value: c_int,
}

impl ArgumentRule {
    /// Returns the condition that the argument has this value.
    #[must_use]
    pub const fn equal(argument: u8, value: c_int) -> Self {
        Self { argument, mask: None, value }
    }

    /// Returns the condition that the argument has this value in the bits of a mask.
    #[must_use]
    pub const fn masked(argument: u8, mask: c_int, value: c_int) -> Self {
        Self { argument, mask: Some(mask), value }
    }

    pub(crate) fn condition(self) -> Result<SeccompCondition, BackendError> {
        let comparison = match self.mask {
            None => SeccompCmpOp::Eq,
            Some(mask) => SeccompCmpOp::MaskedEq(mask.unsigned_abs().into()),
        };
        let value = self.value.unsigned_abs().into();
        SeccompCondition::new(self.argument, SeccompCmpArgLen::Dword, comparison, value)
    }
}
