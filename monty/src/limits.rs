//! The limits of one run. The interpreter enforces time and recursion itself, and memory with the
//! allocator of the program. Must never run code without a limit of time and memory.

use std::time::Duration;

use monty_types::{ExcType, MontyException, ResourceLimits};

use crate::failure::MontyFailure;

/// Nested calls of Python functions. The stack of the interpreter's thread has room for them.
const RECURSION_MAX: usize = 1000;

/// The limits that the command line sets.
#[derive(Clone, Copy, Debug)]
pub struct InterpreterLimits {
    /// The time that the code may compute, in milliseconds. File operations are not counted.
    pub time_ms: u64,
    /// The memory that the program may allocate after its start, in MiB.
    pub memory_mb: u32,
}

impl InterpreterLimits {
    /// Arms the allocator. Reading and compiling the code counts from here on.
    ///
    /// # Errors
    /// `Internal` in a program whose global allocator is not that of `monty-alloc`.
    pub fn arm(self) -> Result<(), MontyFailure> {
        monty_alloc::set_limit(Some(self.memory_bytes()), false)
            .map_err(|why| MontyFailure::Internal(format!("memory limit: {why}")))
    }

    pub(crate) fn memory_bytes(self) -> usize {
        usize::try_from(self.memory_mb).unwrap_or(usize::MAX).saturating_mul(1 << 20)
    }

    pub(crate) fn resources(self) -> ResourceLimits {
        ResourceLimits::default()
            .max_duration(Duration::from_millis(self.time_ms))
            .max_memory(self.memory_bytes())
            .max_recursion_depth(RECURSION_MAX)
    }

    /// Describes an exception that ended the code, and the limit behind it.
    pub(crate) fn failure(self, raised: MontyException, elapsed: Duration) -> MontyFailure {
        let limit = self.reached(&raised, elapsed);
        MontyFailure::Raised { raised: Box::new(raised), limit }
    }

    /// Names the limit behind an exception. Code can raise the same exceptions with the same
    /// texts, so the message is a statement of the code, as its output is.
    fn reached(self, raised: &MontyException, elapsed: Duration) -> Option<String> {
        let begins = |text: &str| raised.message().is_some_and(|it| it.starts_with(text));
        match raised.exc_type() {
            ExcType::TimeoutError
                if begins("time limit exceeded: ")
                    && elapsed >= Duration::from_millis(self.time_ms) =>
            {
                let help = "let the code do less, or request more time";
                Some(format!("time limit of {} ms reached; help: {help}", self.time_ms))
            }
            ExcType::MemoryError if begins("memory limit exceeded: ") => {
                let help = "let the code hold less at once, or request more memory";
                Some(format!("memory limit of {} MiB reached; help: {help}", self.memory_mb))
            }
            ExcType::RecursionError if begins("maximum recursion depth exceeded") => {
                let help = "write a loop; sort keys and `__repr__` may nest only 12 calls";
                Some(format!("recursion limit of {RECURSION_MAX} calls reached; help: {help}"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(kind: ExcType, message: &str, elapsed_ms: u64) -> Option<String> {
        let limits = InterpreterLimits { time_ms: 50, memory_mb: 16 };
        let raised = MontyException::new(kind, Some(message.to_owned()));
        limits.reached(&raised, Duration::from_millis(elapsed_ms))
    }

    #[test]
    fn each_limit_has_its_own_first_word() {
        let first = |kind, message| {
            let limit = reached(kind, message, 60).unwrap();
            limit.split(' ').next().unwrap().to_owned()
        };
        assert_eq!(first(ExcType::TimeoutError, "time limit exceeded: 60ms > 50ms"), "time");
        assert_eq!(first(ExcType::MemoryError, "memory limit exceeded: 2 bytes > 1"), "memory");
        assert_eq!(first(ExcType::RecursionError, "maximum recursion depth exceeded"), "recursion");
    }

    #[test]
    fn an_exception_of_the_code_is_not_a_limit() {
        assert_eq!(reached(ExcType::TimeoutError, "time limit exceeded: no", 40), None);
        assert_eq!(reached(ExcType::TimeoutError, "of the code", 60), None);
        assert_eq!(reached(ExcType::MemoryError, "of the code", 60), None);
        assert_eq!(reached(ExcType::ValueError, "memory limit exceeded: ", 60), None);
    }
}
