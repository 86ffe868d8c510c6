//! Several requests approved at once: one review of all, one question, one signature over the list.
//! Either every request gets the signature, or none does.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use model::{Sha256, digest_words};
use policies::{BATCH_NAMESPACE, BatchError, BatchList, SignatureFile};
use spool::{SpoolError, check_unchanged};
use validator::OneLine;

use super::args::ApproveCommand;
use super::confirm::{self, confirm, refusal_reason, unseen};
use super::entitlement;
use super::new_signature::NewSignature;
use super::open_signer::open_signer;
use crate::args::Format;
use crate::clock;
use crate::commands::approve::review::{self, HostRules, InputTexts, ReviewData, is_standing_file};
use crate::commands::approve::signing::{SignatureTarget, SigningIdentity, read_signatures};
use crate::failure::{Failure, with_help};
use crate::output::{self, human};

/// The approver is shown everything that can be shown.
const TEXTS: InputTexts = InputTexts::Whole;

pub(super) fn approve(args: &ApproveCommand) -> Result<ExitCode, Failure> {
    let (by, mut signer) = match open_signer(args)? {
        Ok(opened) => opened,
        Err(why) => return refuse(args, &why),
    };
    let paths: Vec<&PathBuf> = std::iter::once(&args.case.request).chain(&args.more).collect();
    if let Some(path) = twice(&paths) {
        return refuse(args, &format!("{}: named twice; help: name it once", human::name(path)));
    }
    if let Some(path) = paths.iter().find(|path| is_standing_file(path)) {
        let why = "a standing approval in a batch; help: sign a standing approval alone";
        return refuse(args, &format!("{}: {why}", human::name(path)));
    }
    let cases = read(args, &paths, &by)?;
    if report_refusals(args, &cases)? {
        let help = "see every reason with `toolexec explain`, or leave those requests out";
        return refuse(args, &with_help("no request of the batch was approved", help));
    }
    if let Some(why) = namespace_problem(&cases, &signer) {
        return refuse(args, &why);
    }
    let list = match list_of(&cases) {
        Ok(list) => list,
        Err(why) => return refuse(args, &why),
    };
    let mut targets = Vec::new();
    for case in &cases {
        match SignatureTarget::named(&case.path, &args.signing, "") {
            Ok(target) => targets.push(target),
            Err(why) => return refuse(args, &why),
        }
    }
    let reviews: Vec<String> = cases.iter().map(|case| review::text(case, TEXTS)).collect();
    let omitted = |case: &ReviewData| {
        let of_case = unseen(case, TEXTS).into_iter();
        of_case.map(|what| format!("{what} of {}", human::name(&case.path))).collect::<Vec<_>>()
    };
    let omitted: Vec<String> = cases.iter().flat_map(omitted).collect();
    let subject = subject(&cases, &list);
    if !confirm(args, &reviews.join("\n"), &omitted, &subject, &signer)? {
        output::note(format_args!("{} requests: not approved", cases.len()));
        return Ok(ExitCode::from(1));
    }
    let text = list.text();
    let file = [signer.sign(BATCH_NAMESPACE, text.as_bytes())?, text].concat().into_bytes();
    let mut signed = Vec::new();
    for (mut case, target) in cases.into_iter().zip(targets) {
        let filled = case.filled.clone().unwrap_or_default();
        let mut files = read_signatures(&case.path)?;
        files.push(SignatureFile { name: target.name.clone(), bytes: file.clone() });
        case.with_signature(files)?;
        if let Some(why) = entitlement::signature_problem(&case, &by, &file)? {
            let why = format!("{}: not signed: {why}", human::name(&case.path));
            return refuse(args, &with_help(&why, "correct this, or sign with another key"));
        }
        let (file, fingerprint) = (file.clone(), signer.fingerprint());
        signed.push((NewSignature { target, file, filled, fingerprint }, case));
    }
    match place(&signed) {
        Err(error) if error.is_change() => return refuse(args, &error.to_string()),
        placed => placed?,
    }
    signed.iter().try_for_each(|(signature, case)| signature.report(args, case))?;
    Ok(ExitCode::SUCCESS)
}

