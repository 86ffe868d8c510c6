//! `toolexec approve`: shows complete requests or a standing approval, asks, and signs exactly the
//! bytes that were shown. It never signs bytes that were not shown or that changed meanwhile. It
//! fills in an empty approval but changes no other byte, and never overwrites a signature.

mod args;
mod batch;
mod confirm;
mod entitlement;
mod new_signature;
mod open_signer;
mod single;
mod standing;

use std::process::ExitCode;

use crate::commands::approve::review::is_standing_file;
use crate::failure::Failure;

pub(crate) use args::ApproveCommand;
pub(crate) use single::SignOutcome;

pub(in crate::commands) fn approve(args: &ApproveCommand) -> Result<ExitCode, Failure> {
    if !args.more.is_empty() {
        return batch::approve(args);
    }
    Ok(match sign(args)? {
        SignOutcome::Signed(_) => ExitCode::SUCCESS,
        SignOutcome::NotSigned(code) => code,
    })
}

/// Signs a request or a standing approval. Returns the digest, so that a caller continues with the
/// signed bytes only.
pub(crate) fn sign(args: &ApproveCommand) -> Result<SignOutcome, Failure> {
    match is_standing_file(&args.case.request) {
        true => standing::sign(args),
        false => single::sign(args),
    }
}
