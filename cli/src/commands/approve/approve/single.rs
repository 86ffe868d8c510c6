//! One request approved: shown, confirmed, and signed exactly as it was shown.

use std::process::ExitCode;

use model::Sha256;
use policies::{APPROVE_NAMESPACE, SignatureFile};
use validator::Violation;

use super::args::ApproveCommand;
use super::confirm::{self, confirm, refusal_reason, unseen};
use super::entitlement;
use super::new_signature::NewSignature;
use super::open_signer::open_signer;
use crate::clock;
use crate::commands::approve::review::{self, HostRules, InputTexts, ReviewData};
use crate::commands::approve::signing::{SignatureTarget, read_signatures};
use crate::failure::{Failure, with_help};
use crate::output::{self, human};

pub(crate) enum SignOutcome {
    /// The digest of the signed bytes.
    Signed(Sha256),
    NotSigned(ExitCode),
}

pub(super) fn sign(args: &ApproveCommand) -> Result<SignOutcome, Failure> {
    let (by, mut signer) = match open_signer(args)? {
        Ok(opened) => opened,
        Err(why) => return refuse(args, &why, &[]),
    };
    // The approver is shown everything that can be shown.
    let texts = InputTexts::Whole;
    let rules = HostRules::read(&args.case.rules)?;
    let approver = Some((&by, clock::now()));
    let (request, inputs) = (&args.case.request, args.case.inputs.as_deref());
    let mut case = ReviewData::read(request, inputs, rules, approver, texts)?;
    if let Some(why) = refusal_reason(&case) {
        human::print_to_stderr(&case.path, &case.bytes, &case.violations);
        let name = human::name(&case.path);
        let help = "see every reason with `toolexec explain` and the same options";
        let why = with_help(&format!("{name}: not approved: {why}"), help);
        return refuse(args, &why, &case.violations);
    }
    let target = match SignatureTarget::named(&case.path, &args.signing, "") {
        Ok(target) => target,
        Err(why) => return refuse(args, &why, &[]),
    };
    let sha256 = Sha256::of(&case.bytes);
    let subject = format!("{}\n{}", human::name(&case.path), confirm::digest_lines(&sha256));
    if !confirm(args, &review::text(&case, texts), &unseen(&case, texts), &subject, &signer)? {
        output::note(format_args!("{}: not approved", case.path.display()));
        return Ok(SignOutcome::NotSigned(ExitCode::from(1)));
    }
    let armoured = signer.sign(APPROVE_NAMESPACE, &case.bytes)?;
    let filled = case.filled.clone().unwrap_or_default();
    let mut files = read_signatures(&case.path)?;
    let file = armoured.into_bytes();
    files.push(SignatureFile { name: target.name.clone(), bytes: file.clone() });
    case.with_signature(files)?;
    if let Some(why) = entitlement::signature_problem(&case, &by, &file)? {
        let why = format!("{}: not signed: {why}", human::name(&case.path));
        let why = with_help(&why, "correct this, or sign with another key");
        return refuse(args, &why, &[]);
    }
    let signed = NewSignature { target, file, filled, fingerprint: signer.fingerprint() };
    match signed.place(case.shown()) {
        Err(error) if error.is_change() => return refuse(args, &error.to_string(), &[]),
        placed => placed?,
    }
    signed.report(args, &case)?;
    Ok(SignOutcome::Signed(Sha256::of(&case.bytes)))
}

fn refuse(args: &ApproveCommand, why: &str, rows: &[Violation]) -> Result<SignOutcome, Failure> {
    confirm::refuse(args, why, rows).map(SignOutcome::NotSigned)
}
