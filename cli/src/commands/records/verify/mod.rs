//! `toolexec verify`: checks a result, a bundle, or a tree of results, offline. It must never
//! report success without listing what it did not check.

mod args;
mod find;
mod parallel;
mod show;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use records::{Conflict, CrossRecordCheck, Trust, VerifiedRecord, VerifyError};

use crate::args::StateOption;
use crate::args::files::read_document;
use crate::failure::Failure;
use crate::output;
use find::{TreeEntry, VerifyTarget};
use show::VerdictPrinter;

pub(crate) use args::VerifyCommand;
pub(in crate::commands) use show::names_unknown_key;
pub(crate) use trust::named_with_log;

const BUNDLE_BYTES_MAX: usize = 24 * 1024 * 1024;

pub(in crate::commands) fn verify(args: &VerifyCommand) -> Result<ExitCode, Failure> {
    let shown = VerdictPrinter::new(args.format);
    let (trust, history) = trust::trust(args)?;
    let trust = match history.transpose() {
        Ok(Some(history)) => trust.with_history(history),
        Ok(None) => trust,
        Err(problem) => {
            // This log is not the one that was seen before, so the records cannot be trusted.
            let log = args.log.as_deref().unwrap_or(&args.path);
            shown.print_faults(log, &[problem.to_string()])?;
            return Ok(ExitCode::from(1));
        }
    };
    let mut judge = TreeVerifier {
        trust,
        across: CrossRecordCheck::default(),
        directories: Vec::new(),
        batch: Vec::new(),
        pending_replays: Vec::new(),
        printer: shown,
    };
    match find::at(&args.path)? {
        VerifyTarget::Bundle(file) => judge.bundle(&file)?,
        VerifyTarget::Result(dir) => judge.result(&dir, records::verify(&dir, &judge.trust))?,
        VerifyTarget::Tree(root) => {
            find::each_result(&root, &mut |seen| judge.visit(seen))?;
            judge.verify_batch()?;
        }
        VerifyTarget::Nothing => {}
    }
    judge.finish_pending()?;
    judge.printer.print_end();
    let good = judge.printer.all_good(&args.path)?;
    Ok(ExitCode::from(u8::from(!good)))
}

/// Verifies a result directory. If it does not verify, the faults are printed to stderr.
pub(super) fn verified(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<Option<VerifiedRecord>, Failure> {
    match verify_directory(dir, allowed_signers, state)? {
        Ok(verified) => Ok(Some(verified)),
        Err(faults) => {
            output::note(format_args!(
                "{}: does not verify; help: use an unchanged copy of the result",
                dir.display()
            ));
            faults.iter().for_each(output::note);
            if faults.iter().any(names_unknown_key) {
                output::note(
                    "the key of a signature is not trusted; help: name the keys of its host with \
                     --result-keys",
                );
            }
            Ok(None)
        }
    }
}

/// Verifies a result directory and returns the proof or the faults.
///
/// # Errors
/// Fails if no trusted key is known.
pub(in crate::commands) fn verify_directory(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<Result<VerifiedRecord, Vec<VerifyError>>, Failure> {
    let (trust, logs) = trust::signers(allowed_signers, state)?;
    Ok(records::verify(dir, &trust.with_logs(logs)))
}

struct TreeVerifier {
    trust: Trust,
    across: CrossRecordCheck,
    /// The directories of verified results, by their number in `across`.
    directories: Vec<PathBuf>,
    /// Results that were found but not verified yet.
    batch: Vec<PathBuf>,
    /// Verified replays whose original was not verified yet.
    pending_replays: Vec<PendingReplay>,
    printer: VerdictPrinter,
}

struct PendingReplay {
    dir: PathBuf,
    verified: VerifiedRecord,
    clashes: Vec<VerifyError>,
}

impl TreeVerifier {
    /// Prints the verdicts of earlier results before any other entry.
    fn visit(&mut self, seen: TreeEntry<'_>) -> Result<(), Failure> {
        match seen {
            TreeEntry::Result(dir) => {
                self.batch.push(dir.to_owned());
                if self.batch.len() < parallel::BATCH_RESULTS_MAX {
                    Ok(())
                } else {
                    self.verify_batch()
                }
            }
            TreeEntry::Bundle(file) => {
                self.verify_batch()?;
                match self.bundle(file) {
                    // An unreadable bundle does not stop the others.
                    Err(error) => self.printer.print_invalid(file, &error.problem()),
                    result => result,
                }
            }
            TreeEntry::NotADirectory(file) => {
                self.verify_batch()?;
                self.printer.print_invalid(file, "has the name of a result, but is not a directory")
            }
            TreeEntry::Skipped(dir, why) => {
                self.verify_batch()?;
                self.printer.print_skipped(dir, why);
                Ok(())
            }
        }
    }

    fn verify_batch(&mut self) -> Result<(), Failure> {
        let batch = std::mem::take(&mut self.batch);
        let verdicts = parallel::verify_all(&batch, &self.trust);
        batch.iter().zip(verdicts).try_for_each(|(dir, verdict)| self.result(dir, verdict))
    }

    fn result(&mut self, dir: &Path, verdict: parallel::ResultVerdict) -> Result<(), Failure> {
        let verified = match verdict {
            Ok(verified) => verified,
            Err(faults) => return self.printer.print_verdict(dir, Err(faults)),
        };
        let clashes = self.clashes(dir, &verified);
        let looked = PendingReplay { dir: dir.to_owned(), verified, clashes };
        if self.across.awaits_original(&looked.verified) {
            self.pending_replays.push(looked);
            return Ok(());
        }
        self.report(looked)
    }

    /// Reports the replays that had to wait for the rest of the tree.
    fn finish_pending(&mut self) -> Result<(), Failure> {
        std::mem::take(&mut self.pending_replays)
            .into_iter()
            .try_for_each(|looked| self.report(looked))
    }

    fn report(&mut self, looked: PendingReplay) -> Result<(), Failure> {
        let PendingReplay { dir, mut verified, mut clashes } = looked;
        let clash = self.across.check_replay(&mut verified);
        clashes.extend(clash.map(|found| self.fault(found)));
        self.printer.print_verdict(&dir, Ok((verified, clashes)))
    }

    fn bundle(&mut self, file: &Path) -> Result<(), Failure> {
        let bytes = read_document(file, BUNDLE_BYTES_MAX)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let verdict = records::verify_bundle_alone(&name, &bytes, &self.trust);
        self.printer.print_verdict(file, verdict.map(|verified| (verified, Vec::new())))
    }

    fn clashes(&mut self, dir: &Path, verified: &VerifiedRecord) -> Vec<VerifyError> {
        let found = self.across.add(self.directories.len(), verified);
        self.directories.push(dir.to_owned());
        found.into_iter().map(|found| self.fault(found)).collect()
    }

    fn fault(&self, (clash, number): (Conflict, usize)) -> VerifyError {
        let with = self.directories.get(number).map_or_else(String::new, |it| name_of(it));
        VerifyError::Conflict { clash, with }
    }
}

fn name_of(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
