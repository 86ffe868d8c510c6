//! `POST /prepare`: the exact bytes that a person would sign for an action, and the passkeys that
//! may sign them. Nothing is written. The script shows these bytes, and asks a passkey to sign
//! them.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use model::{Sha256, UtcTime, digest_words};
use policies::{
    ActionDocument, ActionTarget, BATCH_REQUESTS_MAX, SignedActionKind, SignedActionTerms,
};
use serde::{Deserialize, Serialize};
use spool::{clock, published_policy};
use validator::{Draft, FileLocation, OneLine, OwnerUid, Severity, StandingApproval, Violation};

use crate::json_api::{ApiError, read_json};
use crate::origin::ConsoleOrigin;
use crate::state::{ConsoleState, WorkKind, blocking_as};

/// Limit of the documents of an action together. One document fits.
const DOCUMENTS_BYTES_MAX: usize = 8 << 20;

/// The action that a person has chosen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChosenAction {
    action: String,
    ids: Vec<String>,
    by: Option<String>,
}

/// One document of the action.
#[derive(Serialize)]
struct PreparedDocument {
    id: String,
    /// As it will be signed.
    sha256: String,
    /// As it is in the spool, and as its page shows it. An order has no document.
    stored_sha256: Option<String>,
    words: [&'static str; 6],
}

/// A passkey that may sign.
#[derive(Serialize)]
struct OfferedPasskey {
    id: String,
    public_key: String,
}

/// All that the script needs to sign.
#[derive(Serialize)]
pub(crate) struct PreparedAction {
    namespace: &'static str,
    rp_id: String,
    documents: Vec<PreparedDocument>,
    /// The bytes to sign, in base64url.
    message: String,
    /// The same as text.
    text: String,
    credentials: Vec<OfferedPasskey>,
    /// The file of the action above its signature.
    header: String,
}

/// Answers the script.
pub(crate) async fn prepare(
    State(console): State<Arc<ConsoleState>>,
    Extension(origin): Extension<ConsoleOrigin>,
    body: Body,
) -> Result<Json<PreparedAction>, ApiError> {
    let chosen: ChosenAction = read_json(body).await?;
    let prepared =
        blocking_as(WorkKind::Action, console, move |console| Ok(of(console, &chosen, &origin)));
    prepared.await?.map(Json)
}

fn of(
    console: &ConsoleState,
    chosen: &ChosenAction,
    origin: &ConsoleOrigin,
) -> Result<PreparedAction, ApiError> {
    if console.signed.is_none() {
        return Err(ApiError::conflict(
            "This spool takes no signatures from the console; help: create its directory signed/.",
        ));
    }
    let now = clock::now();
    let kind = SignedActionKind::named(&chosen.action);
    let kind = kind.ok_or_else(|| unfit("No such action."))?;
    let (documents, bytes) = documents(console, kind, &chosen.ids)?;
    let by = chosen.by.as_deref().filter(|_| kind == SignedActionKind::Approve);
    let by = by.map(str::parse::<OneLine>).transpose().map_err(|error| unfit(error.to_string()))?;
    let at = kind.has_time().then_some(now);
    let terms = SignedActionTerms::new(kind, by, at, documents).map_err(conflict)?;
    let signed = signed_documents(&terms, &bytes, now)?;
    let message = terms.message(&signed).map_err(conflict)?;
    let text = String::from_utf8(message.clone())
        .map_err(|_| ApiError::conflict("The document is not UTF-8; help: reject it."))?;
    let rp_id = rp_id(console, origin)?;
    Ok(PreparedAction {
        namespace: terms.namespace(),
        documents: prepared_documents(&terms, &signed, &message),
        message: BASE64_URL_SAFE_NO_PAD.encode(&message),
        text,
        credentials: credentials(console, &terms, (rp_id.as_str(), now))?,
        header: terms.header(),
        rp_id,
    })
}

fn unfit(sentence: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, sentence)
}

fn conflict(error: impl std::fmt::Display) -> ApiError {
    ApiError::conflict(error.to_string())
}

