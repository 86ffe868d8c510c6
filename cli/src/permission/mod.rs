//! `toolexec permission`: ask what may be called, ask people, take their answers in, take grants back. It
//! decides nothing itself; a store that cannot be read is an error, and never a state.

mod answering;
mod asking;
mod error;
mod listing;
mod store;
mod taking_back;

use std::process::ExitCode;

use error::Undone;

use crate::failure::Failure;
use crate::options::{Permission, PermissionAct};
use crate::output::refused;

pub(crate) fn permission(asked: &Permission) -> Result<ExitCode, Failure> {
    let done = match &asked.act {
        PermissionAct::Get(asked) => asking::get(asked),
        PermissionAct::Request(asked) => asking::request(asked),
        PermissionAct::Set(asked) => answering::set(asked),
        PermissionAct::List(asked) => listing::list(asked),
        PermissionAct::Revoke(asked) => taking_back::revoke(asked),
        PermissionAct::Cleanup(asked) => taking_back::cleanup(asked),
    };
    match done {
        Ok(code) => Ok(code),
        Err(Undone::Refused(why)) => Ok(refused(&why)),
        Err(Undone::Failed(failure)) => Err(failure),
    }
}
