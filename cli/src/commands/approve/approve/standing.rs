//! A standing approval signed: shown, confirmed, and signed exactly as it was shown.

use std::process::ExitCode;

use model::Sha256;
use policies::{STANDING_NAMESPACE, SignatureFile};
use validator::{OneLine, Violation};

use super::args::ApproveCommand;
use super::confirm::{self, UnsignedDocument, confirm};
use super::entitlement;
use super::new_signature::{NewSignature, SignatureFacts};
use super::open_signer::open_signer;
use super::single::SignOutcome;
use crate::clock;
use crate::commands::approve::review::{self, HostRules, StandingReview};
use crate::commands::approve::signing::{SignatureTarget, SigningIdentity};
use crate::failure::{Failure, with_help};
use crate::output::{self, human};

/// Shows the standing approval, asks, and signs.
pub(super) fn sign(args: &ApproveCommand) -> Result<SignOutcome, Failure> {
    review::refuse_inputs(args.case.inputs.as_deref())?;
    let (by, mut signer) = match open_signer(args)? {
        Ok(opened) => opened,
        Err(why) => return refuse(args, &why, &[]),
    };
    let rules = HostRules::read(&args.case.rules)?;
    let case = StandingReview::read(&args.case.request, rules, Some((&by, clock::now())))?;
    let name = human::name(&case.path);
    if let Some(why) = refusal_reason(&case) {
        human::print_to_stderr(&case.path, &case.bytes, &case.violations);
        let help = "see every reason with `toolexec review` and the same options";
        let why = with_help(&format!("{name}: not approved: {why}"), help);
        return refuse(args, &why, &case.violations);
    }
    let target = match SignatureTarget::named(&case.path, &args.signing, "") {
        Ok(target) => target,
        Err(why) => return refuse(args, &why, &[]),
    };
    let subject = format!("{name}\n{}", confirm::digest_lines(&Sha256::of(&case.bytes)));
    if !confirm(args, &review::standing_text(&case), &[], &subject, &signer)? {
        output::note(format_args!("{}: not approved", case.path.display()));
        return Ok(SignOutcome::NotSigned(ExitCode::from(1)));
    }
    sign_shown(args, &case, (&by, &mut signer), target)
}

/// Signs the bytes that were shown, and writes the signature if it counts.
fn sign_shown(
    args: &ApproveCommand,
    case: &StandingReview,
    (by, signer): (&OneLine, &mut SigningIdentity),
    target: SignatureTarget,
) -> Result<SignOutcome, Failure> {
    let bytes = signer.sign(STANDING_NAMESPACE, &case.bytes)?.into_bytes();
    let file = SignatureFile { name: target.name.clone(), bytes };
    if let Some(why) = entitlement::standing_signature_problem(case, by, &file)? {
        let why = format!("{}: not signed: {why}", human::name(&case.path));
        let why = with_help(&why, "correct this, or sign with another key");
        return refuse(args, &why, &[]);
    }
    let pending = pending_with(case, &file);
    let filled = case.filled.clone().unwrap_or_default();
    let signed =
        NewSignature { target, file: file.bytes, filled, fingerprint: signer.fingerprint() };
    match signed.place(case.shown()) {
        Err(error) if error.is_change() => return refuse(args, &error.to_string(), &[]),
        placed => placed?,
    }
    let facts = SignatureFacts {
        shown: case.shown(),
        id: ("standing_id", case.standing.as_ref().map_or("", |it| it.terms().id.as_str())),
        are_signers_known: case.rules.signers.is_some(),
        // The host counts them when it admits the standing approval.
        signers: None,
        pending,
    };
    signed.print(args, &facts)?;
    Ok(SignOutcome::Signed(Sha256::of(&case.bytes)))
}

fn refusal_reason(case: &StandingReview) -> Option<String> {
    let document = UnsignedDocument {
        kind: "standing approval",
        filled: &case.filled,
        signature_files: &case.signature_files(),
        violations: &case.violations,
        verdict: case.verdict(),
    };
    document.refusal_reason()
}

/// Returns the reasons why the host would not admit it yet, with this signature too.
fn pending_with(case: &StandingReview, file: &SignatureFile) -> Vec<String> {
    let files = [case.signatures.as_slice(), std::slice::from_ref(file)].concat();
    case.admission(&files).iter().map(human::message).collect()
}

fn refuse(args: &ApproveCommand, why: &str, rows: &[Violation]) -> Result<SignOutcome, Failure> {
    confirm::refuse(args, why, rows).map(SignOutcome::NotSigned)
}
