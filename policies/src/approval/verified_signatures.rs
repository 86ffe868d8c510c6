//! The facts that the signature files of a document prove about its exact bytes. A signature must
//! count only for its own namespace, key owner and time. A readable but unusable file must never
//! block a usable one, because anyone may add a broken file.

use model::{UtcTime, escape_line};

use super::document::{SignaturePurpose, SignedDocument};
use super::key::SignerKey;
use super::model::{AllowedSigner, SIGNATURE_FILES_MAX, SignatureFile};
use super::signers::AllowedSigners;
use super::sshsig::{SshSignature, Touch};

pub(crate) struct VerifiedPerson<'s> {
    pub(crate) person: usize,
    pub(crate) fingerprint: String,
    pub(crate) touch: Option<Touch>,
    /// The lines that entitle the key to this.
    lines: Vec<&'s AllowedSigner>,
}

impl VerifiedPerson<'_> {
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.lines.iter().any(|line| line.principals.matches(name))
    }

    /// Returns the names and patterns of the key, as written.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().flat_map(|line| line.principals.wanted())
    }
}

/// A signature file that does not count.
pub(crate) struct UnusableSignature {
    /// The file name and the reason.
    pub(crate) text: String,
    /// True if it would count but for the revocation of its key.
    pub(crate) revoked: bool,
}

#[derive(Default)]
pub(crate) struct VerifiedSignatures<'s> {
    pub(crate) approvals: Vec<VerifiedPerson<'s>>,
    pub(crate) rejections: Vec<VerifiedPerson<'s>>,
    pub(crate) requesters: Vec<VerifiedPerson<'s>>,
    pub(crate) unusable: Vec<UnusableSignature>,
    pub(crate) too_many: bool,
}

pub(crate) struct SignatureCheck<'s> {
    pub(crate) signers: &'s AllowedSigners,
    /// True if a security key must have checked a PIN or a finger.
    pub(crate) user_verification: bool,
    pub(crate) now: UtcTime,
}

impl<'s> VerifiedSignatures<'s> {
    pub(crate) fn count(
        document: SignedDocument<'_>,
        files: &[SignatureFile],
        scrutiny: &SignatureCheck<'s>,
    ) -> Self {
        let mut votes = Self { too_many: files.len() > SIGNATURE_FILES_MAX, ..Self::default() };
        if votes.too_many {
            // A part of the files could miss the one that rejects.
            return votes;
        }
        // The report must not depend on the order of the directory.
        let mut files: Vec<&SignatureFile> = files.iter().collect();
        files.sort_by(|one, other| (&one.name, &one.bytes).cmp(&(&other.name, &other.bytes)));
        for file in files {
            match scrutiny.verify_file(file, document) {
                Ok((SignaturePurpose::Approve, voter)) => votes.approvals.push(voter),
                Ok((SignaturePurpose::Reject, voter)) => votes.rejections.push(voter),
                Ok((SignaturePurpose::Request, voter)) => votes.requesters.push(voter),
                Err(SignatureRefusal { why, revoked }) => {
                    let text = format!("{}: {why}", escape_line(&file.name));
                    votes.unusable.push(UnusableSignature { text, revoked });
                }
            }
        }
        votes
    }
}

struct SignatureRefusal {
    why: String,
    revoked: bool,
}

impl From<String> for SignatureRefusal {
    fn from(why: String) -> Self {
        Self { why, revoked: false }
    }
}

impl<'s> SignatureCheck<'s> {
    fn verify_file(
        &self,
        file: &SignatureFile,
        document: SignedDocument<'_>,
    ) -> Result<(SignaturePurpose, VerifiedPerson<'s>), SignatureRefusal> {
        let signature = SshSignature::parse(&file.bytes).map_err(|error| error.to_string())?;
        let Some(act) = document.purpose(signature.namespace()) else {
            let (shown, meant) = (escape_line(signature.namespace()), document.approve_namespace());
            return Err(format!("namespace `{shown}` is not `{meant}`").into());
        };
        let fingerprint = signature.key().fingerprint();
        let known = self.lines_of(signature.key());
        let Some(first) = known.first() else {
            return Err(format!("key {fingerprint} is not in allowed_signers").into());
        };
        let person = first.person;
        let message =
            document.message(&signature, &file.bytes).map_err(|error| error.to_string())?;
        let verified = signature.verify(message).map_err(|error| error.to_string())?;
        let touch = verified.touch();
        let must_verify = act == SignaturePurpose::Approve && self.user_verification;
        if let Some(touch) = touch.filter(|touch| must_verify && !touch.user_verified()) {
            let count = touch.counter();
            let why = format!(
                "security key {fingerprint} did not verify its user by PIN or fingerprint \
                 (signature {count}), but approval.user_verification is true"
            );
            return Err(why.into());
        }
        let lines = self
            .entitled(known, (act, verified.namespace()), document)
            .map_err(|why| SignatureRefusal::from(format!("key {fingerprint} {why}")))?;
        if self.signers.is_revoked(verified.key()) {
            return Err(SignatureRefusal {
                why: format!("key {fingerprint} is revoked"),
                revoked: true,
            });
        }
        Ok((act, VerifiedPerson { person, fingerprint, touch, lines }))
    }

    fn lines_of(&self, key: &SignerKey) -> Vec<&'s AllowedSigner> {
        self.signers.of_key(key).collect()
    }

    /// Returns the lines of a key that entitle it to this act, or the reason why none does.
    fn entitled(
        &self,
        lines: Vec<&'s AllowedSigner>,
        (act, namespace): (SignaturePurpose, &str),
        document: SignedDocument<'_>,
    ) -> Result<Vec<&'s AllowedSigner>, String> {
        let approved = document.approved();
        let holds = |line: &AllowedSigner, at: UtcTime| line.validity.holds(at);
        let in_time = |line: &AllowedSigner| match act {
            SignaturePurpose::Approve => holds(line, approved),
            // A rejection is made after the approval, at a time that no file states.
            SignaturePurpose::Reject => holds(line, approved) || holds(line, self.now),
            SignaturePurpose::Request => holds(line, document.created()) || holds(line, approved),
        };
        if !lines.iter().any(|line| line.is_for(namespace)) {
            return Err(format!("may not sign in namespace `{namespace}`"));
        }
        let entitled: Vec<&AllowedSigner> =
            lines.into_iter().filter(|line| line.is_for(namespace) && in_time(line)).collect();
        if entitled.is_empty() {
            return Err(format!("was not valid at approved_utc {approved}"));
        }
        Ok(entitled)
    }
}
