//! A new signature: written only beside the bytes that were shown, and then reported.

use std::fs;

use model::Sha256;
use serde_json::json;
use spool::{SpoolError, check_unchanged, replace_unchanged, write_new_file};
use validator::reveal_line;

use super::args::ApproveCommand;
use crate::args::Format;
use crate::commands::approve::review::ReviewData;
use crate::commands::approve::signing::SignatureTarget;
use crate::failure::Failure;
use crate::output::{self, human};

/// A signature that counts, if that is known, before it is written.
pub(super) struct NewSignature {
    pub(super) target: SignatureTarget,
    /// The content of the signature file.
    pub(super) file: Vec<u8>,
    pub(super) filled: Vec<&'static str>,
    pub(super) fingerprint: String,
}

impl NewSignature {
    /// Writes the signature only if the file still contains the bytes that were shown.
    pub(super) fn place(&self, case: &ReviewData) -> Result<(), SpoolError> {
        if self.filled.is_empty() {
            check_unchanged(&case.path, &case.original)?;
        } else {
            replace_unchanged(&case.path, &case.original, &case.bytes)?;
        }
        write_new_file(&self.target.path, &self.file)
    }

    /// Removes the signature and restores the request. What cannot be undone is reported.
    pub(super) fn take_back(&self, case: &ReviewData) {
        if let Err(error) = fs::remove_file(&self.target.path) {
            let path = human::name(&self.target.path);
            output::note(format_args!("{path}: not removed: {error}; help: remove it"));
        }
        self.restore(case);
    }

    /// Restores the request if this signature's approval was filled in.
    pub(super) fn restore(&self, case: &ReviewData) {
        let is_filled = check_unchanged(&case.path, &case.bytes).is_ok();
        if !self.filled.is_empty()
            && is_filled
            && let Err(error) = replace_unchanged(&case.path, &case.bytes, &case.original)
        {
            output::note(format_args!("not restored: {error}"));
        }
    }

    pub(super) fn report(&self, args: &ApproveCommand, case: &ReviewData) -> Result<(), Failure> {
        let Self { target, filled, fingerprint, .. } = self;
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
                "signature": output::path(&target.path),
                "principal": by,
                "fingerprint": fingerprint,
                "counts": counts,
                "signers": signers,
                "signatures_min": min,
                "pending": pending,
            })),
            Format::Human => {
                let (path, by) = (human::name(&target.path), reveal_line(by));
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
                output::line(format_args!(
                    "signature counts: {signers} of {min} approvers signed"
                ))?;
                pending.iter().for_each(output::note);
                Ok(())
            }
        }
    }
}
