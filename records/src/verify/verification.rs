//! One verification of a result directory, part by part. It must never stop at the first fault, and
//! never omit a check without reporting it.

use std::os::fd::BorrowedFd;

use model::{HostAudience, ResultId, Sha256, UtcTime};
use validator::{Code, PastRequest, Severity, StandingApproval, check_result};

use crate::attestation::front_matter;
use crate::dsse::DsseEnvelope;
use crate::tree::{ResultTree, read_below};
use crate::trust::{FleetHostTrust, Trust};
use crate::verify::bundle_check::{self, TrustedStatement};
use crate::verify::facts::{ParsedRecord, RecordFacts};
use crate::verify::inconsistency::{self, RequestTimes};
use crate::verify::model::{ApprovalProblem, RECORD_BYTES_MAX};
use crate::verify::shape::{self, RecordAge};
use crate::verify::standing::ContainedRun;
use crate::verify::verdict::{SkippedCheck, VerifiedRecord};
use crate::verify::{approvals, files, page, request_check, standing};
use crate::verify_error::VerifyError;

const SIGNATURE_BYTES_MAX: u64 = 64 * 1024;

/// The request as this version parses it.
type ParsedRequest = Result<PastRequest, ApprovalProblem>;

/// One result directory and its faults so far.
pub(super) struct Verification<'a> {
    root: BorrowedFd<'a>,
    record: String,
    tree: ResultTree,
    trust: &'a Trust,
    faults: Vec<VerifyError>,
    not_checked: Vec<SkippedCheck>,
    /// The statement, if it is not published with the record yet.
    unlogged: Option<&'a DsseEnvelope>,
    /// This host made the record, and has compared its names with the standing approval.
    is_own: bool,
}

impl<'a> Verification<'a> {
    /// Starts the verification of a directory that was walked already.
    pub(super) fn new(
        root: BorrowedFd<'a>,
        record: String,
        tree: ResultTree,
        trust: &'a Trust,
        faults: Vec<VerifyError>,
    ) -> Self {
        let (not_checked, unlogged, is_own) = (Vec::new(), None, false);
        Self { root, record, tree, trust, faults, not_checked, unlogged, is_own }
    }

    /// Adds the statement of a record that is not logged yet.
    pub(super) fn of_unlogged(self, envelope: &'a DsseEnvelope) -> Self {
        Self { unlogged: Some(envelope), ..self }
    }

    /// Leaves out the comparison of a standing approval with the names of the host, if the record
    /// is one of this host.
    pub(super) fn of_own_host(self, is_own: bool) -> Self {
        Self { is_own, ..self }
    }

    pub(super) fn finish(mut self) -> Result<VerifiedRecord, Vec<VerifyError>> {
        let Some(read) = self.read_record() else {
            return Err(self.faults);
        };
        let ours = bundle_check::files_of(&self.record);
        let files = files::compare(&read.facts, &ours, &self.tree, &mut self.faults);
        let attested = self.check_bundle(&read);
        if attested.is_none() || !self.faults.is_empty() {
            // A record that equals a signed statement needs no lint, and the lint grows stricter
            // with every version.
            self.lint(&read.md);
        }
        let (mut approvals, mut standing) = (0, None);
        if read.signed_by.is_some() {
            (approvals, standing) = self.check_content(&read, attested.as_ref());
        }
        let unsigned_list = self.trust.is_of_unsigned_list().then_some(SkippedCheck::FleetList);
        self.not_checked.extend(unsigned_list);
        let id = self.record.parse::<ResultId>().ok();
        match (self.faults.is_empty(), id, read.signed_by) {
            (true, Some(id), Some(signed_by)) => {
                let verified = VerifiedRecord::new(id, &read.front_matter, signed_by.fingerprint);
                let verified = verified.of_host(self.trust);
                let verified = verified.with_files(files).with_approvals(approvals);
                let verified = verified.with_standing(standing);
                let verified = verified.of_record(read.sha256, read.front_matter);
                let verified = match &attested {
                    Some(attested) => verified.with_log(attested.place()),
                    None => verified,
                };
                Ok(verified.with_skipped(self.not_checked))
            }
            _ => Err(self.faults),
        }
    }

