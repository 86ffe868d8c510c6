//! `toolexec approve`: shows a complete request, asks, and signs exactly the bytes that were shown.
//! It never signs bytes that were not shown or that changed meanwhile. It fills in an empty
//! approval but changes no other byte, and never overwrites a signature.

mod entitlement;

use std::process::ExitCode;

use clap::Args;
use model::Sha256;
use policies::{APPROVE_NAMESPACE, SIGNATURE_FILES_MAX, SignatureFile};
use serde_json::json;
use spool::{SpoolError, check_unchanged, replace_unchanged, write_new_file};
use validator::{Violation, reveal_line};

use super::review::{self, HostRules, InputTexts, ReviewData, ReviewVerdict};
use crate::args::{CaseOptions, Format, ShowOptions, SigningOptions};
use crate::clock;
use crate::commands::approve::signing::{
    SignatureTarget, SignerError, SigningIdentity, principal, read_signatures,
};
use crate::failure::{Failure, with_help};
use crate::output::terminal::Terminal;
use crate::output::{self, human, pager};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec approve TR-20260209-160501Z-python-stats.md --approver alice \\
           --key ~/.ssh/id_ed25519

Shows the review, asks, fills in approved_by and approved_utc if they are empty, and signs exactly
the bytes that were shown, in namespace approve.tool-exec@threegate. No other byte changes. Every
line of every input text is shown. Content that cannot be shown (binary, or beyond 16 MiB) is named
and needs a second confirmation.
The signature is <file>.sig, or <file>.<principal>.sig if that exists; nothing is overwritten. With
a security key /usr/bin/ssh-keygen signs; `ssh-keygen -Y sign` makes the same signature.
Exit status: 0 signed; 1 you declined; 2 the request would be refused, it changed meanwhile, or the
signature would not count; 3 usage or internal error. With status 1 or 2 nothing is written.
With --format json (and --yes), the last line of stdout is one object: {\"request\",\"request_id\",
\"sha256\",\"filled\",\"signature\",\"principal\",\"fingerprint\",\"counts\",\"signers\",\"signatures_min\",
\"pending\"}. `counts` is null if no allowed_signers are known, otherwise true. A refusal is
{\"request\",\"refused\",\"violations\"}.")]
pub(crate) struct ApproveCommand {
    #[command(flatten)]
    pub(crate) case: CaseOptions,
    #[command(flatten)]
    pub(crate) signing: SigningOptions,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    /// Sign without asking; use only after reviewing the request
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

/// The only answer that approves.
const APPROVE_ANSWER: &str = "approve";
/// The only answer that approves content that was not shown.
const UNSEEN_ANSWER: &str = "unseen";

pub(crate) enum SignOutcome {
    /// The digest of the signed bytes.
    Signed(Sha256),
    NotSigned(ExitCode),
}

pub(in crate::commands) fn approve(args: &ApproveCommand) -> Result<ExitCode, Failure> {
    Ok(match sign(args)? {
        SignOutcome::Signed(_) => ExitCode::SUCCESS,
        SignOutcome::NotSigned(code) => code,
    })
}

/// Signs. Returns the digest, so that a caller continues with the signed bytes only.
pub(crate) fn sign(args: &ApproveCommand) -> Result<SignOutcome, Failure> {
    if args.format == Format::Json && !args.yes {
        let why = "--format json: confirmation is missing; help: pass --yes after the review";
        return Err(Failure::Message(why.into()));
    }
    let by = principal(&args.signing.principal)?;
    let mut signer = match SigningIdentity::open(&args.signing) {
        Ok(signer) => signer,
        Err(SignerError::Refused(why)) => return refuse(args, &why, &[]),
        Err(SignerError::Failed(failure)) => return Err(failure),
    };
    // The approver is shown everything that can be shown.
    let texts = InputTexts::Whole;
    let rules = HostRules::read(&args.case.rules)?;
    let mut case = ReviewData::read(&args.case, rules, Some((&by, clock::now())), texts)?;
    if let Some(why) = refusal_reason(&case) {
        human::print_to_stderr(&case.path, &case.bytes, &case.violations);
        let name = human::name(&case.path);
        let help = "see every reason with `toolexec explain` and the same options";
        let why = with_help(&format!("{name}: not approved: {why}"), help);
        return refuse(args, &why, &case.violations);
    }
    let signature = match SignatureTarget::named(&case.path, &args.signing, "") {
        Ok(signature) => signature,
        Err(why) => return refuse(args, &why, &[]),
    };
    if !confirm(args, &case, &signer, texts)? {
        output::note(format_args!("{}: not approved", case.path.display()));
        return Ok(SignOutcome::NotSigned(ExitCode::from(1)));
    }
    let armoured = signer.sign(APPROVE_NAMESPACE, &case.bytes)?;
    let filled = case.filled.clone().unwrap_or_default();
    let mut files = read_signatures(&case.path)?;
    files.push(SignatureFile { name: signature.name.clone(), bytes: armoured.as_bytes().to_vec() });
    case.with_signature(files)?;
    if let Some(why) = entitlement::signature_problem(&case, &by, &armoured)? {
        let why = format!("{}: not signed: {why}", human::name(&case.path));
        let why = with_help(&why, "correct this, or sign with another key");
        return refuse(args, &why, &[]);
    }
    let signed = NewSignature { signature, armoured, filled, fingerprint: signer.fingerprint() };
    match signed.place(&case) {
        Err(error) if error.is_change() => return refuse(args, &error.to_string(), &[]),
        placed => placed?,
    }
    report(args, &case, &signed)?;
    Ok(SignOutcome::Signed(Sha256::of(&case.bytes)))
}

/// Prints the reason why nothing is signed, as an object with `--format json`.
fn refuse(args: &ApproveCommand, why: &str, rows: &[Violation]) -> Result<SignOutcome, Failure> {
    if args.format == Format::Json {
        output::line(output::refusal(&args.case.request, why, rows))?;
    }
    Ok(SignOutcome::NotSigned(output::report_refusal(why)))
}

struct NewSignature {
    signature: SignatureTarget,
    armoured: String,
    filled: Vec<&'static str>,
    fingerprint: String,
}

impl NewSignature {
    /// Writes the signature only if the file still contains the bytes that were shown.
    fn place(&self, case: &ReviewData) -> Result<(), SpoolError> {
        if self.filled.is_empty() {
            check_unchanged(&case.path, &case.original)?;
        } else {
            replace_unchanged(&case.path, &case.original, &case.bytes)?;
        }
        write_new_file(&self.signature.path, self.armoured.as_bytes())
    }
}

fn refusal_reason(case: &ReviewData) -> Option<String> {
    let filled = match &case.filled {
        Err(why) if !human::has_error(&case.violations) => return Some(why.to_string()),
        Err(_) => return Some("the request would be refused".to_owned()),
        Ok(filled) => filled,
    };
    // Filling in the approval would invalidate the existing signatures of the empty one.
    if !filled.is_empty() && !case.signature_files.is_empty() {
        return Some(format!(
            "{} empty, but {} already signed these bytes; help: remove the signatures, or draft \
             the request again",
            if filled.len() == 1 { "an approval field is" } else { "the approval fields are" },
            case.signature_files.join(", ")
        ));
    }
    if case.signature_files.len() >= SIGNATURE_FILES_MAX {
        return Some(format!(
            "it already has {SIGNATURE_FILES_MAX} signature files, the maximum; help: remove those \
             that are not needed"
        ));
    }
    (case.outcome() == ReviewVerdict::Refused).then(|| "the request would be refused".to_owned())
}

/// Shows the review and asks. Returns whether the approver confirmed.
fn confirm(
    args: &ApproveCommand,
    case: &ReviewData,
    signer: &SigningIdentity,
    texts: InputTexts,
) -> Result<bool, Failure> {
    if args.yes {
        if args.format == Format::Human {
            output::text(&review::text(case, texts))?;
        }
        return Ok(true);
    }
    let mut terminal = Terminal::open().map_err(|failure| {
        Failure::Message(format!("{failure}; help: pass --yes after reviewing the request"))
    })?;
    let lines_left = pager::page(&review::text(case, texts), args.show.no_pager)?;
    let left = (lines_left > 0).then(|| format!("the last {lines_left} lines of the review"));
    let unseen: Vec<String> = left.into_iter().chain(review::omitted(case, texts)).collect();
    let unseen = unseen.join(", ");
    let warning = if unseen.is_empty() { String::new() } else { format!("\nNOT shown: {unseen}") };
    let question = format!(
        "{warning}\n{}\nsha256 {}\nas {}, with key {}\nType `{APPROVE_ANSWER}` to sign: ",
        human::name(&case.path),
        Sha256::of(&case.bytes),
        reveal_line(&args.signing.principal),
        signer.fingerprint(),
    );
    if terminal.ask_fresh(&question)? != APPROVE_ANSWER {
        return Ok(false);
    }
    if unseen.is_empty() {
        return Ok(true);
    }
    let question =
        format!("You were not shown: {unseen}.\nType `{UNSEEN_ANSWER}` to sign anyway: ");
    Ok(terminal.ask_fresh(&question)? == UNSEEN_ANSWER)
}

fn report(args: &ApproveCommand, case: &ReviewData, signed: &NewSignature) -> Result<(), Failure> {
    let NewSignature { signature, filled, fingerprint, .. } = signed;
    let by = &args.signing.principal;
    // A signature that would not count is not written if that is known.
    let counts = case.rules.signers.is_some().then_some(true);
    let sha256 = Sha256::of(&case.bytes);
    let preview = case.preview()?;
    let id = preview.request().id().as_str();
    let (signers, min) = (preview.signers(), preview.signatures_min());
    let pending: Vec<String> = case.pending().into_iter().map(human::message).collect();
    match args.format {
        Format::Json => output::line(json!({
            "request": output::path(&case.path),
            "request_id": id,
            "sha256": sha256.to_string(),
            "filled": filled,
            "signature": output::path(&signature.path),
            "principal": by,
            "fingerprint": fingerprint,
            "counts": counts,
            "signers": signers,
            "signatures_min": min,
            "pending": pending,
        })),
        Format::Human => {
            let (path, by) = (human::name(&signature.path), reveal_line(by));
            output::line(format_args!("{path}: signed by {by} {fingerprint}"))?;
            if !filled.is_empty() {
                let (path, filled) = (human::name(&case.path), filled.join(" and "));
                output::line(format_args!("{path}: filled in {filled}; nothing else changed"))?;
            }
            if counts.is_none() {
                output::stderr_line(
                    "Not checked whether the signature counts on the host: pass its \
                     --approvers to check.",
                );
                return Ok(());
            }
            output::line(format_args!("signature counts: {signers} of {min} approvers signed"))?;
            pending.iter().for_each(output::note);
            Ok(())
        }
    }
}