/// Returns the documents of the action, and the bytes of each as they are in the spool.
fn documents(
    console: &ConsoleState,
    kind: SignedActionKind,
    ids: &[String],
) -> Result<(Vec<ActionDocument>, Vec<Vec<u8>>), ApiError> {
    if ids.is_empty() || ids.len() > BATCH_REQUESTS_MAX {
        return Err(unfit(format!("Select 1 to {BATCH_REQUESTS_MAX} requests.")));
    }
    let (mut documents, mut all_bytes, mut total) = (Vec::new(), Vec::new(), 0_usize);
    for id in ids {
        let target: ActionTarget = id.parse().map_err(|_| unfit("No such request."))?;
        let mut sha256 = None;
        if !kind.is_order() {
            let found = match (&target, kind) {
                (ActionTarget::Standing(id), SignedActionKind::Revoke) => {
                    console.published_standing(id)?
                }
                _ => console.draft(&target)?,
            };
            let gone = || ApiError::conflict(format!("{target}: not here any more; help: reload."));
            let bytes = found.ok_or_else(gone)?;
            total = total.saturating_add(bytes.len());
            if total > DOCUMENTS_BYTES_MAX {
                return Err(unfit("The drafts are larger than 8 MiB; help: select fewer."));
            }
            sha256 = Some(Sha256::of(&bytes));
            all_bytes.push(bytes);
        }
        documents.push(ActionDocument { sha256, target });
    }
    Ok((documents, all_bytes))
}

/// Returns the bytes of each document as they will be signed.
fn signed_documents(
    terms: &SignedActionTerms,
    bytes: &[Vec<u8>],
    now: UtcTime,
) -> Result<Vec<Vec<u8>>, ApiError> {
    let mut signed = Vec::new();
    for (document, bytes) in terms.documents().iter().zip(bytes) {
        let target = &document.target;
        let filled = terms.signed_document(target, bytes).map_err(conflict)?;
        if terms.kind() == SignedActionKind::Approve {
            check_document(target, &filled, now)?;
        }
        signed.push(filled);
    }
    Ok(signed)
}

/// Checks an approved document as the daemon will, so that no touch is wasted.
fn check_document(target: &ActionTarget, filled: &[u8], now: UtcTime) -> Result<(), ApiError> {
    let name = target.file_name();
    let violations = match target {
        ActionTarget::Request(_) => {
            let draft = Draft::new(filled.to_vec(), &name, OwnerUid::new(0)).map_err(conflict)?;
            draft.check(FileLocation::Spool, now).violations
        }
        ActionTarget::Standing(_) => {
            StandingApproval::read(filled, &name, now).err().unwrap_or_default()
        }
    };
    let is_error = |it: &&Violation| it.severity == Severity::Error;
    match violations.iter().find(is_error) {
        Some(first) => Err(ApiError::conflict(format!(
            "{target}: {}; help: its page lists every error.",
            first.message
        ))),
        None => Ok(()),
    }
}

/// Returns a row for each document. An order has none, and shows the digest of its own text.
fn prepared_documents(
    terms: &SignedActionTerms,
    signed: &[Vec<u8>],
    message: &[u8],
) -> Vec<PreparedDocument> {
    let named = terms.documents().iter().enumerate();
    named
        .map(|(index, document)| {
            let sha256 = Sha256::of(signed.get(index).map_or(message, Vec::as_slice));
            let (id, words) = (document.target.to_string(), digest_words(&sha256));
            let stored_sha256 = document.sha256.as_ref().map(ToString::to_string);
            PreparedDocument { id, sha256: sha256.to_string(), stored_sha256, words }
        })
        .collect()
}

/// Returns the domain whose passkeys the daemon accepts from this origin.
fn rp_id(console: &ConsoleState, origin: &ConsoleOrigin) -> Result<String, ApiError> {
    // Without a published policy the daemon is not running, and decides when it runs again.
    let Ok(policy) = published_policy(&console.spool) else { return Ok(origin.host().to_owned()) };
    let listed = policy.passkey_domain(origin.as_str());
    listed.map(str::to_owned).ok_or_else(|| {
        ApiError::conflict(format!(
            "The policy accepts no passkeys from {}; help: list the origin in approval.webauthn.",
            origin.as_str()
        ))
    })
}

fn credentials(
    console: &ConsoleState,
    terms: &SignedActionTerms,
    domain: (&str, UtcTime),
) -> Result<Vec<OfferedPasskey>, ApiError> {
    let list = console.passkeys.list().map_err(conflict)?;
    let by = terms.by().map(OneLine::as_str);
    let offered: Vec<OfferedPasskey> = list
        .offered(terms.namespace(), by, domain)
        .map(|passkey| OfferedPasskey {
            id: passkey.id().to_owned(),
            public_key: BASE64_URL_SAFE_NO_PAD.encode(passkey.public_key()),
        })
        .collect();
    match offered.is_empty() {
        false => Ok(offered),
        true => Err(ApiError::conflict(
            "No passkey of this site may sign this; help: enrol one, and have an administrator add \
             its line to allowed_signers.",
        )),
    }
}
