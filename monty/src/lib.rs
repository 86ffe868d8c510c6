//! The Python of the monty backend: compiles and runs one program with monty, a subset of Python
//! written in Rust. Pure code has no files; a script has `/in` and `/out`. The interpreter can
//! reach nothing else, because this library answers each of its host calls. It must never add a
//! host function, and must report every limit, error and unwritten byte.

#![forbid(unsafe_code)]

mod check;
mod directories;
mod failure;
mod inputs;
mod limits;
mod printer;
mod program;
mod source;
mod value;

pub use check::{CodeProblem, check};
pub use directories::ScriptDirectories;
pub use failure::MontyFailure;
pub use inputs::ProgramInputs;
pub use limits::InterpreterLimits;
pub use program::PythonProgram;
pub use source::PythonSource;
pub use value::write_result;
