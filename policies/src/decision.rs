//! The decision: may this request run, by whose word, under which bounds? It is a pure function of
//! request, policy and evidence, and must never stop at the first rule that says no: the record
//! states what every rule said.

use std::collections::BTreeMap;
use std::path::PathBuf;

use validator::{Code, OwnerUid, Request, UtcTime, Violation};

use crate::approval::{self, Signers};
use crate::grant::Grant;
use crate::hosts;
use crate::policy::Policy;
use crate::rules;

/// A signature file found beside a request: an allegation until it verifies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignatureFile {
    /// The file's name, for messages.
    pub name: String,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// How the request came here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Submission {
    /// A person ran `toolexec run`.
    Invoked {
        /// That person's user id.
        uid: u32,
        /// The name that goes with it, where the host knows one.
        name: Option<String>,
    },
    /// A file appeared in the spool.
    Dropped {
        /// The user who owns the file.
        owner: OwnerUid,
        /// The name that goes with it, where the host knows one.
        owner_name: Option<String>,
    },
}

/// What a host has of one runtime. Plain places that prove nothing, so the fields are open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// The program, as the cell sees it.
    pub binary: PathBuf,
    /// The directory of the interpreter and its library, where that is in none of the policy's
    /// mounts.
    pub prefix: Option<PathBuf>,
    /// The caches that are there: where on the host, by their place in the cell.
    pub caches: BTreeMap<PathBuf, PathBuf>,
}

impl Installed {
    /// A program that needs nothing else.
    #[must_use]
    pub fn binary(path: impl Into<PathBuf>) -> Self {
        Self { binary: path.into(), prefix: None, caches: BTreeMap::new() }
    }
}

/// The programs that were looked for on this host, by the policy's name of the runtime.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Binaries {
    found: BTreeMap<String, Installed>,
    missing: BTreeMap<String, String>,
}

impl Binaries {
    /// None found yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes what was found of a runtime. A path that is not absolute is as good as none, for it
    /// would mean another file in another directory.
    pub fn insert(&mut self, runtime_name: impl Into<String>, found: Installed) {
        if found.binary.is_absolute() {
            self.found.insert(runtime_name.into(), found);
        }
    }

    /// Notes why a runtime cannot be used here.
    pub fn insert_missing(&mut self, runtime_name: impl Into<String>, why: String) {
        self.missing.insert(runtime_name.into(), why);
    }

    /// What was found of a runtime.
    #[must_use]
    pub fn get(&self, runtime_name: &str) -> Option<&Installed> {
        self.found.get(runtime_name)
    }

    /// Why a runtime cannot be used, where more is known than that it was not found.
    #[must_use]
    pub fn why_not(&self, runtime_name: &str) -> Option<&str> {
        self.missing.get(runtime_name).map(String::as_str)
    }

    /// Everything that was found.
    pub fn found(&self) -> impl Iterator<Item = &Installed> {
        self.found.values()
    }
}

impl<N: Into<String>, P: Into<PathBuf>> FromIterator<(N, P)> for Binaries {
    fn from_iter<I: IntoIterator<Item = (N, P)>>(found: I) -> Self {
        let mut binaries = Self::new();
        found.into_iter().for_each(|(name, path)| binaries.insert(name, Installed::binary(path)));
        binaries
    }
}

/// Everything beside request and policy that the decision may look at.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// How the request came here.
    pub submission: Submission,
    /// The signature files beside it.
    pub signatures: &'a [SignatureFile],
    /// The keys whose signatures count, where any were configured.
    pub signers: Option<&'a Signers>,
    /// The name of this host, the origin of its log, which `x-audience` must be; nothing where it
    /// has none, and then it is nobody's audience.
    pub origin: Option<&'a str>,
    /// What the ledger says of these bytes.
    pub ledger: Ledger,
    /// The programs that this host has.
    pub binaries: &'a Binaries,
    /// The present time.
    pub now: UtcTime,
}

/// Whether a request was used up: an approval is good for one start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ledger {
    /// Never started.
    Unused,
    /// Started before.
    Used {
        /// The record of that start.
        record: String,
    },
}

/// What one rule said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// The rule is content.
    Pass,
    /// The rule forbids the run.
    Refuse,
    /// The rule had nothing to decide.
    NotApplicable,
}

