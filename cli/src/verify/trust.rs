//! Whom to trust: what was named, else the state that signed. Trust is never mixed: who names the
//! signers names the log too, or has it left out.

use std::fs;
use std::path::Path;

use daemon::config;
use policies::{SIGNERS_BYTES_MAX, Signers};
use records::log::{Checkpoint, LogView, PublicLogKey};
use records::{History, HistoryError, PublicResultKey, Trust};

use crate::failure::Failure;
use crate::options::Verify;
use crate::state::read_file;

const CHECKPOINT_BYTES_MAX: usize = 64 * 1024;

/// What the log says to the checkpoint that was saved of it, if it was asked.
type Asked = Option<Result<History, HistoryError>>;

pub(super) fn trust(asked: &Verify) -> Result<(Trust, Asked), Failure> {
    let logs = logs(asked)?;
    let mut trust = results(asked)?;
    if let Some(file) = &asked.approvers {
        trust = trust.with_approvers(approvers(file, asked.revoked.as_deref())?);
    }
    let saved = asked.checkpoint.as_deref();
    let history = asked.log.as_deref().map(|log| history(log, saved, &logs)).transpose()?;
    Ok((trust.with_logs(logs), history))
}

fn results(asked: &Verify) -> Result<Trust, Failure> {
    if let Some(file) = &asked.allowed_signers {
        return Trust::from_allowed_signers(&text(file, SIGNERS_BYTES_MAX)?)
            .map_err(|error| said(file, &error));
    }
    let keys = asked.state.path()?.join("keys");
    match PublicResultKey::open(&keys) {
        Ok(key) => Ok(Trust::from_key(&key)),
        Err(error) => Err(Failure::Said(format!(
            "no key to trust: {error}; name the signer's keys with --allowed-signers, or the state \
             that signed with --state"
        ))),
    }
}

/// The keys of the log, where there are some: verifier lines, one for each key that it has had.
fn logs(asked: &Verify) -> Result<Vec<PublicLogKey>, Failure> {
    let file = match (&asked.log_key, &asked.allowed_signers) {
        (Some(file), _) => file.clone(),
        (None, Some(_)) => return Ok(Vec::new()),
        (None, None) => {
            let file = asked.state.path()?.join("keys/log.pub");
            if !fs::exists(&file).map_err(Failure::io(&file))? {
                return Ok(Vec::new());
            }
            file
        }
    };
    let text = text(&file, SIGNERS_BYTES_MAX)?;
    let lines = text.lines().zip(1..).filter(|(line, _)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let read = |(line, number): (&str, usize)| {
        let wrong = || {
            let what = format!("line {number}: not a log's verifier line, `name+hash+key`");
            said(&file, &what)
        };
        PublicLogKey::from_verifier_line(line.trim()).ok_or_else(wrong)
    };
    let logs: Vec<PublicLogKey> = lines.map(read).collect::<Result<_, _>>()?;
    if logs.is_empty() { Err(said(&file, &"has no key of a log")) } else { Ok(logs) }
}

fn approvers(file: &Path, revoked: Option<&Path>) -> Result<Signers, Failure> {
    let revoked = revoked.map(config::read_revoked).transpose()?;
    Ok(config::read_signers(file)?.without(revoked.unwrap_or_default()))
}

fn history(
    directory: &Path,
    saved: Option<&Path>,
    logs: &[PublicLogKey],
) -> Result<Result<History, HistoryError>, Failure> {
    let mut error = said(directory, &"no key of this log is known; name it with --log-key");
    for key in logs {
        let view = match LogView::open(directory, key) {
            Ok(view) => view,
            Err(cause) => {
                error = Failure::Said(cause.to_string());
                continue;
            }
        };
        let saved = saved.map(|file| checkpoint(file, logs)).transpose()?;
        let saved = saved.as_ref().map(|(saved, key)| (saved, key.origin()));
        return Ok(History::of(view, key.origin().clone(), saved));
    }
    Err(error)
}

/// A checkpoint that was saved earlier, and the key that it is signed by.
fn checkpoint<'a>(
    file: &Path,
    logs: &'a [PublicLogKey],
) -> Result<(Checkpoint, &'a PublicLogKey), Failure> {
    let note = text(file, CHECKPOINT_BYTES_MAX)?;
    let mut error = said(file, &"no key of this log is known");
    for key in logs {
        match Checkpoint::verify(&note, key) {
            Ok(checkpoint) => return Ok((checkpoint, key)),
            Err(fault) => error = said(file, &fault),
        }
    }
    Err(error)
}

fn text(file: &Path, bytes_max: usize) -> Result<String, Failure> {
    let bytes = read_file(file, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| said(file, &"is not text"))
}

fn said(path: &Path, what: &impl std::fmt::Display) -> Failure {
    Failure::Said(format!("{}: {what}", path.display()))
}
