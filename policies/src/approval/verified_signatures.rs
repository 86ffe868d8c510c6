//! The facts that the signature files of a document prove about its exact bytes. A signature must
//! count only for its own namespace, key owner and time. A readable but unusable file must never
//! block a usable one, because anyone may add a broken file.

use model::{UtcTime, escape_line};

use super::document::{SignaturePurpose, SignedDocument};
use super::key::SignerKey;
use super::model::{AllowedSigner, SIGNATURE_FILES_MAX, SignatureFile};
use super::signers::AllowedSigners;
use super::sshsig::{SshSignature, VerifiedSshSignature};
use super::touch::Touch;
use crate::relying_parties::RelyingParties;

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
    /// True if the policy does not count this passkey.
    pub(crate) passkey: bool,
}

#[derive(Default)]
pub(crate) struct VerifiedSignatures<'s> {
    pub(crate) approvals: Vec<VerifiedPerson<'s>>,
    pub(crate) rejections: Vec<VerifiedPerson<'s>>,
    pub(crate) requesters: Vec<VerifiedPerson<'s>>,
    pub(crate) unusable: Vec<UnusableSignature>,
    pub(crate) too_many: bool,
}

pub(crate) struct SignatureCheck<'s, 'p> {
    pub(crate) signers: &'s AllowedSigners,
    /// The passkeys that the policy counts.
    pub(crate) passkeys: &'p RelyingParties,
    /// True if a security key must have checked a PIN or a finger.
    pub(crate) user_verification: bool,
    pub(crate) now: UtcTime,
}

impl<'s> VerifiedSignatures<'s> {
    pub(crate) fn count(
        document: SignedDocument<'_>,
        files: &[SignatureFile],
        scrutiny: &SignatureCheck<'s, '_>,
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
                Err(SignatureRefusal { why, revoked, passkey }) => {
                    let text = format!("{}: {why}", escape_line(&file.name));
                    votes.unusable.push(UnusableSignature { text, revoked, passkey });
                }
            }
        }
        votes
    }
}

/// The reason why a verified signature does not count; the fields as of [`UnusableSignature`].
pub(super) struct SignatureRefusal {
    pub(super) why: String,
    revoked: bool,
    pub(super) passkey: bool,
}

impl From<String> for SignatureRefusal {
    fn from(why: String) -> Self {
        Self { why, revoked: false, passkey: false }
    }
}

impl<'s> SignatureCheck<'s, '_> {
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
        let verified =
            signature.verify_with_passkeys(message).map_err(|error| error.to_string())?;
        self.check_touch(act == SignaturePurpose::Approve, &verified)?;
        let lines = self
            .entitled(known, (act, verified.namespace()), document)
            .map_err(|why| SignatureRefusal::from(format!("key {fingerprint} {why}")))?;
        if self.signers.is_revoked(verified.key()) {
            let why = format!("key {fingerprint} is revoked");
            return Err(SignatureRefusal { why, revoked: true, passkey: false });
        }
        let touch = verified.touch().cloned();
        Ok((act, VerifiedPerson { person, fingerprint, touch, lines }))
    }

    /// Checks that the policy counts the passkey, and that the user was verified if the policy
    /// demands it and the purpose of the signature is one for which it does. Every signature that
    /// counts passes here.
    pub(super) fn check_touch(
        &self,
        is_for_verified_user: bool,
        verified: &VerifiedSshSignature,
    ) -> Result<(), SignatureRefusal> {
        let Some(touch) = verified.touch() else { return Ok(()) };
        let fingerprint = verified.key().fingerprint();
        let (mut name, mut must_verify) = ("security key", self.user_verification);
        let mut demand = "approval.user_verification is true".to_owned();
        if let Some(facts) = touch.webauthn() {
            let party = self.passkeys.judge(facts).map_err(|why| {
                let why = format!("passkey {fingerprint} does not count: {why}");
                SignatureRefusal { why, revoked: false, passkey: true }
            })?;
            name = "passkey";
            if !must_verify && party.requires_user_verification() {
                must_verify = true;
                demand = format!(
                    "approval.webauthn has user_verification: true for `{}`",
                    facts.rp_id()
                );
            }
        }
        if !is_for_verified_user || !must_verify || touch.user_verified() {
            return Ok(());
        }
        let count = touch.counter();
        let why = format!(
            "{name} {fingerprint} did not verify its user by PIN or fingerprint (signature \
             {count}), but {demand}"
        );
        Err(why.into())
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