impl Verdict {
    /// `pass`, `refuse` or `not_applicable`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Refuse => "refuse",
            Self::NotApplicable => "not_applicable",
        }
    }
}

/// One rule of the decision, for the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleVerdict {
    /// The rule's stable name.
    pub rule: String,
    /// What it said.
    pub verdict: Verdict,
    /// Why, in words.
    pub reason: String,
}

/// The answer.
#[must_use]
#[derive(Debug)]
pub enum Decision {
    /// It may run.
    Approve(Approved),
    /// It may not.
    Refuse {
        /// The request, given back for its record.
        request: Request,
        /// Everything that stands against it.
        violations: Vec<Violation>,
        /// What every rule said.
        rules: Vec<RuleVerdict>,
    },
}

/// The proof that policy lets exactly these bytes run, under this grant.
#[must_use]
#[derive(Debug)]
pub struct Approved {
    request: Request,
    // Boxed, so that a refusal is not as large as an approval.
    grant: Box<Grant>,
    rules: Vec<RuleVerdict>,
}

impl Approved {
    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// By whose word and under which bounds.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// What every rule said.
    #[must_use]
    pub fn rules(&self) -> &[RuleVerdict] {
        &self.rules
    }

    /// Whether the approval is still young enough: time passes between the decision and exec.
    ///
    /// # Errors
    ///
    /// The violation `approval.expired`, where it is not.
    pub fn still_holds(&self, now: UtcTime) -> Result<(), Box<Violation>> {
        match self.grant.approval_expires() {
            Some(end) if end < now => {
                let id = self.request.id();
                let message = format!("{id}: the approval was good until {end}, now it is {now}");
                Err(Box::new(Violation::error(Code::ApprovalExpired, message)))
            }
            _ => Ok(()),
        }
    }

    /// The parts, for the next step, which makes a proof of its own of them.
    pub fn into_parts(self) -> (Request, Grant) {
        (self.request, *self.grant)
    }
}

/// Decides about a well-formed request.
pub fn authorise(request: Request, policy: &Policy, evidence: &Evidence<'_>) -> Decision {
    let mut findings = Findings::new(&request);
    rules::backend(&request, &mut findings);
    let runtime = rules::runtime(&request, policy, evidence.binaries, &mut findings);
    rules::limits(&request, policy, &mut findings);
    hosts::judge(&request, policy, &mut findings);
    rules::constraints(&request, policy, &mut findings);
    rules::layers(policy, &mut findings);
    let approval = approval::judge(&request, policy, evidence, &mut findings);
    let clean = findings.is_clean();
    let Findings { rules, violations, .. } = findings;
    match (runtime, approval) {
        (Some(chosen), Some(approval)) if clean => {
            let grant = Box::new(Grant::new(&request, policy, chosen, approval));
            Decision::Approve(Approved { request, grant, rules })
        }
        _ => Decision::Refuse { request, violations, rules },
    }
}

/// What the rules said so far.
pub(crate) struct Findings {
    request_id: String,
    rules: Vec<RuleVerdict>,
    violations: Vec<Violation>,
}

impl Findings {
    fn new(request: &Request) -> Self {
        let request_id = request.id().to_string();
        Self { request_id, rules: Vec::new(), violations: Vec::new() }
    }

    fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.rules.iter().all(|it| it.verdict != Verdict::Refuse)
    }

    fn row(&mut self, rule: &str, verdict: Verdict, reason: String) {
        self.rules.push(RuleVerdict { rule: rule.to_owned(), verdict, reason });
    }

    pub(crate) fn pass(&mut self, rule: &str, reason: impl Into<String>) {
        self.row(rule, Verdict::Pass, reason.into());
    }

    pub(crate) fn not_applicable(&mut self, rule: &str, reason: impl Into<String>) {
        self.row(rule, Verdict::NotApplicable, reason.into());
    }

    pub(crate) fn refuse(&mut self, rule: &str, code: Code, reason: impl Into<String>, hint: &str) {
        let reason = reason.into();
        let message = format!("{}: {reason}", self.request_id);
        self.violations.push(Violation::error(code, message).hint(hint));
        self.row(rule, Verdict::Refuse, reason);
    }
}
