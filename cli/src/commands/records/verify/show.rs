//! Prints verdicts to stdout as they are found, as text or as one JSON object per line. Names and
//! texts of a result are escaped.

use std::path::Path;

use model::escape_line;
use records::{RecordBundleError, SignatureProblem, SkippedCheck, VerifiedRecord, VerifyError};
use serde_json::{Value, json};

use crate::args::Format;
use crate::failure::Failure;
use crate::output;

/// The verification result, with conflicts between the record and other records.
type PrintedVerdict = Result<(VerifiedRecord, Vec<VerifyError>), Vec<VerifyError>>;

pub(super) struct VerdictPrinter {
    format: Format,
    all: usize,
    faulty: usize,
    skipped: usize,
    /// The first fault, with its result.
    first: Option<String>,
    /// A signature names a key that the caller does not trust.
    has_unknown_key: bool,
}

impl VerdictPrinter {
    pub(super) fn new(format: Format) -> Self {
        Self { format, all: 0, faulty: 0, skipped: 0, first: None, has_unknown_key: false }
    }

    pub(super) fn print_verdict(
        &mut self,
        path: &Path,
        verdict: PrintedVerdict,
    ) -> Result<(), Failure> {
        self.all += 1;
        let (verified, faults) = match verdict {
            Ok((verified, clashes)) => (Some(verified), clashes),
            Err(faults) => (None, faults),
        };
        self.has_unknown_key |= faults.iter().any(names_unknown_key);
        let faults: Vec<String> = faults.iter().map(VerifyError::to_string).collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(fault) = faults.first() {
            self.faulty += 1;
            self.first.get_or_insert_with(|| format!("{name}: {fault}"));
        }
        match (self.format, &verified) {
            (Format::Json, _) => output::line(object(path, verified.as_ref(), &faults)),
            (Format::Human, Some(verified)) if faults.is_empty() => print_good(verified),
            (Format::Human, _) => print_bad(&name, &faults),
        }
    }

    /// Prints the totals of more than one result to stderr, and help for an unknown key.
    pub(super) fn print_end(&self) {
        if self.format == Format::Json {
            return;
        }
        if self.all > 1 {
            self.print_totals();
        }
        if self.has_unknown_key {
            output::note(
                "the key of a signature is not trusted; help: name the keys of its host with \
                 --result-keys, --state or --fleet",
            );
        }
    }

    fn print_totals(&self) {
        let good = self.all - self.faulty;
        let passed_over = match self.skipped {
            0 => String::new(),
            count => format!("; {count} directories skipped"),
        };
        let (all, faulty) = (self.all, self.faulty);
        output::note(format_args!("{all} results: {good} verified, {faulty} not{passed_over}"));
        if let Some(first) = &self.first {
            output::note(format_args!("first failure: {first}"));
        }
    }

    /// Prints an entry that looks like a result but cannot be one.
    pub(super) fn print_invalid(&mut self, path: &Path, fault: &str) -> Result<(), Failure> {
        self.all += 1;
        self.faulty += 1;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.first.get_or_insert_with(|| escape_line(&format!("{name}: {fault}")));
        self.print_faults(path, &[fault.to_owned()])
    }

    pub(super) fn print_skipped(&mut self, path: &Path, why: &str) {
        self.skipped += 1;
        let path = escape_line(&path.to_string_lossy());
        output::note(format_args!("{path}: skipped, not verified: {why}"));
    }

    /// Prints the faults of something that is not a result.
    pub(super) fn print_faults(&self, path: &Path, faults: &[String]) -> Result<(), Failure> {
        match self.format {
            Format::Human => print_bad(&path.to_string_lossy(), faults),
            Format::Json => output::line(object(path, None, faults)),
        }
    }

    /// Returns whether there were results and all are good. Finding no result is a fault.
    pub(super) fn all_good(&self, path: &Path) -> Result<bool, Failure> {
        if self.all == 0 {
            let fault = match path.is_dir() {
                true => "no result is in this directory",
                false => "not a result: it has neither the name of a result nor a record",
            };
            self.print_faults(path, &[fault.to_owned()])?;
        }
        Ok(self.all > 0 && self.faulty == 0)
    }
}

/// Returns whether the trusted keys lack the key of a signature.
pub(in crate::commands) fn names_unknown_key(fault: &VerifyError) -> bool {
    matches!(
        fault,
        VerifyError::Signature { problem: SignatureProblem::NotTrusted { .. }, .. }
            | VerifyError::Bundle { problem: RecordBundleError::OtherKey, .. }
    )
}

fn print_good(verified: &VerifiedRecord) -> Result<(), Failure> {
    let log = verified.log().map_or_else(String::new, |place| {
        let entry = place.index;
        format!(", entry {entry} of {} in the log {}", place.size, place.origin)
    });
    let approvals = match verified.approvals_checked() {
        0 => String::new(),
        1 => ", 1 approval checked".to_owned(),
        count => format!(", {count} approvals checked"),
    };
    let within = verified.standing_checked().map_or_else(String::new, |text| format!(", {text}"));
    let not_checked: Vec<String> =
        verified.skipped_checks().iter().map(SkippedCheck::to_string).collect();
    let not_checked = match not_checked.as_slice() {
        [] => String::new(),
        parts => format!("; not checked: {}", parts.join(", ")),
    };
    let host = verified.host().map_or_else(String::new, |host| format!(" of host {host}"));
    // On the same line, so that filters and line counts cannot lose it.
    output::line(format_args!(
        "{}: verified: {}, {} files re-hashed, signed by {} {}{host}{log}{approvals}{within}\
         {not_checked}",
        verified.result_id(),
        verified.outcome(),
        verified.files_rehashed(),
        verified.signer_principal(),
        verified.signer_fingerprint()
    ))
}

fn print_bad(name: &str, faults: &[String]) -> Result<(), Failure> {
    output::line(format_args!("{}: NOT VERIFIED", escape_line(name)))?;
    for fault in faults {
        output::line(format_args!("  {}", escape_line(fault)))?;
    }
    Ok(())
}

/// Returns the JSON object. A record that did not verify has no facts.
fn object(path: &Path, verified: Option<&VerifiedRecord>, faults: &[String]) -> Value {
    let place = verified.and_then(VerifiedRecord::log);
    let log = place
        .map(|place| json!({ "origin": place.origin, "index": place.index, "size": place.size }));
    let not_checked: Vec<String> = verified
        .map(|it| it.skipped_checks().iter().map(SkippedCheck::to_string).collect())
        .unwrap_or_default();
    json!({
        "path": output::path(path),
        "verified": verified.is_some() && faults.is_empty(),
        "result_id": verified.map(|it| it.result_id().as_str()),
        "outcome": verified.map(VerifiedRecord::outcome),
        "exit_code": verified.map(VerifiedRecord::exit_code),
        "files": verified.map(VerifiedRecord::files_rehashed),
        "signer": verified.map(VerifiedRecord::signer_fingerprint),
        "host": verified.and_then(VerifiedRecord::host),
        "log": log,
        "approvals_checked": verified.map(VerifiedRecord::approvals_checked),
        "standing_checked": verified.and_then(VerifiedRecord::standing_checked),
        "not_checked": not_checked,
        "faults": faults,
    })
}
