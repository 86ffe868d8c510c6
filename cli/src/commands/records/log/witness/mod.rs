//! `toolexec log witness`: sends the newest checkpoint to a witness, by HTTP or in a file. The
//! cosignature is stored beside the log, never in the log's own checkpoint. The size that a witness
//! reports is used only to create another proof.

mod args;
mod cosigned;
mod post;

use std::path::Path;
use std::process::ExitCode;

use model::escape_line;
use records::log::{CosignedCheckpoint, LogError, WitnessKey, WitnessReplyError, checkpoint_in};

use super::open::{LogCommandError, OpenedLog};
use crate::args::files::read_file;
use crate::output::replace_own_file;
use cosigned::{cosigned_directory, file_name, print_cosigned, print_request, store};
use post::{WitnessAnswer, post};

pub(super) use args::LogWitnessCommand;

const KEY_BYTES_MAX: usize = 4 * 1024;
const ANSWER_BYTES_MAX: usize = 32 * 1024;
const BODY_BYTES_MAX: usize = 128 * 1024;
const COMPARE: &str = "help: compare the log with a saved checkpoint";

pub(super) fn witness(args: &LogWitnessCommand) -> Result<ExitCode, LogCommandError> {
    let opened = OpenedLog::at(&args.place)?;
    let key = args.witness_key.as_deref().map(key_of).transpose()?;
    let web = args.to.starts_with("http://") || args.to.starts_with("https://");
    if !web && args.to.contains("://") {
        return Err(LogCommandError::from(format!(
            "--to {}: not an http:// or https:// address; help: name such an address, or a file",
            args.to
        )));
    }
    match (&args.answer, web) {
        (Some(_), true) => {
            let why = "--answer: not for a URL; help: name the request file with --to";
            Err(LogCommandError::from(why.to_owned()))
        }
        (Some(answer), false) => take_answer(args, &opened, key.as_ref(), answer),
        (None, true) => submit(args, &opened, key.as_ref()),
        (None, false) => {
            let old = witnessed_size(args, &opened, key.as_ref())?;
            let body = opened.checked(opened.view.add_checkpoint(old))?;
            replace_own_file(Path::new(&args.to), "old ", body.as_bytes())?;
            print_request(args, &opened, old)
        }
    }
}

pub(super) fn key_of(file: &Path) -> Result<WitnessKey, LogCommandError> {
    let bytes = read_file(file, KEY_BYTES_MAX)?;
    WitnessKey::from_verifier_line(&String::from_utf8_lossy(&bytes)).ok_or_else(|| {
        LogCommandError::from(format!(
            "{}: not the public key of a witness; help: name a file with a line NAME+ID+KEY of \
             type 0x04 (Ed25519 cosignature/v1)",
            file.display()
        ))
    })
}

/// Returns the number of entries that the witness has seen.
fn witnessed_size(
    args: &LogWitnessCommand,
    opened: &OpenedLog,
    key: Option<&WitnessKey>,
) -> Result<u64, LogCommandError> {
    let saved = match &args.from {
        Some(from) => opened.saved(from)?,
        None => {
            let kept = cosigned_directory(args, opened)
                .join(file_name(key.map_or(args.to.as_str(), WitnessKey::name)));
            if !kept.exists() {
                return Ok(0);
            }
            opened.saved(&kept)?
        }
    };
    let head = opened.view.head();
    if saved.size() > head.size() {
        return Err(LogCommandError::CheckFailed(format!(
            "{}: the witness has seen {} entries, but the log has {}: the log was truncated, or \
             is an older copy; help: restore the log",
            opened.directory.display(),
            saved.size(),
            head.size()
        )));
    }
    let proof = opened.checked(opened.view.consistency(saved.size(), head.size()))?;
    if saved.grew_into(head, &proof) {
        return Ok(saved.size());
    }
    let here = opened.checked(opened.view.root(saved.size()))?;
    Err(LogCommandError::CheckFailed(format!(
        "{}: the witness has seen a different history: at {} entries its root is {}, but this \
         log's is {here}; {COMPARE}",
        opened.directory.display(),
        saved.size(),
        saved.root()
    )))
}

