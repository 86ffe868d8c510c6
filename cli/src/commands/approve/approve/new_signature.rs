//! A new signature: written only beside the bytes that were shown, and then reported.

use std::fs;

use model::Sha256;
use serde_json::{Value, json};
use spool::{SpoolError, check_unchanged, replace_unchanged, write_new_file};
use validator::reveal_line;

use super::args::ApproveCommand;
use crate::args::Format;
use crate::commands::approve::review::{ReviewData, ShownFile};
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
    /// Writes the signature only if the file still contains the bytes that were shown. If the
    /// signature cannot be written, restores the document.
    pub(super) fn place(&self, shown: ShownFile<'_>) -> Result<(), SpoolError> {
        if self.filled.is_empty() {
            check_unchanged(shown.path, shown.original)?;
        } else {
            replace_unchanged(shown.path, shown.original, shown.bytes)?;
        }
        write_new_file(&self.target.path, &self.file).inspect_err(|_| self.restore(shown))
    }

    /// Removes the signature and restores the document. What cannot be undone is reported.
    pub(super) fn take_back(&self, shown: ShownFile<'_>) {
        if let Err(error) = fs::remove_file(&self.target.path) {
            let path = human::name(&self.target.path);
            output::note(format_args!("{path}: not removed: {error}; help: remove it"));
        }
        self.restore(shown);
    }

    /// Restores the document if this signature's approval was filled in.
    fn restore(&self, shown: ShownFile<'_>) {
        let is_filled = check_unchanged(shown.path, shown.bytes).is_ok();
        if !self.filled.is_empty()
            && is_filled
            && let Err(error) = replace_unchanged(shown.path, shown.bytes, shown.original)
        {
            output::note(format_args!("not restored: {error}"));
        }
    }

    pub(super) fn report(&self, args: &ApproveCommand, case: &ReviewData) -> Result<(), Failure> {
        let preview = case.preview()?;
        let facts = SignatureFacts {
            shown: case.shown(),
            id: ("request_id", preview.request().id().as_str()),
            are_signers_known: case.rules.signers.is_some(),
            signers: Some((preview.signers(), preview.signatures_min())),
            pending: case.pending().into_iter().map(human::message).collect(),
        };
        self.print(args, &facts)
    }

    pub(super) fn print(
        &self,
        args: &ApproveCommand,
        facts: &SignatureFacts<'_>,
    ) -> Result<(), Failure> {
        match args.format {
            Format::Json => output::line(self.object(args, facts)),
            Format::Human => self.print_human(args, facts),
        }
    }

    fn object(&self, args: &ApproveCommand, facts: &SignatureFacts<'_>) -> Value {
        let (id_key, id) = facts.id;
        let mut object = json!({
            "request": output::path(facts.shown.path),
            "sha256": Sha256::of(facts.shown.bytes).to_string(),
            "filled": self.filled,
            "signature": output::path(&self.target.path),
            "principal": args.signing.principal,
            "fingerprint": self.fingerprint,
            // A signature that would not count is not written if that is known.
            "counts": facts.are_signers_known.then_some(true),
            "pending": facts.pending,
        });
        object[id_key] = id.into();
        if let Some((signers, min)) = facts.signers {
            object["signers"] = signers.into();
            object["signatures_min"] = min.into();
        }
        object
    }

    fn print_human(
        &self,
        args: &ApproveCommand,
        facts: &SignatureFacts<'_>,
    ) -> Result<(), Failure> {
        let Self { target, filled, fingerprint, .. } = self;
        let (path, by) = (human::name(&target.path), reveal_line(&args.signing.principal));
        output::line(format_args!("{path}: signed by {by} {fingerprint}"))?;
        if !filled.is_empty() {
            let (path, filled) = (human::name(facts.shown.path), filled.join(" and "));
            output::line(format_args!("{path}: filled in {filled}; nothing else changed"))?;
        }
        if !facts.are_signers_known {
            output::stderr_line(
                "Not checked whether the signature counts on the host: pass its --approvers to \
                 check.",
            );
            return Ok(());
        }
        match facts.signers {
            Some((signers, min)) => {
                output::line(format_args!("signature counts: {signers} of {min} approvers signed"))?
            }
            None => output::line("signature counts")?,
        }
        facts.pending.iter().for_each(output::note);
        Ok(())
    }
}

/// The facts about a signed document that the report prints.
pub(super) struct SignatureFacts<'a> {
    pub(super) shown: ShownFile<'a>,
    /// The id, after its key in JSON.
    pub(super) id: (&'static str, &'a str),
    /// The signature was checked against the trusted keys.
    pub(super) are_signers_known: bool,
    /// The number of approvers who signed, and the required number, if they are known.
    pub(super) signers: Option<(usize, usize)>,
    /// The reasons why the document is not approved yet.
    pub(super) pending: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_its_signature_no_approval_stays_filled_in() {
        let scratch = std::env::temp_dir().join(format!("toolexec-sign-{}", std::process::id()));
        fs::create_dir(&scratch).unwrap();
        let document = scratch.join("TR.md");
        write_new_file(&document, b"approved_by: \"\"").unwrap();
        // The signature's directory does not exist.
        let path = scratch.join("missing/TR.md.sig");
        let target = SignatureTarget { name: "TR.md.sig".into(), path, label: "alice".into() };
        let fingerprint = "SHA256:x".to_owned();
        let new = NewSignature {
            target,
            file: b"sig".to_vec(),
            filled: vec!["approved_by"],
            fingerprint,
        };
        let (original, bytes) = (&b"approved_by: \"\""[..], &b"approved_by: \"alice\""[..]);
        let placed = new.place(ShownFile { path: &document, original, bytes });
        let left = fs::read(&document).unwrap();
        fs::remove_dir_all(&scratch).unwrap();
        assert!(placed.is_err());
        assert_eq!(left, original);
    }
}
