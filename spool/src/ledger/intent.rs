//! A line of the ledger: what it says, and by what it is found. It must say all that a record of the run
//! has to, if nobody is left to ask.

use std::path::{Path, PathBuf};

use model::{ResultId, UtcTime};
use serde::{Deserialize, Serialize};

use super::keys::Key;
use crate::claim::Replayed;
use crate::stage::Staged;

/// One line of the ledger.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intent {
    pub(crate) request_sha256: String,
    pub(crate) request_id: String,
    pub(crate) result_id: String,
    pub(crate) claim: String,
    /// When the run was begun, UTC.
    pub(crate) begun: String,
    /// Where the record was to be published.
    pub(crate) results: PathBuf,
    /// What the record must say of the decision even if nobody is left to ask.
    pub(crate) policy_name: String,
    pub(crate) policy_sha256: String,
    pub(crate) approval: String,
    /// Hosts that the run was granted, and may have reached whatever is left of it. Lines of programs
    /// that did not write them say nothing, which is not the same as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hosts: Option<Vec<String>>,
    /// The nonce of the envelope that bound it to an intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ais_nonce: Option<String>,
    /// The record whose run is done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replays: Option<Replayed>,
}

impl Intent {
    /// By what its line is found. A replay uses no request up, so nobody finds it by one.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        let [bytes, id] = [Key::Bytes(&self.request_sha256), Key::RequestId(&self.request_id)];
        let of_request = self.replays.is_none().then_some([bytes, id]);
        of_request.into_iter().flatten().chain([Key::Claim(&self.claim)])
    }

    pub(super) fn of(staged: &Staged, result_id: &ResultId, at: UtcTime, results: &Path) -> Self {
        let request = staged.approved().request();
        let grant = staged.approved().grant();
        let hosts = grant.network().map_or_else(Vec::new, |it| it.hosts.keys().cloned().collect());
        Self {
            request_sha256: request.sha256().to_string(),
            request_id: request.id().to_string(),
            result_id: result_id.to_string(),
            claim: staged.claimed().id().as_str().to_owned(),
            begun: at.to_string(),
            results: results.to_owned(),
            policy_name: grant.policy_name().to_owned(),
            policy_sha256: grant.policy_sha256().to_string(),
            approval: grant.approval_text().to_owned(),
            hosts: Some(hosts),
            ais_nonce: staged.approved().ais_nonce().map(str::to_owned),
            replays: staged.claimed().replays().cloned(),
        }
    }
}