fn twice<'p>(paths: &[&'p PathBuf]) -> Option<&'p PathBuf> {
    let mut seen = BTreeSet::new();
    paths.iter().copied().find(|path| !seen.insert(*path))
}

fn read(
    args: &ApproveCommand,
    paths: &[&PathBuf],
    by: &OneLine,
) -> Result<Vec<ReviewData>, Failure> {
    let now = clock::now();
    let read = |path: &&PathBuf| {
        let rules = HostRules::read(&args.case.rules)?;
        ReviewData::read(path, None, rules, Some((by, now)), TEXTS)
    };
    paths.iter().map(read).collect()
}

/// Prints the reason for each request that would be refused. Returns whether there is one.
fn report_refusals(args: &ApproveCommand, cases: &[ReviewData]) -> Result<bool, Failure> {
    let mut any = false;
    for case in cases {
        let Some(why) = refusal_reason(case) else { continue };
        any = true;
        human::print_to_stderr(&case.path, &case.bytes, &case.violations);
        output::note(format_args!("{}: not approved: {why}", human::name(&case.path)));
        if args.format == Format::Json {
            output::line(output::refusal(&case.path, &why, &case.violations))?;
        }
    }
    Ok(any)
}

/// Returns the reason why the trusted keys would not let this key sign a batch, if it is known.
fn namespace_problem(cases: &[ReviewData], signer: &SigningIdentity) -> Option<String> {
    let rules = &cases.first()?.rules;
    if rules.signers.as_ref()?.may_sign(signer.key(), BATCH_NAMESPACE) {
        return None;
    }
    let file = rules.signers_file.as_deref().map_or("allowed_signers".into(), human::name);
    let fingerprint = signer.fingerprint();
    Some(format!(
        "{file}: does not let key {fingerprint} sign in namespace {BATCH_NAMESPACE}; help: add it \
         to `namespaces`, or approve each request alone"
    ))
}

fn list_of(cases: &[ReviewData]) -> Result<BatchList, String> {
    let row = |case: &ReviewData| {
        let preview = case.preview().map_err(|failure| failure.to_string())?;
        Ok((Sha256::of(&case.bytes), preview.request().id().clone()))
    };
    let rows = cases.iter().map(row).collect::<Result<Vec<_>, String>>()?;
    BatchList::new(rows).map_err(|error| match error {
        BatchError::Duplicate(_) => format!("{error}; help: name each request once"),
        error => error.to_string(),
    })
}

/// Returns the list as it is signed, with the words of each digest below its line.
fn subject(cases: &[ReviewData], list: &BatchList) -> String {
    let text = list.text();
    let rows = text.lines().zip(cases).map(|(line, case)| {
        let words = digest_words(&Sha256::of(&case.bytes)).join(" ");
        format!("\n{line}\n  words  {words}")
    });
    format!("{} requests:{}", cases.len(), rows.collect::<String>())
}

/// Writes all signatures, unless any request has changed. After an error it takes back those that it
/// wrote, so that no part of a batch is approved.
fn place(signed: &[(NewSignature, ReviewData)]) -> Result<(), SpoolError> {
    signed.iter().try_for_each(|(_, case)| check_unchanged(&case.path, &case.original))?;
    for (index, (signature, case)) in signed.iter().enumerate() {
        if let Err(error) = signature.place(case.shown()) {
            for (signature, case) in signed.iter().take(index) {
                signature.take_back(case.shown());
            }
            return Err(error);
        }
    }
    Ok(())
}

fn refuse(args: &ApproveCommand, why: &str) -> Result<ExitCode, Failure> {
    confirm::refuse(args, why, &[])
}
