//! `toolexec approve`: show a request whole, ask, and sign exactly the bytes that were shown. It never
//! signs what was not shown or was changed meanwhile, never changes a byte but an empty approval, and
//! never overwrites a signature.

mod agent;
mod beside;
mod security_key;
mod signer;

use std::process::ExitCode;

use policies::{APPROVE_NAMESPACE, SIGNATURE_FILES_MAX, SignatureFile};
use serde_json::json;
use spool::{place_beside, replace_own};
use validator::{Sha256, reveal_line};

use crate::failure::Failure;
use crate::options::{Approve, Format};
use crate::output;
use crate::review::{self, Case, HostRules, Outcome, Texts};
use crate::show;
use crate::terminal::Terminal;

pub(crate) use beside::{Signature, principal};
pub(crate) use signer::{NoSigner, Signer};

/// The only answer that is a yes.
const YES: &str = "approve";

pub(crate) fn approve(asked: &Approve) -> Result<ExitCode, Failure> {
    if asked.format == Format::Json && !asked.yes {
        let why = "approve --format json: a program cannot be asked; say --yes if it was read";
        return Err(Failure::Said(why.into()));
    }
    let by = principal(&asked.signing.principal)?;
    let mut signer = match Signer::open(&asked.signing) {
        Ok(signer) => signer,
        Err(NoSigner::Refused(why)) => return Ok(refused(&why)),
        Err(NoSigner::Failed(failure)) => return Err(failure),
    };
    let texts = if asked.show.full { Texts::Whole } else { Texts::Beginnings };
    let rules = HostRules::read(&asked.case)?;
    let mut case = Case::read(&asked.case, rules, Some((&by, show::now())), texts)?;
    if let Some(why) = unfit(&case) {
        show::aside(&case.path, &case.bytes, &case.violations);
        return Ok(refused(&format!("{}: {why}; not approved", show::name(&case.path))));
    }
    let signature = match Signature::named(&case.path, &asked.signing, "") {
        Ok(signature) => signature,
        Err(why) => return Ok(refused(&why)),
    };
    if !agreed(asked, &case, &signer, texts)? {
        output::note(format_args!("{}: not approved", case.path.display()));
        return Ok(ExitCode::from(1));
    }
    let armoured = signer.sign(APPROVE_NAMESPACE, &case.bytes)?;
    let filled = case.filled.clone().unwrap_or_default();
    if !filled.is_empty() {
        replace_own(&case.path, &case.original, &case.bytes)?;
    }
    place_beside(&signature.path, armoured.as_bytes())?;
    let signed = Signed { signature, armoured, filled, fingerprint: signer.fingerprint() };
    tell(asked, &mut case, &signed)?;
    Ok(ExitCode::SUCCESS)
}

/// What was made.
struct Signed {
    signature: Signature,
    armoured: String,
    filled: Vec<&'static str>,
    fingerprint: String,
}

pub(crate) fn refused(why: &str) -> ExitCode {
    output::note(why);
    ExitCode::from(2)
}

/// Why this request is not signed by anybody.
fn unfit(case: &Case) -> Option<String> {
    let filled = match &case.filled {
        Err(why) if !show::has_error(&case.violations) => return Some(why.to_string()),
        Err(_) => return Some("it would be refused".to_owned()),
        Ok(filled) => filled,
    };
    // Those signatures are over the text as it is: filled in, it would be another one.
    if !filled.is_empty() && !case.signature_files.is_empty() {
        return Some(format!(
            "{} empty, and {} signed the text so: it may not be changed; remove what is signed, or \
             have it drafted anew",
            if filled.len() == 1 { "an approval field is" } else { "the approval fields are" },
            case.signature_files.join(", ")
        ));
    }
    if case.signature_files.len() >= SIGNATURE_FILES_MAX {
        return Some(format!("{SIGNATURE_FILES_MAX} signature files are the most"));
    }
    (case.outcome() == Outcome::Refused).then(|| "it would be refused".to_owned())
}

/// Shows everything, and whether the person said yes.
fn agreed(asked: &Approve, case: &Case, signer: &Signer, texts: Texts) -> Result<bool, Failure> {
    if asked.yes {
        if asked.format == Format::Human {
            output::text(&review::text(case, texts))?;
        }
        return Ok(true);
    }
    let mut terminal = Terminal::open().map_err(|failure| {
        Failure::Said(format!("{failure}; say --yes where somebody has read the request"))
    })?;
    review::page(&review::text(case, texts), asked.show.no_pager)?;
    let question = format!(
        "\n{}\nsha256 {}\nas {}, with key {}\nType `{YES}` to sign: ",
        show::name(&case.path),
        Sha256::of(&case.bytes),
        reveal_line(&asked.signing.principal),
        signer.fingerprint(),
    );
    Ok(terminal.ask(&question)? == YES)
}

fn tell(asked: &Approve, case: &mut Case, signed: &Signed) -> Result<(), Failure> {
    let Signed { signature, armoured, filled, fingerprint } = signed;
    let by = &asked.signing.principal;
    let mut files = beside::read_signatures(&case.path)?;
    if !files.iter().any(|file| file.name == signature.name) {
        files.push(SignatureFile {
            name: signature.name.clone(),
            bytes: armoured.as_bytes().to_vec(),
        });
    }
    let knows_signers = case.rules.signers.is_some();
    let sha256 = Sha256::of(&case.bytes);
    let outlook = case.with_signature(files)?;
    let id = outlook.request().id().as_str().to_owned();
    let counts = outlook.signed().iter().any(|(_, known)| known == fingerprint);
    let (signers, min) = (outlook.signers(), outlook.signatures_min());
    let lacking: Vec<String> = case.lacking().into_iter().map(show::message).collect();
    match asked.format {
        Format::Json => output::line(json!({
            "request": output::path(&case.path),
            "request_id": id,
            "sha256": sha256.to_string(),
            "filled": filled,
            "signature": output::path(&signature.path),
            "principal": by,
            "fingerprint": fingerprint,
            "counts": knows_signers.then_some(counts),
            "signers": signers,
            "signatures_min": min,
            "lacking": lacking,
        })),
        Format::Human => {
            let (path, by) = (show::name(&signature.path), reveal_line(by));
            output::line(format_args!("{path}: signed by {by} {fingerprint}"))?;
            if !filled.is_empty() {
                let (path, filled) = (show::name(&case.path), filled.join(" and "));
                output::line(format_args!("{path}: filled in {filled}, and nothing else"))?;
            }
            match (knows_signers, counts) {
                (false, _) => output::aside(
                    "Whether it counts is for the host's allowed_signers to say; name one with \
                     --allowed-signers to see.",
                ),
                (true, true) => {
                    output::line(format_args!("it counts: {signers} of {min} approvers signed"))?;
                }
                (true, false) => output::line("it does NOT count, by these allowed_signers")?,
            }
            lacking.iter().filter(|_| knows_signers).for_each(output::note);
            Ok(())
        }
    }
}
