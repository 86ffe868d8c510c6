//! The check that an answer's author may give it. An answer must never count without an author whom
//! the rules accept. An unusable signature must not block a usable one.

use std::collections::BTreeSet;

use model::{UtcTime, escape_line};

use super::answer::{PermissionAnswer, PermissionAnswerError};
use super::model::Author;
use crate::approval::{AllowedSigners, EntitlementError, SignatureFile, SshSignature};

/// The namespace of a signature over the bytes of an answer.
pub const PERMISSION_NAMESPACE: &str = "permission.tool-exec@threegate";

/// The authors whose answers count. By default none does.
#[derive(Clone, Debug, Default)]
pub struct AnswerRules {
    /// The keys whose signatures count.
    pub signers: Option<AllowedSigners>,
    /// The users of the host whose own files count without a signature.
    pub uids: BTreeSet<u32>,
}

/// The evidence about an answer besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct AnswerEvidence<'e> {
    /// The signatures next to it.
    pub signatures: &'e [SignatureFile],
    /// The owner of the file, if the answer is a file.
    pub owner: Option<FileOwner>,
    /// The time at which a signing key must be valid.
    pub now: UtcTime,
}

/// The owner and mode of a file, as read from its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileOwner {
    /// The owner's uid, which [`AnswerRules::uids`] must contain.
    pub uid: u32,
    /// The permission bits.
    pub mode: u32,
}

/// An answer whose author the rules accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcceptedAnswer {
    pub(crate) answer: PermissionAnswer,
    pub(crate) by: Author,
}

impl AcceptedAnswer {
    /// Makes an answer that the embedding program vouches for. The program must have asked the
    /// deciding person, and must know that only this person can have written the answer.
    #[must_use]
    pub fn vouched_for(answer: PermissionAnswer, program: &str) -> Self {
        Self { answer, by: Author::Program(program.to_owned()) }
    }

    /// Returns the answer.
    #[must_use]
    pub fn answer(&self) -> &PermissionAnswer {
        &self.answer
    }

    /// Returns the author.
    #[must_use]
    pub fn by(&self) -> &Author {
        &self.by
    }
}

impl AnswerRules {
    /// Reads the answer and checks that its author's answers count.
    ///
    /// # Errors
    /// [`PermissionAnswerError`] states the problem, and why each signature does not count.
    pub fn accept(
        &self,
        bytes: &[u8],
        evidence: &AnswerEvidence<'_>,
    ) -> Result<AcceptedAnswer, PermissionAnswerError> {
        let answer = PermissionAnswer::read(bytes)?;
        let mut why_not = Vec::new();
        for file in evidence.signatures {
            match self.signer(bytes, file, evidence.now) {
                Ok(by) => return Ok(AcceptedAnswer { answer, by }),
                Err(why) => why_not.push(format!("{}: {why}", escape_line(&file.name))),
            }
        }
        match evidence.owner.map(|owner| self.owner(owner)) {
            Some(Ok(by)) => return Ok(AcceptedAnswer { answer, by }),
            Some(Err(why)) => why_not.push(why),
            None => {}
        }
        if evidence.signatures.is_empty() && self.signers.is_some() {
            why_not.push(format!("no signature in namespace {PERMISSION_NAMESPACE}"));
        }
        let help = match self.signers {
            Some(_) => "sign it with the key of an approver",
            None => "let a permitted user write the file",
        };
        Err(PermissionAnswerError(format!("{}; help: {help}", why_not.join("; "))))
    }

    fn signer(&self, bytes: &[u8], file: &SignatureFile, now: UtcTime) -> Result<Author, String> {
        let Some(signers) = &self.signers else {
            return Err("allowed_signers is not configured, so no signature counts".to_owned());
        };
        let signature = SshSignature::parse(&file.bytes).map_err(|error| error.to_string())?;
        if signature.namespace() != PERMISSION_NAMESPACE {
            let shown = escape_line(signature.namespace());
            return Err(format!("namespace `{shown}` is not `{PERMISSION_NAMESPACE}`"));
        }
        let verified = signature.verify(bytes).map_err(|error| error.to_string())?;
        let fingerprint = verified.key().fingerprint();
        match signers.names_for(&verified, now) {
            Ok(names) => Ok(Author::Signed { principal: names.to_owned(), fingerprint }),
            Err(why) => Err(format!("key {fingerprint} {}", reason(why))),
        }
    }

    fn owner(&self, owner: FileOwner) -> Result<Author, String> {
        let FileOwner { uid, mode } = owner;
        if !self.uids.contains(&uid) {
            return Err(format!("unsigned answers of its owner, uid {uid}, do not count"));
        }
        if mode & 0o022 != 0 {
            let mode = mode & 0o777;
            return Err(format!("mode {mode:o} lets other users write it"));
        }
        Ok(Author::Uid(uid))
    }
}

fn reason(why: EntitlementError) -> &'static str {
    match why {
        EntitlementError::Revoked => "is revoked",
        EntitlementError::Unknown => "is not in allowed_signers",
        EntitlementError::Namespace => "may not answer for permissions",
        EntitlementError::Time => "is not valid now",
    }
}
