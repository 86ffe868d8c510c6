//! Chooses the trusted keys: those of the options, else those of the state. The two are never
//! mixed: with `--result-keys` the log's key must be named as well, or the log is not checked. With
//! `--fleet` the keys of each host count for its own records and its own log.

use std::path::Path;

use daemon::config;
use policies::{AllowedSigners, FleetList, SIGNERS_BYTES_MAX};
use records::log::{Checkpoint, LogView, PublicLogKey};
use records::{History, HistoryError, HostKeyError, PublicKeys, Trust};

use super::args::VerifyCommand;
use crate::args::StateOption;
use crate::args::files::read_file;
use crate::args::fleet_list::{signed_list, unsigned_list};
use crate::failure::Failure;

const CHECKPOINT_BYTES_MAX: usize = 64 * 1024;
const VERIFIER_HELP: &str = "help: write the output of `toolexec keys show --format verifier`";

/// The comparison of the log with the saved checkpoint, if requested.
type CheckedHistory = Option<Result<History, HistoryError>>;

/// Returns the keys of the options, or else those of the state.
pub(super) fn trust(args: &VerifyCommand) -> Result<(Trust, CheckedHistory), Failure> {
    if let Some(list) = &args.fleet_list {
        return Ok((of_fleet(list, args)?, None));
    }
    let (mut trust, mut logs) = signers(args.allowed_signers.as_deref(), &args.state)?;
    if let Some(file) = &args.log_key {
        logs = verifier_lines(file)?;
    }
    if let Some(file) = &args.approvers {
        trust = trust.with_approvers(approvers(file, args.revoked.as_deref())?);
    }
    let saved = args.checkpoint.as_deref();
    let history = args.log.as_deref().map(|log| history(log, saved, &logs)).transpose()?;
    Ok((trust.with_logs(logs), history))
}

/// Returns the keys of a fleet list. Without approvers its signature is not checked, as that of no
/// other file with keys is, and the verdicts say so.
fn of_fleet(file: &Path, args: &VerifyCommand) -> Result<Trust, Failure> {
    let keys = |list: &FleetList| Trust::of_fleet(list).map_err(|error| failure_of(file, &error));
    let Some(known) = &args.approvers else {
        return Ok(keys(&unsigned_list(file)?)?.without_list_signature());
    };
    let approvers = approvers(known, args.revoked.as_deref())?;
    let trust = keys(signed_list(file, &approvers)?.list())?;
    Ok(trust.with_approvers(approvers))
}

/// Returns the named signers without a log, else all that the state ever had, with its log.
pub(super) fn signers(
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<(Trust, Vec<PublicLogKey>), Failure> {
    if let Some(file) = allowed_signers {
        return Ok((named(file)?, Vec::new()));
    }
    let keys = PublicKeys::open(&state.path()?.join("keys")).map_err(|error| {
        let help = "name the signer's keys with --result-keys, or its state with --state";
        let problem = format!("no trusted key: {error}");
        match error {
            HostKeyError::Io { .. } => Failure::with_other_help(&problem, help),
            _ => Failure::with_help(&problem, help),
        }
    })?;
    let trust = Trust::from_allowed_signers(&keys.allowed_signers())?;
    Ok((trust, keys.logs().iter().map(|log| log.key().clone()).collect()))
}

pub(crate) fn named_with_log(
    allowed_signers: &Path,
    log_key: Option<&Path>,
) -> Result<Trust, Failure> {
    let logs = log_key.map(verifier_lines).transpose()?;
    Ok(named(allowed_signers)?.with_logs(logs.unwrap_or_default()))
}

fn named(file: &Path) -> Result<Trust, Failure> {
    let trust = Trust::from_allowed_signers(&text(file, SIGNERS_BYTES_MAX)?);
    trust.map_err(|error| failure_of(file, &error))
}

/// Reads a log's keys: one verifier line for each key that it ever had.
fn verifier_lines(file: &Path) -> Result<Vec<PublicLogKey>, Failure> {
    let text = text(file, SIGNERS_BYTES_MAX)?;
    let lines = text.lines().zip(1..).filter(|(line, _)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let read = |(line, number): (&str, usize)| {
        let wrong = || {
            let what = format!("line {number}: not a verifier line of a log, NAME+ID+KEY");
            failure_of(file, &format!("{what}; {VERIFIER_HELP}"))
        };
        PublicLogKey::from_verifier_line(line.trim()).ok_or_else(wrong)
    };
    let logs: Vec<PublicLogKey> = lines.map(read).collect::<Result<_, _>>()?;
    match logs.is_empty() {
        true => Err(failure_of(file, &format!("no key of a log; {VERIFIER_HELP}"))),
        false => Ok(logs),
    }
}

fn approvers(file: &Path, revoked: Option<&Path>) -> Result<AllowedSigners, Failure> {
    let revoked = revoked.map(config::read_revoked).transpose()?;
    Ok(config::read_signers(file)?.with_revoked(revoked.unwrap_or_default()))
}

fn history(
    directory: &Path,
    saved: Option<&Path>,
    logs: &[PublicLogKey],
) -> Result<Result<History, HistoryError>, Failure> {
    let mut error =
        failure_of(directory, &"no key of this log is known; help: name it with --log-key");
    for (key, older) in logs.iter().zip(0..) {
        let view = match LogView::open(directory, key) {
            Ok(view) => view,
            Err(cause) => {
                error = Failure::Message(cause.to_string());
                continue;
            }
        };
        // The first key of a log is the active one. A retired key must not sign the present log.
        if logs.iter().take(older).any(|newer| newer.origin() == key.origin()) {
            let why = "its checkpoint is signed by a retired key; help: name the present log";
            return Err(failure_of(directory, &why));
        }
        let saved = saved.map(|file| checkpoint(file, logs)).transpose()?;
        let saved = saved.as_ref().map(|(saved, key)| (saved, key.origin()));
        return Ok(History::of(view, key.origin().clone(), saved));
    }
    Err(error)
}

/// Reads a saved checkpoint, and returns the key that verifies it.
fn checkpoint<'a>(
    file: &Path,
    logs: &'a [PublicLogKey],
) -> Result<(Checkpoint, &'a PublicLogKey), Failure> {
    let note = text(file, CHECKPOINT_BYTES_MAX)?;
    let none = "no key of this log is known; help: name it with --log-key";
    let mut error = failure_of(file, &none);
    for key in logs {
        match Checkpoint::verify(&note, key) {
            Ok(checkpoint) => return Ok((checkpoint, key)),
            Err(fault) => {
                error = failure_of(file, &format!("{fault}; help: name a checkpoint of this log"));
            }
        }
    }
    Err(error)
}

fn text(file: &Path, bytes_max: usize) -> Result<String, Failure> {
    let bytes = read_file(file, bytes_max)?;
    String::from_utf8(bytes)
        .map_err(|_| failure_of(file, &"not UTF-8 text; help: name a text file"))
}

fn failure_of(path: &Path, what: &impl std::fmt::Display) -> Failure {
    Failure::Message(format!("{}: {what}", path.display()))
}