/// Sends the checkpoint, and once more if the witness has seen another size.
fn submit(
    args: &LogWitnessCommand,
    opened: &OpenedLog,
    key: Option<&WitnessKey>,
) -> Result<ExitCode, LogCommandError> {
    let url = address(&args.to);
    let mut old = witnessed_size(args, opened, key)?;
    let mut answer = post(&url, &opened.checked(opened.view.add_checkpoint(old))?)?;
    if answer.status == 409 {
        let reported = reported_size(&url, &answer, old)?;
        let body = match opened.view.add_checkpoint(reported) {
            Err(LogError::NoSuchEntry { .. }) => return Err(cut_back(&url, opened, reported)),
            body => opened.checked(body)?,
        };
        (old, answer) = (reported, post(&url, &body)?);
    }
    if answer.status == 409 {
        // Only the root can still differ, unless another client was faster.
        reported_size(&url, &answer, old)?;
    }
    if answer.status != 200 {
        return Err(refusal(&url, &answer));
    }
    let cosigned = CosignedCheckpoint::from_reply(opened.view.head(), &answer.body, key);
    let cosigned =
        cosigned.map_err(|fault| LogCommandError::CheckFailed(invalid_reply(&url, fault)))?;
    // Without a key the witness' name is unverified, so its address names the file.
    let name = key.map_or(args.to.as_str(), WitnessKey::name);
    let kept = store(&cosigned_directory(args, opened), name, &cosigned)?;
    print_cosigned(args, &cosigned, opened.view.head().size(), Some(old), &kept)
}

fn address(typed: &str) -> String {
    let prefix = typed.trim_end_matches('/');
    if prefix.ends_with("/add-checkpoint") {
        prefix.to_owned()
    } else {
        format!("{prefix}/add-checkpoint")
    }
}

/// Returns the size in the body of a 409 answer.
fn reported_size(url: &str, answer: &WitnessAnswer, sent: u64) -> Result<u64, LogCommandError> {
    let size: Option<u64> = answer.body.strip_suffix('\n').and_then(|text| text.parse().ok());
    match size {
        None => Err(refusal(url, answer)),
        Some(size) if size == sent => Err(LogCommandError::CheckFailed(format!(
            "{url}: the witness has seen a different history: at {size} entries its root differs; \
             {COMPARE}"
        ))),
        Some(size) => Ok(size),
    }
}

fn cut_back(url: &str, opened: &OpenedLog, size: u64) -> LogCommandError {
    LogCommandError::CheckFailed(format!(
        "{url}: the witness has seen {size} entries, but the log has {}: the log was truncated, \
         or is an older copy; help: restore the log",
        opened.view.head().size()
    ))
}

fn refusal(url: &str, answer: &WitnessAnswer) -> LogCommandError {
    let (why, help) = match answer.status {
        403 => ("does not know this key of the log", "give the log's key to its operator"),
        404 => ("does not know this log, or is not a witness", "check the address with --to"),
        409 => ("has seen a different size, but does not report it", "ask its operator"),
        422 => (
            "reports a different history: the log does not begin with what it has seen",
            "compare the log with a saved checkpoint",
        ),
        _ => ("refuses", "ask its operator"),
    };
    let detail: String = answer.body.trim_end().chars().take(200).collect();
    let detail = if detail.is_empty() { detail } else { format!(": {}", escape_line(&detail)) };
    LogCommandError::CheckFailed(format!(
        "{url}: the witness {why} (status {}){detail}; help: {help}",
        answer.status
    ))
}

fn invalid_reply(from: &str, fault: WitnessReplyError) -> String {
    format!("{from}: {fault}; help: check --witness-key, and ask the witness again")
}

fn take_answer(
    args: &LogWitnessCommand,
    opened: &OpenedLog,
    key: Option<&WitnessKey>,
    answer: &Path,
) -> Result<ExitCode, LogCommandError> {
    let request = Path::new(&args.to);
    let body = read_file(request, BODY_BYTES_MAX)?;
    let checkpoint = checkpoint_in(&String::from_utf8_lossy(&body), &opened.key);
    let checkpoint = checkpoint.ok_or_else(|| {
        LogCommandError::from(format!(
            "{}: not a request to a witness of this log; help: name the file that `toolexec log \
             witness --to` wrote",
            request.display()
        ))
    })?;
    let bytes = read_file(answer, ANSWER_BYTES_MAX)?;
    let cosigned =
        CosignedCheckpoint::from_reply(&checkpoint, &String::from_utf8_lossy(&bytes), key);
    let cosigned = cosigned.map_err(|fault| {
        LogCommandError::CheckFailed(invalid_reply(&answer.display().to_string(), fault))
    })?;
    let name = key.map_or(args.to.as_str(), WitnessKey::name);
    let kept = store(&cosigned_directory(args, opened), name, &cosigned)?;
    print_cosigned(args, &cosigned, checkpoint.size(), None, &kept)
}
