//! The judgement of this witness on the posts of other hosts. The memory of a host is durable
//! before its cosignature is returned.

use fleet::model::HostName;
use model::UtcTime;
use records::log::{
    JudgedCheckpoint, PublicLogKey, WitnessRefusal, WitnessSigner, WitnessedLog,
    judge_add_checkpoint,
};

use super::error::WitnessError;
use super::files::{KeptCheckpoint, WitnessFiles};
use super::hosts::{WitnessHosts, unreadable_key};
use crate::database::CheckpointRow;

/// The outcome for one host.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum WitnessJudgement {
    /// Its newest checkpoint was cosigned before.
    Nothing,
    /// A cosignature to post.
    Cosigned {
        /// The size of the checkpoint.
        size: u64,
        /// The signature lines.
        lines: String,
    },
    /// Its checkpoint contradicts the cosigned one.
    Contradiction(LogContradiction),
    /// Its post cannot be judged. The text has help.
    Fault(String),
}

/// A post that contradicts the memory of this witness.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct LogContradiction {
    pub(super) reason: String,
    /// The signed note that was posted.
    pub(super) note: String,
    /// The time of the post.
    pub(super) posted_us: u64,
    /// Two signatures of the log contradict each other.
    pub(super) is_evidence: bool,
}

/// Judges every post of a host in the list. Posts of other hosts count for nothing.
pub(super) fn judge_all(
    rows: &[CheckpointRow],
    hosts: &WitnessHosts,
    files: &WitnessFiles,
    signer: &WitnessSigner,
    now: UtcTime,
) -> Vec<(HostName, WitnessJudgement)> {
    let mut judged = Vec::new();
    for row in rows {
        let Some(host) = hosts.other(&row.host) else { continue };
        let judgement = match &host.log {
            Some(key) => judge(row, key, files, signer, now)
                .unwrap_or_else(|error| WitnessJudgement::Fault(error.to_string())),
            None => WitnessJudgement::Fault(unreadable_key("log_key", row.host.as_str())),
        };
        judged.push((row.host.clone(), judgement));
    }
    judged
}

fn judge(
    row: &CheckpointRow,
    log: &PublicLogKey,
    files: &WitnessFiles,
    signer: &WitnessSigner,
    now: UtcTime,
) -> Result<WitnessJudgement, WitnessError> {
    let kept = files.kept(&row.host)?;
    let unseen = || WitnessedLog::unseen(log.origin());
    let known = kept.as_ref().map_or_else(unseen, |kept| kept.log().clone());
    let Some(body) = request(row) else {
        // A larger log may have no proof for this witness yet.
        return Ok(match known.check(&row.note, log) {
            Ok(_) => posted_again(kept.as_ref()),
            Err(refusal) => refused(row, refusal),
        });
    };
    match judge_add_checkpoint(body, log, &known) {
        Ok(judged) if kept.is_some() && judged.checkpoint().size() == known.size() => {
            Ok(WitnessJudgement::Nothing)
        }
        Ok(judged) => cosigned(row, &judged, kept.as_ref(), files, signer, now),
        // The host does not know the newest cosignature.
        Err(WitnessRefusal::OtherOld { .. }) => Ok(posted_again(kept.as_ref())),
        Err(refusal) => Ok(refused(row, refusal)),
    }
}

/// Returns the request of a post, if it is about the checkpoint that every reader of the post sees.
fn request(row: &CheckpointRow) -> Option<&str> {
    let body = row.body.as_deref()?;
    let (_, note) = body.split_once("\n\n")?;
    (note == row.note).then_some(body)
}

/// Cosigns, and keeps the checkpoint with the cosignature.
fn cosigned(
    row: &CheckpointRow,
    judged: &JudgedCheckpoint,
    before: Option<&KeptCheckpoint>,
    files: &WitnessFiles,
    signer: &WitnessSigner,
    now: UtcTime,
) -> Result<WitnessJudgement, WitnessError> {
    let lines = signer.cosign(judged, now);
    let text = format!("{}{lines}", judged.checkpoint().note());
    // A note with too many signatures could not be read again.
    let Some(kept) = KeptCheckpoint::of(text) else {
        return Ok(refused(row, WitnessRefusal::Form));
    };
    files.keep(&row.host, before, &kept)?;
    Ok(WitnessJudgement::Cosigned { size: judged.checkpoint().size(), lines })
}

/// Returns the cosignature that is kept, for the case that the database does not have it.
fn posted_again(kept: Option<&KeptCheckpoint>) -> WitnessJudgement {
    kept.map_or(WitnessJudgement::Nothing, |kept| WitnessJudgement::Cosigned {
        size: kept.log().size(),
        lines: kept.lines(),
    })
}

fn refused(row: &CheckpointRow, refusal: WitnessRefusal) -> WitnessJudgement {
    if refusal.is_contradiction() {
        return WitnessJudgement::Contradiction(LogContradiction {
            reason: refusal.to_string(),
            note: row.note.clone(),
            posted_us: row.posted_us,
            is_evidence: refusal.is_evidence(),
        });
    }
    WitnessJudgement::Fault(format!(
        "log of host {}: {refusal}; help: check `log_key` of the host in the fleet list, and the \
         log of toolexec-fleet on that host",
        row.host
    ))
}
