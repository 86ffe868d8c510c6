//! `toolexec log consistency`: checks whether one log is a prefix of another. It compares signed
//! checkpoints, or sizes whose roots are proved from the newest checkpoint.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use model::{Sha256, UtcTime, escape_line};
use records::log::{WitnessKey, is_consistent};
use serde_json::json;

use super::open::{LogCommandError, LogOptions, OpenedLog};
use super::prove::number;
use super::witness::key_of;
use crate::args::Format;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log consistency last-seen

A and B are numbers of entries, or files with saved checkpoints (write ./12 for a file of that
name). Prints the proof, one hash per line. With --witness-key, A must be a checkpoint that the
witness cosigned.
Exit status: 0 consistent; 1 B's log does not begin with A's: the log was rewritten or cut back, or
A is not cosigned; 3 usage or internal error.")]
pub(crate) struct LogConsistencyCommand {
    /// Select the older log: a number of entries, or a file with a saved checkpoint
    #[arg(value_name = "A")]
    old: PathBuf,
    /// Select the newer log [default: the newest checkpoint of the log]
    #[arg(value_name = "B")]
    new: Option<PathBuf>,
    /// Verify the cosignature of A with this witness' public key, a C2SP verifier line
    #[arg(long, value_name = "FILE")]
    witness_key: Option<PathBuf>,
    #[command(flatten)]
    place: LogOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}

/// The log at one of its sizes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LogSize {
    entries: u64,
    root: Sha256,
}

/// A verified cosignature of the older checkpoint.
struct VerifiedCosignature {
    witness: String,
    time: UtcTime,
}

pub(super) fn consistency(args: &LogConsistencyCommand) -> Result<ExitCode, LogCommandError> {
    let opened = OpenedLog::at(&args.place)?;
    let head = opened.view.head();
    let newest = LogSize { entries: head.size(), root: head.root() };
    let old = size(&opened, &args.old)?;
    let cosigned = cosignature(args, &opened)?;
    let new = args.new.as_deref().map_or(Ok(newest), |it| size(&opened, it))?;
    check_sizes(&opened, old, new)?;
    let proof = opened.checked(opened.view.consistency(old.entries, new.entries))?;
    let pair = |it: LogSize| (it.entries, it.root);
    let consistent = is_consistent(pair(old), pair(new), &proof);
    match args.format {
        Format::Human => {
            print_human(&opened, old, new, consistent.then_some(&proof))?;
            cosigned.as_ref().map_or(Ok(()), |it| print_cosignature(it, old))?;
        }
        Format::Json => output::line(json!({
            "ok": consistent,
            "consistent": consistent,
            "old": { "size": old.entries, "root": old.root.to_string() },
            "new": { "size": new.entries, "root": new.root.to_string() },
            "proof": if consistent { hashes(&proof) } else { Vec::new() },
            "witness": cosigned.as_ref().map(|it| &it.witness),
            "cosigned": cosigned.as_ref().map(|it| it.time.to_string()),
        }))?,
    }
    Ok(ExitCode::from(u8::from(!consistent)))
}

/// The log must have both sizes, the older one first.
fn check_sizes(opened: &OpenedLog, old: LogSize, new: LogSize) -> Result<(), LogCommandError> {
    let newest = opened.view.head().size();
    if let Some(newer) = [old, new].into_iter().find(|it| it.entries > newest) {
        return Err(LogCommandError::CheckFailed(format!(
            "{}: the checkpoint has {} entries, but the log has {newest}: the log was truncated, \
             or is an older copy; help: restore the log",
            opened.directory.display(),
            newer.entries
        )));
    }
    if old.entries > new.entries {
        let (old, new) = (old.entries, new.entries);
        return Err(LogCommandError::from(format!(
            "A has {old} entries, B {new}; help: name the older first"
        )));
    }
    Ok(())
}

fn hashes(proof: &[Sha256]) -> Vec<String> {
    proof.iter().map(Sha256::to_string).collect()
}

fn size(opened: &OpenedLog, typed: &Path) -> Result<LogSize, LogCommandError> {
    if let Some(entries) = number(typed) {
        let root = opened.checked(opened.view.root(entries))?;
        return Ok(LogSize { entries, root });
    }
    let checkpoint = opened.saved(typed)?;
    Ok(LogSize { entries: checkpoint.size(), root: checkpoint.root() })
}

/// Verifies that the named witness cosigned the older checkpoint.
fn cosignature(
    args: &LogConsistencyCommand,
    opened: &OpenedLog,
) -> Result<Option<VerifiedCosignature>, LogCommandError> {
    let Some(key) = args.witness_key.as_deref() else { return Ok(None) };
    let key: WitnessKey = key_of(key)?;
    if number(&args.old).is_some() {
        let why = "--witness-key: A is a number; help: name a file with a cosigned checkpoint";
        return Err(LogCommandError::from(why.to_owned()));
    }
    let kept = opened.saved(&args.old)?;
    let witness = key.name().to_owned();
    match key.cosigned_at(&kept) {
        Some(time) => Ok(Some(VerifiedCosignature { witness, time })),
        None => Err(LogCommandError::CheckFailed(format!(
            "{}: no cosignature of this checkpoint by the key of {}; help: check --witness-key, \
             and name a checkpoint that the witness cosigned",
            args.old.display(),
            escape_line(&witness)
        ))),
    }
}

fn print_cosignature(cosigned: &VerifiedCosignature, old: LogSize) -> Result<(), LogCommandError> {
    let (witness, time) = (escape_line(&cosigned.witness), cosigned.time);
    output::line(format_args!("cosigned by {witness} at {time}: {} entries", old.entries))?;
    Ok(())
}

fn print_human(
    opened: &OpenedLog,
    old: LogSize,
    new: LogSize,
    proof: Option<&Vec<Sha256>>,
) -> Result<(), LogCommandError> {
    if let Some(proof) = proof {
        for hash in hashes(proof) {
            output::line(hash)?;
        }
        output::line(format_args!(
            "consistent: the log of {} entries (root {}) begins with that of {} (root {})",
            new.entries, new.root, old.entries, old.root
        ))?;
        return Ok(());
    }
    output::line(format_args!(
        "NOT CONSISTENT: the log of {} entries (root {}) does not begin with that of {} (root {})",
        new.entries, new.root, old.entries, old.root
    ))?;
    for (name, it) in [("A", old), ("B", new)] {
        let here = opened.checked(opened.view.root(it.entries))?;
        let same = if here == it.root { "the same" } else { "a different" };
        output::line(format_args!(
            "  {name}: at {} entries this log has {same} root, {here}",
            it.entries
        ))?;
    }
    Ok(())
}
