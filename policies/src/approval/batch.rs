//! Batches: one signature that approves several requests. It covers a list in the form of
//! sha256sum(1), a line for each request. The file beside a request is the signature and, after it,
//! the list: `ssh-keygen` ignores text after a signature. A request that is not in the list, or has
//! other bytes, must never be approved by it.

use std::fmt;

use model::{RequestId, Sha256};
use validator::Request;

use super::armour;
use super::sshsig::SshSignature;

/// The namespace of a signature that approves every request of a list.
pub const BATCH_NAMESPACE: &str = "batch.tool-exec@threegate";
/// The maximum number of requests in a batch: a person can still read them.
pub const BATCH_REQUESTS_MAX: usize = 100;
/// The maximum size of a list to be signed: with the signature, also that of a passkey, the file
/// stays within [`SIGNATURE_BYTES_MAX`](super::SIGNATURE_BYTES_MAX). A hundred requests exceed it if
/// their ids are of the longest form.
const LIST_BYTES_MAX: usize = super::SIGNATURE_BYTES_MAX - 2048;

/// A list of requests: lines `<sha256>  <request_id>.md`, each ended by a line feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BatchList {
    rows: Vec<(Sha256, RequestId)>,
}

/// The reason why a list approves nothing, or not this request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BatchError {
    /// Not the form of a list.
    NotAList {
        /// The number of the first wrong line, from 1.
        line: usize,
    },
    /// No request, or more than [`BATCH_REQUESTS_MAX`].
    Count(usize),
    /// The list is too long to be signed.
    TooLong {
        /// Its size.
        bytes: usize,
    },
    /// The list names a request twice.
    Duplicate(RequestId),
    /// The list does not have the request with its present bytes.
    NotListed(RequestId),
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAList { line } => {
                write!(f, "line {line} of the batch is not `<sha256>  <request_id>.md`")
            }
            Self::Count(count) => {
                let help = format!("approve 1 to {BATCH_REQUESTS_MAX} at once");
                write!(f, "the batch has {count} requests; help: {help}")
            }
            Self::TooLong { bytes } => {
                let what = format!("more than {LIST_BYTES_MAX}; help: approve fewer at once");
                write!(f, "the list of the batch has {bytes} bytes, {what}")
            }
            Self::Duplicate(id) => write!(f, "the batch has {id} twice"),
            Self::NotListed(id) => write!(f, "the batch does not have {id} with these bytes"),
        }
    }
}

impl std::error::Error for BatchError {}

impl BatchList {
    /// Makes a list of these requests, in this order, to be signed.
    ///
    /// # Errors
    /// [`BatchError::Count`], [`BatchError::Duplicate`] or [`BatchError::TooLong`].
    pub fn new(rows: Vec<(Sha256, RequestId)>) -> Result<Self, BatchError> {
        let list = Self::checked(rows)?;
        match list.text().len() {
            bytes if bytes > LIST_BYTES_MAX => Err(BatchError::TooLong { bytes }),
            _ => Ok(list),
        }
    }

    fn checked(rows: Vec<(Sha256, RequestId)>) -> Result<Self, BatchError> {
        if rows.is_empty() || rows.len() > BATCH_REQUESTS_MAX {
            return Err(BatchError::Count(rows.len()));
        }
        for (index, (_, id)) in rows.iter().enumerate() {
            if rows.iter().take(index).any(|(_, before)| before == id) {
                return Err(BatchError::Duplicate(id.clone()));
            }
        }
        Ok(Self { rows })
    }

    /// Returns the exact bytes that are signed.
    #[must_use]
    pub fn text(&self) -> String {
        self.rows.iter().map(|(sha256, id)| format!("{sha256}  {id}.md\n")).collect()
    }

    /// Reads a list, which must be exactly as [`Self::text`] prints it.
    ///
    /// # Errors
    /// The first [`BatchError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, BatchError> {
        let mut rows = Vec::new();
        for (line, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(1..) {
            rows.push(row(line).ok_or(BatchError::NotAList { line: number })?);
            // Bound the work before a list is refused for its length.
            if rows.len() > BATCH_REQUESTS_MAX {
                return Err(BatchError::Count(rows.len()));
            }
        }
        Self::checked(rows)
    }

    /// Returns the list of a signature file.
    fn of_file(file: &[u8]) -> Result<(Self, &[u8]), BatchError> {
        let text = armour::text_after(file).ok_or(BatchError::NotAList { line: 1 })?;
        Ok((Self::parse(text)?, text))
    }