    /// Checks schema, contradictions, text and request. Returns the number of verified approvals, and
    /// the use of the standing approval as text.
    fn check_content(
        &mut self,
        read: &ParsedRecord,
        attested: Option<&TrustedStatement>,
    ) -> (usize, Option<String>) {
        let file = format!("{}.md", self.record);
        let stated = !self.not_checked.contains(&SkippedCheck::Statement);
        let age = if stated { RecordAge::Stated } else { RecordAge::Older };
        self.faults.extend(shape::faults(&file, &read.front_matter, age));
        let bytes = self.request(&read.facts);
        let times = bytes.as_deref().and_then(RequestTimes::read);
        self.faults.extend(inconsistency::faults(&file, &read.front_matter, times));
        self.faults.extend(page::faults(&file, &read.md, &read.front_matter));
        let walked = (self.root, &self.tree);
        self.faults.extend(files::sizes(&file, &read.front_matter, &read.facts, walked));
        let request = bytes.map(|bytes| approvals::read(&read.front_matter, bytes));
        match &request {
            Some(Ok(request)) => {
                self.faults.extend(request_check::faults(&file, &read.front_matter, request));
            }
            Some(Err(_)) if approvals::is_of_a_run(&read.front_matter) => {
                self.not_checked.push(SkippedCheck::Request);
            }
            _ => {}
        }
        let sidecars = self.sidecars(read);
        let trust = self.trust;
        let origin = attested.and_then(TrustedStatement::place).map(|place| place.origin);
        let host = host_of(origin.as_deref(), read, trust).filter(|_| !self.is_own);
        let contained = self.containment(&file, (read, &sidecars), request.as_ref(), host);
        let (approval, text) = match contained {
            Some(contained) => (Some(contained.approval), Some(contained.text)),
            None => {
                let request = request.as_ref().and_then(|request| request.as_ref().ok());
                let named = request.and_then(|request| {
                    standing::named_document(&read.front_matter, request, &sidecars)
                });
                (named, None)
            }
        };
        (self.approvals(read, request, approval.as_ref(), &sidecars), text)
    }

    /// Checks that a run stayed within the standing approval that it used, if it used one. A use
    /// without a known run is compared too, but is never reported as contained.
    fn containment(
        &mut self,
        file: &str,
        (read, sidecars): (&ParsedRecord, &[(String, Vec<u8>)]),
        request: Option<&ParsedRequest>,
        host: Option<HostAudience<'_>>,
    ) -> Option<ContainedRun> {
        let facts = &read.front_matter;
        let is_run = approvals::is_of_a_run(facts);
        let is_stated = facts.get("standing").is_some_and(|it| !it.is_null());
        let request = request.and_then(|request| request.as_ref().ok());
        if is_stated && (!is_run || request.is_none()) {
            self.not_checked.push(SkippedCheck::Standing);
        }
        // A request that did not run may name a standing approval without using it.
        let request = request.filter(|_| is_run || is_stated)?;
        match standing::check(facts, request, sidecars, host, self.trust.is_of_fleet()) {
            Ok(contained) => contained.filter(|_| is_run),
            Err(problems) => {
                let fault = |what| VerifyError::Inconsistency { file: file.to_owned(), what };
                self.faults.extend(problems.into_iter().map(fault));
                None
            }
        }
    }

    /// Returns the files next to the request whose digests are as stated.
    fn sidecars(&self, read: &ParsedRecord) -> Vec<(String, Vec<u8>)> {
        let sidecars = read.facts.request_sidecars();
        sidecars
            .filter_map(|(path, sha256)| {
                Some((path.to_owned(), self.read_if_stated(path, sha256)?))
            })
            .collect()
    }

    fn read_record(&mut self) -> Option<ParsedRecord> {
        let file = format!("{}.md", self.record);
        let signature_file = format!("{file}.sig");
        let md = self.read(&file, RECORD_BYTES_MAX)?;
        let facts = std::str::from_utf8(&md)
            .map_err(|_| "not UTF-8".to_owned())
            .and_then(front_matter)
            .and_then(|front| Ok((RecordFacts::read(&front, &self.record)?, front)));
        if let Err(problem) = &facts {
            self.faults.push(VerifyError::Record { file: file.clone(), problem: problem.clone() });
        }
        let made: Option<UtcTime> = facts.as_ref().ok().and_then(|(facts, _)| facts.created());
        let armoured = self.read(&signature_file, SIGNATURE_BYTES_MAX);
        let signed_by = match armoured.map(|it| self.trust.check(&it, &md, made)) {
            Some(Ok(signed_by)) => Some(signed_by),
            Some(Err(problem)) => {
                self.faults.push(VerifyError::Signature { file: signature_file, problem });
                None
            }
            None => None,
        };
        let (facts, front) = facts.ok()?;
        Some(ParsedRecord { sha256: Sha256::of(&md), md, front_matter: front, facts, signed_by })
    }

    /// Lints the record, as before its signing.
    fn lint(&mut self, md: &[u8]) {
        let file = format!("{}.md", self.record);
        for violation in check_result(md, &file) {
            if violation.severity == Severity::Error && !is_about_shown_text(violation.code) {
                let (code, line) = (violation.code.as_str(), violation.line);
                let problem = format!("line {line}: {code}: {}", violation.message);
                self.faults.push(VerifyError::Record { file: file.clone(), problem });
            }
        }
    }

