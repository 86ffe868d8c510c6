//! Support for the black-box suites: the built programs, one scratch directory per test, an acting
//! user (root or an ordinary user), valid requests, and the outputs and files of the programs.
//!
//! It knows the product only from outside: by its programs, their files and their processes. It
//! must never link a crate of ours, repair anything after a program, or leave a file, process or
//! mount behind.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod bench;
mod desk;
pub mod hostile;
pub mod pace;
mod page;
pub mod patience;
mod processes;
mod programs;
pub mod proof;
mod record;
mod request;
mod screen;
mod service;
mod skip;
mod snapshot;
mod user_range;

pub use bench::{Bench, Said};
pub use desk::{Disk, Scratch, list};
pub use page::Page;
pub use processes::{Process, is_child_of, kill, parent_of, with_word, without_word};
pub use programs::{programs, workspace};
pub use record::Record;
pub use request::{Request, RequestText};
pub use screen::Screen;
pub use service::{Asked, Service};
pub use skip::skip;
pub use snapshot::assert_snapshot;
pub use user_range::{UIDS, with_user_range};

/// Returns true if `ssh-keygen`, the independent verifier, works here. Otherwise logs a skip.
#[must_use]
pub fn ssh_keygen_works(test: &str) -> bool {
    let asked = std::process::Command::new("ssh-keygen").args(["-l", "-f", "/dev/null"]).output();
    let why = match asked {
        Ok(said) => String::from_utf8_lossy(&said.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    // For a user without a name it refuses to work and does not mention /dev/null.
    let works = why.is_empty() || why.contains("/dev/null");
    if !works {
        skip(test, &format!("ssh-keygen: {}", why.trim()));
    }
    works
}

/// Defines a test as root and a test as an ordinary user for each body `fn name(bench: &Bench)`.
#[macro_export]
macro_rules! as_both {
    ($($name:ident),* $(,)?) => {
        mod as_root {
            $(#[test]
            fn $name() {
                if let Some(bench) = $crate::Bench::of_root(concat!("as_root::", stringify!($name))) {
                    super::$name(&bench);
                }
            })*
        }
        mod as_an_ordinary_user {
            $(#[test]
            fn $name() {
                let test = concat!("as_an_ordinary_user::", stringify!($name));
                if let Some(bench) = $crate::Bench::of_an_ordinary_user(test) {
                    super::$name(&bench);
                }
            })*
        }
    };
}
