//! Delivers a signed rejection: to the spool of a daemon, or to the state of embedded runs. It must
//! never open the state of a daemon.

use std::path::{Path, PathBuf};

use model::escape_line;
use spool::{
    Spool, SpoolPaths, StandingState, SubmissionFiles, SubmitOutcome, read_stored_standing,
    write_new_file,
};
use validator::StandingApproval;

use crate::args::SigningOptions;
use crate::args::files::{named_directory, require_owner};
use crate::clock;
use crate::commands::approve::signing::SignatureTarget;
use crate::commands::approve::standing::error::StandingCommandError;
use crate::failure::Failure;
use crate::private_directory::PrivateDirectory;

/// Returns the document with its rejection, as files to submit.
pub(super) fn files(
    approval: &StandingApproval,
    signing: &SigningOptions,
    armoured: &str,
) -> Result<SubmissionFiles, StandingCommandError> {
    let directory = PrivateDirectory::create("revoke")?;
    let document = directory.path().join(format!("{}.md", approval.terms().id));
    let target = SignatureTarget::named(&document, signing, ".reject")
        .map_err(StandingCommandError::Refused)?;
    write_new_file(&document, approval.bytes())?;
    write_new_file(&target.path, armoured.as_bytes())?;
    Ok(SubmissionFiles::read(&document, None)?)
}

/// Submits the files, and returns the path of the document in the spool.
pub(super) fn submit(
    spool: &Path,
    files: &SubmissionFiles,
) -> Result<PathBuf, StandingCommandError> {
    let approved = named_directory("--spool", &spool.join("approved"))?;
    Ok(match files.submit_to(&approved, &[])? {
        SubmitOutcome::Request(path) => path,
        SubmitOutcome::Signatures { request, .. } => request,
    })
}

/// Revokes the standing approval in the state of embedded runs.
pub(super) fn revoke_embedded(
    state: &Path,
    approval: &StandingApproval,
    files: &SubmissionFiles,
    by: &str,
) -> Result<(), StandingCommandError> {
    check_embedded(state)?;
    let (reference, now) = (approval.reference(), clock::now());
    let refused = |why: &str| {
        let help = "help: list them with `toolexec standing list`";
        StandingCommandError::Refused(format!("{reference}: {why} in {}; {help}", state.display()))
    };
    let Some(mut stored) = read_stored_standing(state, &reference, now)? else {
        return Err(refused("is not stored"));
    };
    stored.signatures.extend(files.signatures().iter().cloned());
    let spool = Spool::open_embedded(&SpoolPaths {
        spool: state.to_owned(),
        results: state.join("results"),
        state: state.to_owned(),
        log: state.join("log"),
    })?;
    match spool.standing(&reference, now)? {
        None => return Err(refused("is not admitted")),
        Some(StandingState { revoked_by: Some(by), .. }) => {
            return Err(refused(&format!("was revoked before by {}", escape_line(&by))));
        }
        Some(_) => {}
    }
    let _proof = spool.revoke_standing(&stored, by, now)?;
    Ok(())
}

/// Checks that this is the state of this user's embedded runs, so that nothing is made elsewhere.
fn check_embedded(state: &Path) -> Result<(), Failure> {
    let shown = state.display();
    if !state.join("work").is_dir() {
        let help = "name the spool of the daemon with --spool";
        let why = format!("{shown}: not the state of embedded runs; help: {help}");
        return Err(Failure::Message(why));
    }
    require_owner(state)
}
