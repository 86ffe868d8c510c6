//! `toolexec approve`: shows complete requests, asks, and signs exactly the bytes that were shown. It
//! never signs bytes that were not shown or that changed meanwhile. It fills in an empty approval but
//! changes no other byte, and never overwrites a signature.

mod args;
mod batch;
mod confirm;
mod entitlement;
mod new_signature;
mod single;

use std::process::ExitCode;

use crate::failure::Failure;

pub(crate) use args::ApproveCommand;
pub(crate) use single::{SignOutcome, sign};

pub(in crate::commands) fn approve(args: &ApproveCommand) -> Result<ExitCode, Failure> {
    if !args.more.is_empty() {
        return batch::approve(args);
    }
    Ok(match sign(args)? {
        SignOutcome::Signed(_) => ExitCode::SUCCESS,
        SignOutcome::NotSigned(code) => code,
    })
}
