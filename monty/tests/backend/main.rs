//! Black-box tests of `toolexec-monty`: the built program with files of a scratch directory. Where
//! a position matters that the program prints only as a traceback, its library.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps no files"
)]

mod check;
mod limits;
mod pure_code;
mod script_files;
mod scripts;
mod support;
mod tables;
