//! `toolexec verify`: everything that can be checked of a result, a bundle, or a tree of results, offline.
//! It must never say that something is good without saying what it did not look at.

mod find;
mod show;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use records::{Across, Fault, Trust, Verified};

use crate::failure::Failure;
use crate::options::{StateOption, Verify};
use crate::output;
use crate::state::read_document;
use find::Found;
use show::Shown;

const BUNDLE_BYTES_MAX: usize = 24 * 1024 * 1024;

pub(crate) fn verify(asked: &Verify) -> Result<ExitCode, Failure> {
    let shown = Shown::new(asked.format);
    let (trust, history) = trust::trust(asked)?;
    let trust = match history.transpose() {
        Ok(Some(history)) => trust.with_history(history),
        Ok(None) => trust,
        Err(problem) => {
            // Whatever the records say, this log is not the one that was seen.
            let log = asked.log.as_deref().unwrap_or(&asked.path);
            shown.bad(log, &[problem.to_string()])?;
            return Ok(ExitCode::from(1));
        }
    };
    let mut judge = Judge { trust, across: Across::default(), names: Vec::new(), shown };
    match find::at(&asked.path)? {
        Found::Bundle(file) => judge.bundle(&file)?,
        Found::Result(dir) => judge.result(&dir)?,
        Found::Tree(root) => {
            find::each_result(&root, &mut |dir| judge.result(dir))?;
            judge.shown.end_of_tree();
        }
        Found::Nothing => {}
    }
    let good = judge.shown.all_good(&asked.path)?;
    Ok(ExitCode::from(u8::from(!good)))
}

/// The proof that a result directory verifies, or else what is wrong with it, on stderr.
pub(crate) fn verified(
    dir: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<Option<Verified>, Failure> {
    let (trust, logs) = trust::signers(allowed_signers, state)?;
    match records::verify(dir, &trust.with_logs(logs)) {
        Ok(verified) => Ok(Some(verified)),
        Err(faults) => {
            output::note(format_args!("{}: does not verify", dir.display()));
            faults.iter().for_each(output::note);
            Ok(None)
        }
    }
}

/// One look at everything that was named.
struct Judge {
    trust: Trust,
    across: Across,
    /// Where the good ones lie, by the number that `across` knows them by.
    names: Vec<PathBuf>,
    shown: Shown,
}

impl Judge {
    fn result(&mut self, dir: &Path) -> Result<(), Failure> {
        let verdict = records::verify(dir, &self.trust);
        let verdict = verdict.map(|verified| {
            let clashes = self.clashes(dir, &verified);
            (verified, clashes)
        });
        self.shown.one(dir, verdict)
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
        let with =
            |number| self.names.get(number).map_or_else(String::new, |it: &PathBuf| name_of(it));
        let fault = |(clash, number)| Fault::Clash { clash, with: with(number) };
        found.into_iter().map(fault).collect()
    }
}

/// A path as it is named in a fault, which escapes it.
fn name_of(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
