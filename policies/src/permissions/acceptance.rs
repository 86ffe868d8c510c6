//! Whether an answer is its author's to give. It must never count without an author whom the rules accept,
//! and one signature that cannot be used must not stop one that can.

use std::collections::BTreeSet;

use model::{UtcTime, escape_line};

use super::answer::{Answer, NotAccepted};
use super::model::Author;
use crate::approval::{NotEntitled, SignatureFile, Signers, SshSignature};

/// The namespace of a signature over the bytes of an answer.
pub const PERMISSION_NAMESPACE: &str = "permission.tool-exec@threegate";

/// Whose answers count. Nobody's, unless something is filled in.
#[derive(Clone, Debug, Default)]
pub struct AnswerRules {
    /// Whose signatures do.
    pub signers: Option<Signers>,
    /// The users of the host whose own files do, unsigned.
    pub uids: BTreeSet<u32>,
}

/// What is known of an answer beside its bytes.
#[derive(Clone, Copy, Debug)]
pub struct AnswerEvidence<'e> {
    /// The signatures that lie beside it.
    pub signatures: &'e [SignatureFile],
    /// Whose file it is, where it is a file.
    pub owner: Option<FileOwner>,
    /// The present time.
    pub now: UtcTime,
}

/// Whose a file is, as the descriptor it was read from says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileOwner {
    /// The user.
    pub uid: u32,
    /// The permission bits.
    pub mode: u32,
}

/// An answer whose author the rules accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    pub(crate) answer: Answer,
    pub(crate) by: Author,
}

impl Accepted {
    /// An answer that the embedding program vouches for: it has asked whoever decides, and nobody else
    /// can have written it.
    #[must_use]
    pub fn vouched(answer: Answer, program: &str) -> Self {
        Self { answer, by: Author::Program(program.to_owned()) }
    }

    /// The answer.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Whose it is.
    #[must_use]
    pub fn by(&self) -> &Author {
        &self.by
    }
}

impl AnswerRules {
    /// The answer in these bytes, if it is well formed and by somebody whose answers count.
    ///
    /// # Errors
    /// [`NotAccepted`] says what is wrong, and of every signature why it does not count.
    pub fn accept(
        &self,
        bytes: &[u8],
        evidence: &AnswerEvidence<'_>,
    ) -> Result<Accepted, NotAccepted> {
        let answer = Answer::read(bytes)?;
        let mut why_not = Vec::new();
        for file in evidence.signatures {
            match self.signer(bytes, file, evidence.now) {
                Ok(by) => return Ok(Accepted { answer, by }),
                Err(why) => why_not.push(format!("{}: {why}", escape_line(&file.name))),
            }
        }
        match evidence.owner.map(|owner| self.owner(owner)) {
            Some(Ok(by)) => return Ok(Accepted { answer, by }),
            Some(Err(why)) => why_not.push(why),
            None => {}
        }
        if evidence.signatures.is_empty() && self.signers.is_some() {
            why_not.push(format!("no signature; sign its bytes for {PERMISSION_NAMESPACE}"));
        }
        Err(NotAccepted(why_not.join("; ")))
    }

    fn signer(&self, bytes: &[u8], file: &SignatureFile, now: UtcTime) -> Result<Author, String> {
        let Some(signers) = &self.signers else {
            return Err("no allowed_signers are known, so no signature counts".to_owned());
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
            return Err(format!("its owner, uid {uid}, is none whose unsigned answers count"));
        }
        if mode & 0o022 != 0 {
            let mode = mode & 0o777;
            return Err(format!("others may write it (mode {mode:o}); chmod go-w it"));
        }
        Ok(Author::Uid(uid))
    }
}

fn reason(why: NotEntitled) -> &'static str {
    match why {
        NotEntitled::Revoked => "is revoked",
        NotEntitled::Unknown => "is not in allowed_signers",
        NotEntitled::Namespace => "may not answer for permissions",
        NotEntitled::Time => "is not valid now",
    }
}
