//! The types shared by the readers of signatures and the rules about approvals. None of them may
//! claim more than was read: `verified_signatures` and `signers` decide that a signature counts.

use std::collections::BTreeSet;
use std::fmt;

use model::UtcTime;

use super::key::SignerKey;
use super::pattern::PatternList;
use super::touch::Touch;
use super::validity::ValidityWindow;
use crate::standing::StandingUse;

/// The namespace of a signature that approves.
pub const APPROVE_NAMESPACE: &str = "approve.tool-exec@threegate";
/// The namespace of a signature that rejects; one valid rejection is final.
pub const REJECT_NAMESPACE: &str = "reject.tool-exec@threegate";
/// The namespace of a signature that names the requester. That person never counts as an approver.
pub const REQUEST_NAMESPACE: &str = "request.tool-exec@threegate";
/// The namespace of a signature that approves every run within the bounds of a standing approval.
pub const STANDING_NAMESPACE: &str = "standing.tool-exec@threegate";
/// The namespace of a signature over the list of a fleet, or over an order that declares a host lost.
pub const FLEET_NAMESPACE: &str = "fleet.tool-exec@threegate";
/// The maximum number of signature files of one request.
pub const SIGNATURE_FILES_MAX: usize = 16;

/// A signature file of a request. It is a claim until it verifies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignatureFile {
    /// The file's name, for messages.
    pub name: String,
    /// The content: a claimed SSH signature in its armour.
    pub bytes: Vec<u8>,
}

/// One line of `allowed_signers`: a key, its names, and the uses and times for which it may sign.
#[derive(Clone, Debug)]
pub(crate) struct AllowedSigner {
    pub(crate) principals: PatternList,
    pub(crate) principals_text: String,
    pub(crate) namespaces: Option<PatternList>,
    pub(crate) validity: ValidityWindow,
    pub(crate) key: SignerKey,
    /// The number of the person. Lines have the same number if they share a key, or if a name could
    /// match both, directly or through further lines. Two keys or two names must not make a person
    /// two approvers.
    pub(crate) person: usize,
}

impl AllowedSigner {
    pub(crate) fn is_for(&self, namespace: &str) -> bool {
        self.namespaces.as_ref().is_none_or(|names| names.matches(namespace))
    }
}

/// A line of `allowed_signers` cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedSignersError {
    line: usize,
    what: String,
    advice: &'static str,
}

impl AllowedSignersError {
    pub(super) fn new(line: usize, what: impl Into<String>, advice: &'static str) -> Self {
        Self { line, what: what.into(), advice }
    }

    /// Returns the line, from 1; 0 means the whole file.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the problem without its line and its help.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for AllowedSignersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}; help: {}", self.what, self.advice)
    }
}

impl std::error::Error for AllowedSignersError {}

/// The keys that are revoked.
#[derive(Clone, Debug, Default)]
pub struct RevokedKeys {
    pub(super) blobs: BTreeSet<Vec<u8>>,
    pub(super) sha1: BTreeSet<[u8; 20]>,
    pub(super) sha256: BTreeSet<[u8; 32]>,
}

/// The revocation list cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RevokedKeysError {
    pub(super) line: Option<usize>,
    pub(super) what: String,
}

impl RevokedKeysError {
    pub(super) fn whole(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }

    /// Returns the line, from 1, of the error in a plain list.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for RevokedKeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(
            f,
            "{}; help: make the list with `ssh-keygen -k`, or write one public key per line",
            self.what
        )
    }
}

impl std::error::Error for RevokedKeysError {}

/// The approval of a request.
#[derive(Debug)]
pub(crate) struct Approval {
    pub(crate) text: String,
    /// Principal and key fingerprint of each signature.
    pub(crate) signed: Vec<(String, String)>,
    /// The number of different people among them.
    pub(crate) people: usize,
    /// The touch data of each security key among them, by fingerprint.
    pub(crate) touches: Vec<(String, Touch)>,
    /// The last second in which a start may use it.
    pub(crate) expires: Option<UtcTime>,
    /// The standing approval, if the request uses one.
    pub(crate) standing: Option<StandingUse>,
}

impl Approval {
    /// Makes the approval of an unapproved request, for its preview only.
    pub(crate) fn unapproved() -> Self {
        let text = "not approved".to_owned();
        Self {
            text,
            signed: Vec::new(),
            people: 0,
            touches: Vec::new(),
            expires: None,
            standing: None,
        }
    }
}
