//! The file of a signed action: the lines of its content, then its signature. Each action has one
//! spelling only. A file that is read proves nothing.

use model::Sha256;
use validator::OneLine;

use super::error::SignedActionError;
use super::model::{ActionDocument, SIGNED_ACTION_BYTES_MAX, SignedActionKind};
use super::terms::{SignedActionTerms, TITLE};
use crate::approval::batch::BATCH_REQUESTS_MAX;
use crate::approval::signature_error::SignatureError;
use crate::approval::sshsig::{SIGNATURE_BYTES_MAX, SshSignature};

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "\n-----END SSH SIGNATURE-----\n";

/// An action with a signature that is not verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignedAction {
    terms: SignedActionTerms,
    signature: String,
}

impl SignedAction {
    /// Reads the file of an action.
    ///
    /// # Errors
    /// [`SignedActionError`]: the first part that has another form.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignedActionError> {
        if bytes.len() > SIGNED_ACTION_BYTES_MAX {
            return Err(SignedActionError::TooLarge);
        }
        let title = || SignedActionError::Line { line: 1, form: TITLE };
        let text = std::str::from_utf8(bytes).map_err(|_| title())?;
        if !text.starts_with(TITLE) {
            return Err(title());
        }
        let at = text.find("\n-----").ok_or(SignedActionError::Armour)?.saturating_add(1);
        let (header, signature) = text.split_at_checked(at).ok_or(SignedActionError::Armour)?;
        Self::compose(read_header(header)?, signature)
    }

    /// Joins the content of an action and its signature, as `ssh-keygen -Y sign` writes it.
    ///
    /// # Errors
    /// [`SignedActionError`]: the signature has another form, or is for another use.
    pub fn compose(terms: SignedActionTerms, signature: &str) -> Result<Self, SignedActionError> {
        if signature.len() > SIGNATURE_BYTES_MAX {
            return Err(SignedActionError::Signature(SignatureError::TooLarge));
        }
        let inside = signature.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '\n');
        if !inside.is_some_and(|inside| inside.chars().all(is_plain)) {
            return Err(SignedActionError::Armour);
        }
        let claimed =
            SshSignature::parse(signature.as_bytes()).map_err(SignedActionError::Signature)?;
        let wanted = terms.namespace();
        if claimed.namespace() != wanted {
            let found = claimed.namespace().to_owned();
            return Err(SignedActionError::Namespace { found, wanted });
        }
        if terms.header().len().saturating_add(signature.len()) > SIGNED_ACTION_BYTES_MAX {
            return Err(SignedActionError::TooLarge);
        }
        Ok(Self { terms, signature: signature.to_owned() })
    }

    /// Returns the text of the file, which [`Self::parse`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.terms.header(), self.signature)
    }

    /// Returns the content.
    #[must_use]
    pub fn terms(&self) -> &SignedActionTerms {
        &self.terms
    }

    /// Returns the signature in its armour.
    #[must_use]
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// Returns the namespace of its signature.
    #[must_use]
    pub fn namespace(&self) -> &'static str {
        self.terms.namespace()
    }

    /// Returns the exact bytes that its signature must cover; see [`SignedActionTerms::message`].
    ///
    /// # Errors
    /// As [`SignedActionTerms::message`].
    pub fn message<D: AsRef<[u8]>>(&self, documents: &[D]) -> Result<Vec<u8>, SignedActionError> {
        self.terms.message(documents)
    }
}

impl SignedActionTerms {
    /// Reads the lines of an action above its signature, exactly as [`Self::header`] prints them.
    ///
    /// # Errors
    /// [`SignedActionError`]: the first line that has another form.
    pub fn parse(header: &str) -> Result<Self, SignedActionError> {
        if header.len() > SIGNED_ACTION_BYTES_MAX {
            return Err(SignedActionError::TooLarge);
        }
        read_header(header)
    }
}

/// The lines that are not read yet.
struct HeaderLines<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> HeaderLines<'t> {
    /// Returns the value of the next line, which must have this key and end in a line feed.
    fn value<T>(
        &mut self,
        key: &str,
        form: &'static str,
        read: impl FnOnce(&'t str) -> Option<T>,
    ) -> Result<T, SignedActionError> {
        self.line = self.line.saturating_add(1);
        let wrong = SignedActionError::Line { line: self.line, form };
        let Some((line, rest)) = self.rest.split_once('\n') else { return Err(wrong) };
        self.rest = rest;
        line.strip_prefix(key).and_then(read).ok_or(wrong)
    }
}

fn read_header(header: &str) -> Result<SignedActionTerms, SignedActionError> {
    let mut lines = HeaderLines { rest: header, line: 0 };
    lines.value(TITLE, TITLE, |rest| rest.is_empty().then_some(()))?;
    let form = "action: ACTION";
    let kind = lines.value("action: ", form, SignedActionKind::named)?;
    let by = match kind {
        SignedActionKind::Approve => {
            Some(lines.value("by: ", "by: PRINCIPAL", |text| text.parse::<OneLine>().ok())?)
        }
        _ => None,
    };
    let at = match kind.has_time() {
        true => Some(lines.value("at: ", "at: YYYY-MM-DDTHH:MM:SSZ", |text| text.parse().ok())?),
        false => None,
    };
    let mut documents = Vec::new();
    while !lines.rest.is_empty() {
        documents.push(lines.value("document: ", "document: SHA256|- ID", read_document)?);
        // The number of lines is limited before each is compared with the others.
        if documents.len() > BATCH_REQUESTS_MAX {
            return Err(SignedActionError::Count(kind, documents.len()));
        }
    }
    SignedActionTerms::new(kind, by, at, documents)
}

fn read_document(text: &str) -> Option<ActionDocument> {
    let (digest, target) = text.split_once(' ')?;
    let sha256 = match digest {
        "-" => None,
        hex => {
            let sha256: Sha256 = hex.parse().ok()?;
            // One spelling of each digest.
            (sha256.to_string() == hex).then_some(Some(sha256))?
        }
    };
    Some(ActionDocument { sha256, target: target.parse().ok()? })
}
