//! `standing revoke`: signs a rejection of a standing approval's exact bytes, and submits it. It
//! must never report a revocation that the daemon has yet to accept.

mod args;
mod delivery;
mod document;

use std::path::Path;
use std::process::ExitCode;

use model::escape_line;
use policies::REJECT_NAMESPACE;
use serde_json::json;
use validator::{StandingApproval, reveal_line};

pub(crate) use self::args::StandingRevokeCommand;

use self::document::RevocationPlace;
use super::error::StandingCommandError;
use crate::args::Format;
use crate::commands::approve::signing::{SigningIdentity, principal};
use crate::failure::Failure;
use crate::output::{self, human};

pub(super) fn revoke(args: &StandingRevokeCommand) -> Result<ExitCode, StandingCommandError> {
    let by = principal(&args.signing.principal)?;
    if args.reason.trim().is_empty() {
        return Err(Failure::Message("--reason: empty; help: write why".into()).into());
    }
    let place = RevocationPlace::of(args)?;
    let approval = document::find(args, &place)?;
    let mut signer = SigningIdentity::open(&args.signing)?;
    let armoured = signer.sign(REJECT_NAMESPACE, approval.bytes())?;
    let files = delivery::files(&approval, &args.signing, &armoured)?;
    let fingerprint = signer.fingerprint();
    let submitted = match &place {
        RevocationPlace::Spool(spool) => Some(delivery::submit(spool, &files)?),
        RevocationPlace::Embedded(state) => {
            let by = format!("{} with key {fingerprint}", escape_line(by.as_str()));
            delivery::revoke_embedded(state, &approval, &files, &by)?;
            None
        }
    };
    match args.format {
        Format::Human => print_human(args, &approval, &fingerprint, submitted.as_deref())?,
        Format::Json => output::line(json!({
            "standing_id": approval.terms().id.as_str(),
            "reference": approval.reference().to_string(),
            "submitted": submitted.as_deref().map(output::path),
            "principal": by.as_str(),
            "fingerprint": fingerprint,
            "reason": args.reason.trim(),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print_human(
    args: &StandingRevokeCommand,
    approval: &StandingApproval,
    fingerprint: &str,
    submitted: Option<&Path>,
) -> Result<(), Failure> {
    let (id, by) = (&approval.terms().id, reveal_line(&args.signing.principal));
    let reason = reveal_line(args.reason.trim());
    match submitted {
        Some(path) => {
            let path = human::name(path);
            output::line(format_args!("{id}: rejection by {by} {fingerprint} submitted: {path}"))?;
            output::line(format_args!("{id}: reason, not submitted: {reason}"))?;
            output::stderr_line("The daemon revokes it when it has accepted the signature.");
            Ok(())
        }
        None => {
            output::line(format_args!("{id}: revoked by {by} {fingerprint}"))?;
            output::line(format_args!("{id}: reason, not stored: {reason}"))
        }
    }
}