    fn has(&self, sha256: Sha256, id: &RequestId) -> bool {
        self.rows.iter().any(|(listed, name)| *listed == sha256 && name == id)
    }
}

fn row(line: &[u8]) -> Option<(Sha256, RequestId)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix(".md\n")?;
    let (digest, id) = line.split_once("  ")?;
    let (sha256, id): (Sha256, RequestId) = (digest.parse().ok()?, id.parse().ok()?);
    // One spelling of each row.
    (sha256.to_string() == digest).then_some((sha256, id))
}

impl SshSignature {
    /// Returns the bytes that this signature must cover to be about the request: the request, or
    /// for a batch its list in `file`, the whole signature file.
    ///
    /// # Errors
    /// [`BatchError`]: the list is malformed, or does not have the request.
    pub fn message_about<'m>(
        &self,
        file: &'m [u8],
        request: &'m Request,
    ) -> Result<&'m [u8], BatchError> {
        if self.namespace() != BATCH_NAMESPACE {
            return Ok(request.bytes());
        }
        let (list, text) = BatchList::of_file(file)?;
        match list.has(request.sha256(), request.id()) {
            true => Ok(text),
            false => Err(BatchError::NotListed(request.id().clone())),
        }
    }

    /// Returns whether the namespace is one of approvals.
    #[must_use]
    pub fn is_approval(&self) -> bool {
        [super::APPROVE_NAMESPACE, BATCH_NAMESPACE].contains(&self.namespace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> RequestId {
        format!("TR-20260209-160501Z-n{number}").parse().unwrap()
    }

    fn rows(count: usize) -> Vec<(Sha256, RequestId)> {
        (0..count).map(|it| (Sha256::of(&it.to_be_bytes()), id(it))).collect()
    }

    #[test]
    fn a_list_is_read_as_it_is_printed() {
        for count in [1, 2, BATCH_REQUESTS_MAX] {
            let list = BatchList::new(rows(count)).unwrap();
            assert_eq!(BatchList::parse(list.text().as_bytes()).unwrap(), list);
            assert!(list.has(Sha256::of(&0_usize.to_be_bytes()), &id(0)));
            assert!(!list.has(Sha256::of(&1_usize.to_be_bytes()), &id(0)));
        }
        for count in [0, BATCH_REQUESTS_MAX + 1] {
            assert_eq!(BatchList::new(rows(count)), Err(BatchError::Count(count)));
        }
        let twice = [rows(2), rows(1)].concat();
        assert_eq!(BatchList::new(twice), Err(BatchError::Duplicate(id(0))));
    }

    #[test]
    fn list_that_leaves_no_space_for_a_signature_is_refused() {
        let longest = |count: usize| {
            let row = |it: usize| {
                let id = format!("TR-20260209-160501Z-{it:02}{}", "a".repeat(62));
                (Sha256::of(b""), id.parse().unwrap())
            };
            (0..count).map(row).collect::<Vec<(Sha256, RequestId)>>()
        };
        let list = BatchList::new(longest(90)).unwrap();
        // An approver could sign it before the limit was lowered.
        let text = BatchList { rows: longest(BATCH_REQUESTS_MAX) }.text();
        assert_eq!(BatchList::parse(text.as_bytes()).unwrap().rows.len(), BATCH_REQUESTS_MAX);
        let too_long = BatchError::TooLong { bytes: text.len() };
        assert_eq!(BatchList::new(longest(BATCH_REQUESTS_MAX)), Err(too_long));
        assert!(list.text().len() <= LIST_BYTES_MAX);
    }

    #[test]
    fn another_spelling_is_not_a_list() {
        let text = BatchList::new(rows(2)).unwrap().text();
        let upper = text.to_uppercase();
        let changed = [
            text.trim_end().to_owned(),
            text.replacen("  ", " ", 1),
            text.replacen("  ", " *", 1),
            text.replacen("  ", "  ./", 1),
            text.replacen(".md", "", 1),
            text.replacen('\n', "\r\n", 1),
            format!("\n{text}"),
            format!("{text}\n"),
            format!(" {text}"),
            format!("# {text}"),
            upper,
            text.replacen("TR-", "TR-\u{200b}", 1),
        ];
        for changed in changed {
            let parsed = BatchList::parse(changed.as_bytes());
            assert!(matches!(parsed, Err(BatchError::NotAList { .. })), "{changed:?}");
        }
        assert_eq!(BatchList::parse(b""), Err(BatchError::Count(0)));
    }
}