    fn check_bundle(&mut self, read: &ParsedRecord) -> Option<TrustedStatement> {
        let [_, _, bundle, proof] = bundle_check::files_of(&self.record);
        if let Some(envelope) = self.unlogged {
            let found =
                TrustedStatement::unlogged(&bundle, envelope, self.trust, &mut self.faults)?;
            found.compare(&bundle, &self.record, read, &mut self.faults);
            self.not_checked.push(SkippedCheck::Log);
            return Some(found);
        }
        let there = |name: &String| self.tree.has(name);
        if !there(&bundle) && !there(&proof) && self.trust.logs().is_empty() {
            // Older versions wrote neither. A verifier that trusts a log requires both.
            self.not_checked.extend([SkippedCheck::Statement, SkippedCheck::Log]);
            return None;
        }
        let (bytes, text) = (
            self.read(&bundle, bundle_check::BUNDLE_BYTES_MAX),
            self.read(&proof, bundle_check::PROOF_BYTES_MAX),
        );
        let attested = TrustedStatement::read(&bundle, &bytes?, self.trust, &mut self.faults)?;
        attested.compare(&bundle, &self.record, read, &mut self.faults);
        match (attested.log(), text) {
            (Some(_), Some(text)) => attested.check_proof(&proof, &text, &mut self.faults),
            (None, _) => self.not_checked.push(SkippedCheck::Log),
            (Some(_), None) => {}
        }
        let (faults, not_checked) = (&mut self.faults, &mut self.not_checked);
        attested.compare_with_history(&bundle, self.trust, faults, not_checked);
        Some(attested)
    }

    /// Returns the exact bytes of the request if its digest is as stated.
    fn request(&mut self, facts: &RecordFacts) -> Option<Vec<u8>> {
        let (path, sha256) = facts.request()?;
        self.read_if_stated(path, sha256)
    }

    /// Returns a file if its digest is as stated. Otherwise a fault was reported before.
    fn read_if_stated(&self, path: &str, sha256: Sha256) -> Option<Vec<u8>> {
        let bytes = read_below(self.root, path, RECORD_BYTES_MAX).ok()??;
        (Sha256::of(&bytes) == sha256).then_some(bytes)
    }

    /// Verifies the approvals and returns their number.
    fn approvals(
        &mut self,
        read: &ParsedRecord,
        request: Option<ParsedRequest>,
        standing: Option<&StandingApproval>,
        signatures: &[(String, Vec<u8>)],
    ) -> usize {
        let stated = approvals::are_stated(&read.front_matter);
        let Some(approvers) = self.trust.approvers() else {
            self.not_checked.extend(stated.then_some(SkippedCheck::Approvals));
            return 0;
        };
        if !stated && !approvals::is_of_a_run(&read.front_matter) {
            return 0;
        }
        if standing.is_some() && !stated && approvals::is_of_a_run(&read.front_matter) {
            let what = "standing is stated without an approval of it".to_owned();
            let file = format!("{}.md", self.record);
            self.faults.push(VerifyError::Inconsistency { file, what });
        }
        self.not_checked.extend((!stated).then_some(SkippedCheck::NoApproval));
        let Some(request) = request else { return 0 };
        let file = format!("{}.md", self.record);
        match approvals::check(
            &read.front_matter,
            request.as_deref().map_err(Clone::clone),
            standing,
            signatures,
            approvers,
        ) {
            Ok(count) => count,
            Err(problems) => {
                let fault = |(approval, problem)| VerifyError::Approval {
                    file: file.clone(),
                    approval,
                    problem,
                };
                self.faults.extend(problems.into_iter().map(fault));
                0
            }
        }
    }

    fn read(&mut self, name: &str, bytes_max: u64) -> Option<Vec<u8>> {
        let path = name.to_owned();
        match read_below(self.root, name, bytes_max) {
            Ok(Some(bytes)) => return Some(bytes),
            Ok(None) => self.faults.push(VerifyError::TooLarge { path, bytes_max }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.faults.push(VerifyError::Missing { path });
            }
            // The walk reported it before.
            Err(_)
                if self.faults.iter().any(
                    |fault| matches!(fault, VerifyError::FileType { path, .. } if path == name),
                ) => {}
            Err(error) => {
                self.faults.push(VerifyError::Unreadable { path, problem: error.to_string() })
            }
        }
        None
    }
}

/// Returns the names of the host that made the record, if the log of this origin was checked. The
/// log of a fleet's record is that of its signer.
fn host_of<'t>(
    origin: Option<&'t str>,
    read: &ParsedRecord,
    trust: &'t Trust,
) -> Option<HostAudience<'t>> {
    let signer = read.signed_by.as_ref();
    let of_fleet = signer.and_then(|signer| trust.fleet_host(&signer.fingerprint));
    let of_log = |origin| of_fleet.map_or(HostAudience::of(Some(origin)), FleetHostTrust::audience);
    origin.map(of_log)
}

/// Returns whether a rule is about the text shown to readers. Such rules grow stricter with every
/// version of this program, and the verification of signed bytes must not depend on them.
fn is_about_shown_text(code: Code) -> bool {
    matches!(
        code,
        Code::Secret(_)
            | Code::ResultInstruction
            | Code::ResultPayload
            | Code::ResultPolicyClaim
            | Code::TextConfusable
    )
}
