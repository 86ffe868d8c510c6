//! `toolexec reject`: signs a rejection of the bytes as they are, complete or not. It never changes
//! the request. The reason is for people and proves nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use model::{Sha256, escape_line};
use policies::REJECT_NAMESPACE;
use serde_json::json;
use spool::write_new_file;
use validator::{REQUEST_BYTES_MAX, reveal_line};

use super::signing::{SignatureTarget, SignerError, SigningIdentity, principal};
use crate::args::files::read_document;
use crate::args::{Format, SigningOptions};
use crate::failure::Failure;
use crate::output::{self, human, report_refusal};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec reject TR-20260209-160501Z-python-stats.md --approver bob --ssh-agent \\
           --reason 'reads too much'

Signs the bytes as they are, in namespace reject.tool-exec@threegate, into
<file>.<principal>.reject.sig. Submit it with `toolexec submit`. One valid rejection is final for
these bytes; a changed or filled-in text is a different text. The request may be incomplete. The
reason is for people: it is written to <file>.<principal>.reject.txt, which is not signed, not
submitted, and read by no program. The daemon checks whether the key may reject.
A standing approval, SA-….md, is rejected in the same way. If it is already admitted, its submitted
rejection revokes it.
Exit status: 0 signed; 2 no usable key, or the file of the signature exists; 3 usage or internal
error.
With --format json, the last line of stdout is one object: {\"request\",\"sha256\",\"signature\",
\"principal\",\"fingerprint\",\"reason\"}.")]
pub(crate) struct RejectCommand {
    /// Reject this request or standing approval, a Markdown file
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
    #[command(flatten)]
    pub(crate) signing: SigningOptions,
    /// Give this reason to the submitter
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

pub(in crate::commands) fn reject(args: &RejectCommand) -> Result<ExitCode, Failure> {
    reject_bytes(args, None)
}

/// Rejects only if the file still has the digest that the user confirmed.
pub(crate) fn reject_if_unchanged(
    args: &RejectCommand,
    meant: &Sha256,
) -> Result<ExitCode, Failure> {
    reject_bytes(args, Some(meant))
}

fn reject_bytes(args: &RejectCommand, only: Option<&Sha256>) -> Result<ExitCode, Failure> {
    let by = principal(&args.signing.principal)?;
    if args.reason.trim().is_empty() {
        return Err(Failure::Message("--reason: empty; help: write why, for the requester".into()));
    }
    let bytes = read_document(&args.request, REQUEST_BYTES_MAX)?;
    let sha256 = Sha256::of(&bytes);
    if only.is_some_and(|only| *only != sha256) {
        let shown = human::name(&args.request);
        let why = "changed since the question; not rejected; help: review it again";
        return Ok(report_refusal(&format!("{shown}: {why}")));
    }
    let mut signer = match SigningIdentity::open(&args.signing) {
        Ok(signer) => signer,
        Err(SignerError::Refused(why)) => return Ok(report_refusal(&why)),
        Err(SignerError::Failed(failure)) => return Err(failure),
    };
    let signature = match SignatureTarget::named(&args.request, &args.signing, ".reject") {
        Ok(signature) => signature,
        Err(why) => return Ok(report_refusal(&why)),
    };
    let reason = reason_path(&args.request, &signature.label);
    if reason.symlink_metadata().is_ok() {
        let shown = human::name(&reason);
        let why = "file already exists; help: choose another name with --label";
        return Ok(report_refusal(&format!("{shown}: {why}")));
    }
    let armoured = signer.sign(REJECT_NAMESPACE, &bytes)?;
    // The submitter will read the reason on a terminal.
    let lines: Vec<String> = args.reason.trim_end().lines().map(escape_line).collect();
    let by_line = escape_line(by.as_str());
    let text = format!("{sha256} rejected by {by_line}:\n{}\n", lines.join("\n"));
    write_new_file(&reason, text.as_bytes())?;
    // The signature is last, because it counts.
    write_new_file(&signature.path, armoured.as_bytes())
        .inspect_err(|_| drop(std::fs::remove_file(&reason)))?;
    match args.format {
        Format::Human => {
            let (path, fingerprint) = (human::name(&signature.path), signer.fingerprint());
            let by = reveal_line(by.as_str());
            output::line(format_args!("{path}: rejected by {by} {fingerprint}"))?;
            output::line(format_args!("{}: the reason, not signed", human::name(&reason)))?;
        }
        Format::Json => output::line(json!({
            "request": output::path(&args.request),
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
