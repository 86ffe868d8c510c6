//! `toolexec-monty`: runs Python code with monty, as the backend of a request.
//!
//! SECURITY. This program runs untrusted code, inside the sandbox, and relies on the sandbox for
//! everything that a defect of the interpreter would reach. The interpreter itself opens no file
//! and no socket: it asks its host, which is this program. A script gets only file operations: it
//! reads `/in`, and reads and writes `/out`. Code gets no clock, environment or network.
//!
//! `check` runs outside a sandbox, for the caller of `toolexec lint`, who limits its memory and time.
//! It evaluates single expressions of the code, and gives them no file, clock or network.
//!
//! Every limit is reported on standard error, where the code cannot write. The code can raise the
//! exceptions of a limit itself, so a reader must trust that report no more than the output.

#![forbid(unsafe_code)]

mod args;
mod commands;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: monty_alloc::LimitedAllocator = monty_alloc::LimitedAllocator;

fn main() -> ExitCode {
    commands::main()
}
