//! Support for the black-box suites: the built programs, one scratch directory per test, an acting
//! user (root or an ordinary user), valid requests, and the outputs and files of the programs. It
//! knows the product only by its programs, their files and processes. Must never link a crate of
//! ours, repair anything after a program, or leave a file, process or mount behind.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod bench;
mod browser;
mod c_compiler;
pub mod crash_support;
mod doc_page;
mod fleet;
mod held_lock;
pub mod hostile;
mod page_shell;
mod passkeys;
mod ports;
mod postgres;
mod processes;
mod programs;
mod record;
mod request;
mod scratch;
mod screen;
mod service;
mod service_config;
mod shifted_clock;
mod skip;
pub mod slowdown;
mod snapshot;
mod ssh_keygen;
mod standing;
mod subordinate_ids;
mod terminal;
pub mod timing;

pub use bench::{Bench, CliOutput};
pub use browser::{Browser, chromium};
pub use doc_page::DocPage;
pub use fleet::{FLEET_NAMESPACE, TestFleet, TestFleetHost};
pub use held_lock::HeldLock;
pub use page_shell::{ANSWERED_PROMPTS, HOST_FILES};
pub use passkeys::ABSENT_PASSKEY;
pub use ports::unused_port;
pub use postgres::PostgresServer;
pub use processes::{
    Process, is_child_of, kill, kill_if_running, parent_of, wait_for_no_process, wait_for_process,
};
pub use programs::{programs, workspace};
pub use record::Record;
pub use request::{RequestText, SavedRequest};
pub use scratch::{ScratchDir, SmallDisk, list, remove_control_group};
pub use screen::TmuxScreen;
pub use service::Service;
pub use service_config::{ONE_SIGNATURE, ServiceConfig, edited_policy};
pub use shifted_clock::ShiftedClock;
pub use skip::skip;
pub use snapshot::assert_snapshot;
pub use ssh_keygen::sign_file;
pub use standing::{STANDING_HOST, STANDING_NAMESPACE, SavedStanding, StandingText};
pub use subordinate_ids::{RUN_UIDS, with_user_range};
pub use terminal::{at_a_terminal, at_a_terminal_with};

/// Returns true if `ssh-keygen`, the independent verifier, works here. Otherwise logs a skip.
#[must_use]
pub fn ssh_keygen_works(test: &str) -> bool {
    let result = std::process::Command::new("ssh-keygen").args(["-l", "-f", "/dev/null"]).output();
    let why = match result {
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
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
                if let Some(bench) = $crate::Bench::as_root(concat!("as_root::", stringify!($name))) {
                    super::$name(&bench);
                }
            })*
        }
        mod as_an_ordinary_user {
            $(#[test]
            fn $name() {
                let test = concat!("as_an_ordinary_user::", stringify!($name));
                if let Some(bench) = $crate::Bench::as_ordinary_user(test) {
                    super::$name(&bench);
                }
            })*
        }
    };
}
