//! `toolexec verify`: checks a result, a bundle, or a tree of results, offline. It must never
//! report success without listing what it did not check.

mod args;
mod find;
mod many;
mod show;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use records::{Across, Clash, Fault, Trust, Verified};

use crate::args::StateOption;
use crate::args::files::read_document;
use crate::failure::Failure;
use crate::output;
use find::{TreeEntry, VerifyTarget};
use show::Shown;

pub(crate) use args::Verify;
pub(crate) use trust::named_with_log;

const BUNDLE_BYTES_MAX: usize = 24 * 1024 * 1024;

pub(in crate::commands) fn verify(asked: &Verify) -> Result<ExitCode, Failure> {
    let shown = Shown::new(asked.format);
    let (trust, history) = trust::trust(asked)?;
    let trust = match history.transpose() {
        Ok(Some(history)) => trust.with_history(history),
        Ok(None) => trust,
        Err(problem) => {
            // This log is not the one that was seen before, so the records cannot be trusted.
            let log = asked.log.as_deref().unwrap_or(&asked.path);
            shown.bad(log, &[problem.to_string()])?;
            return Ok(ExitCode::from(1));
        }
    };
    let mut judge = Judge {
        trust,
        across: Across::default(),
        names: Vec::new(),
        batch: Vec::new(),
        waiting: Vec::new(),
        shown,
    };
    match find::at(&asked.path)? {
        VerifyTarget::Bundle(file) => judge.bundle(&file)?,
        VerifyTarget::Result(dir) => judge.result(&dir, records::verify(&dir, &judge.trust))?,
        VerifyTarget::Tree(root) => {
            find::each_result(&root, &mut |seen| judge.seen(seen))?;
            judge.settle()?;
        }
        VerifyTarget::Nothing => {}
    }
    judge.late()?;
    judge.shown.end_of_tree();
    let good = judge.shown.all_good(&asked.path)?;
    Ok(ExitCode::from(u8::from(!good)))
}

/// Verifies a result directory. If it does not verify, the faults are printed to stderr.
pub(super) fn verified(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<Option<Verified>, Failure> {
    match look(dir, allowed_signers, state)? {
        Ok(verified) => Ok(Some(verified)),
        Err(faults) => {
            output::note(format_args!("{}: does not verify", dir.display()));
            faults.iter().for_each(output::note);
            Ok(None)
        }
    }
}

/// Verifies a result directory and returns the proof or the faults.
///
/// # Errors
/// Fails if no trusted key is known.
pub(in crate::commands) fn look(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<Result<Verified, Vec<Fault>>, Failure> {
    let (trust, logs) = trust::signers(allowed_signers, state)?;
    Ok(records::verify(dir, &trust.with_logs(logs)))
}

/// The state of one call of `verify`.
struct Judge {
    trust: Trust,
    across: Across,
    /// The directories of verified results, by their number in `across`.
    names: Vec<PathBuf>,
    /// Results that were found but not verified yet.
    batch: Vec<PathBuf>,
    /// Verified replays whose original was not verified yet.
    waiting: Vec<Waiting>,
    shown: Shown,
}

struct Waiting {
    dir: PathBuf,
    verified: Verified,
    clashes: Vec<Fault>,
}

impl Judge {
    /// Handles an entry of the tree. Verdicts of earlier results are printed before any other
    /// entry.
    fn seen(&mut self, seen: TreeEntry<'_>) -> Result<(), Failure> {
        match seen {
            TreeEntry::Result(dir) => {
                self.batch.push(dir.to_owned());
                if self.batch.len() < many::BATCH { Ok(()) } else { self.settle() }
            }
            TreeEntry::Bundle(file) => {
                self.settle()?;
                match self.bundle(file) {
                    // An unreadable bundle does not stop the others.
                    Err(error) => self.shown.wrong(file, &error.to_string()),
                    told => told,
                }
            }
            TreeEntry::NoDirectory(file) => {
                self.settle()?;
                self.shown.wrong(file, "has the name of a result, but is not a directory")
            }
            TreeEntry::PassedOver(dir, why) => {
                self.settle()?;
                self.shown.passed_over(dir, why);
                Ok(())
            }
        }
    }

    /// Verifies the collected results.
    fn settle(&mut self) -> Result<(), Failure> {
        let batch = std::mem::take(&mut self.batch);
        let verdicts = many::verify_all(&batch, &self.trust);
        batch.iter().zip(verdicts).try_for_each(|(dir, verdict)| self.result(dir, verdict))
    }

    fn result(&mut self, dir: &Path, verdict: many::ResultVerdict) -> Result<(), Failure> {
        let verified = match verdict {
            Ok(verified) => verified,
            Err(faults) => return self.shown.one(dir, Err(faults)),
        };
        let clashes = self.clashes(dir, &verified);
        let looked = Waiting { dir: dir.to_owned(), verified, clashes };
        if self.across.awaits(&looked.verified) {
            self.waiting.push(looked);
            return Ok(());
        }
        self.tell(looked)
    }

    /// Reports the replays that had to wait for the rest of the tree.
    fn late(&mut self) -> Result<(), Failure> {
        std::mem::take(&mut self.waiting).into_iter().try_for_each(|looked| self.tell(looked))
    }

    fn tell(&mut self, looked: Waiting) -> Result<(), Failure> {
        let Waiting { dir, mut verified, mut clashes } = looked;
        let clash = self.across.replay(&mut verified);
        clashes.extend(clash.map(|found| self.fault(found)));
        self.shown.one(&dir, Ok((verified, clashes)))
    }

    fn bundle(&mut self, file: &Path) -> Result<(), Failure> {
        let bytes = read_document(file, BUNDLE_BYTES_MAX)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let verdict = records::verify_bundle_alone(&name, &bytes, &self.trust);
        self.shown.one(file, verdict.map(|verified| (verified, Vec::new())))
    }

    fn clashes(&mut self, dir: &Path, verified: &Verified) -> Vec<Fault> {
        let found = self.across.add(self.names.len(), verified);
        self.names.push(dir.to_owned());
        found.into_iter().map(|found| self.fault(found)).collect()
    }

    fn fault(&self, (clash, number): (Clash, usize)) -> Fault {
        let with = self.names.get(number).map_or_else(String::new, |it| name_of(it));
        Fault::Clash { clash, with }
    }
}

/// Returns the real path for a fault, which escapes it.
fn name_of(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
