//! `toolexec reject`: a signed no over the bytes as they are, complete or not. It never changes the
//! request; the reason is for people and proves nothing.

use std::path::Path;
use std::process::ExitCode;

use model::{Sha256, escape_line};
use policies::REJECT_NAMESPACE;
use serde_json::json;
use spool::place_beside;
use validator::{REQUEST_BYTES_MAX, reveal_line};

use crate::approve::{Signature, Signer, SignerError, principal};
use crate::args::Format;
use crate::args::files::read_document;
use crate::failure::Failure;
use crate::options::Reject;
use crate::output;
use crate::output::human;
use crate::output::refused;

pub(crate) fn reject(asked: &Reject) -> Result<ExitCode, Failure> {
    reject_whichever(asked, None)
}

/// The same for who was asked about the bytes of this digest, and said no to nothing else.
pub(crate) fn reject_only(asked: &Reject, meant: &Sha256) -> Result<ExitCode, Failure> {
    reject_whichever(asked, Some(meant))
}

fn reject_whichever(asked: &Reject, only: Option<&Sha256>) -> Result<ExitCode, Failure> {
    let by = principal(&asked.signing.principal)?;
    if asked.reason.trim().is_empty() {
        return Err(Failure::Said("--reason: say why; whoever asked will read it".into()));
    }
    let bytes = read_document(&asked.request, REQUEST_BYTES_MAX)?;
    let sha256 = Sha256::of(&bytes);
    if only.is_some_and(|only| *only != sha256) {
        let shown = human::name(&asked.request);
        return Ok(refused(&format!("{shown}: changed since you were asked; not rejected")));
    }
    let mut signer = match Signer::open(&asked.signing) {
        Ok(signer) => signer,
        Err(SignerError::Refused(why)) => return Ok(refused(&why)),
        Err(SignerError::Failed(failure)) => return Err(failure),
    };
    let signature = match Signature::named(&asked.request, &asked.signing, ".reject") {
        Ok(signature) => signature,
        Err(why) => return Ok(refused(&why)),
    };
    let reason = reason_path(&asked.request, &signature.label);
    if reason.symlink_metadata().is_ok() {
        let shown = human::name(&reason);
        return Ok(refused(&format!("{shown}: is there already; use --label")));
    }
    let armoured = signer.sign(REJECT_NAMESPACE, &bytes)?;
    place_beside(&signature.path, armoured.as_bytes())?;
    // Whoever asked will read it at a terminal.
    let lines: Vec<String> = asked.reason.trim_end().lines().map(escape_line).collect();
    let by_line = escape_line(by.as_str());
    let text = format!("{sha256} rejected by {by_line}:\n{}\n", lines.join("\n"));
    place_beside(&reason, text.as_bytes())?;
    match asked.format {
        Format::Human => {
            let (path, fingerprint) = (human::name(&signature.path), signer.fingerprint());
            let by = reveal_line(by.as_str());
            output::line(format_args!("{path}: rejected by {by} {fingerprint}"))?;
            output::line(format_args!("{}: why, for people", human::name(&reason)))?;
        }
        Format::Json => output::line(json!({
            "request": output::path(&asked.request),
            "sha256": sha256.to_string(),
            "signature": output::path(&signature.path),
            "principal": by.as_str(),
            "fingerprint": signer.fingerprint(),
            "reason": output::path(&reason),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn reason_path(request: &Path, label: &str) -> std::path::PathBuf {
    let file = request.file_name().unwrap_or_default().to_string_lossy();
    request.with_file_name(format!("{file}.{label}.reject.txt"))
}
