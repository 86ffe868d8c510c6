//! Violations that the pipeline itself finds, and the outcome of a run under a strict policy. Pure.

use model::Outcome;
use policies::standing::UseRefusal;
use policies::{Approved, MACHINE_REPORT_FILE, RESULT_FILE};
use records::split_reason;
use sandbox::report::FinishedRun;
use spool::PriorRun;
use validator::{Code, Request, Severity, Violation, Work};

pub(crate) fn replayed(request: &Request, seen: &PriorRun) -> Violation {
    let (code, hint) = match seen {
        PriorRun::SameBytes { .. } => {
            (Code::SpoolReplayed, "draft a new request with a new id; a request runs only once")
        }
        PriorRun::SameId { .. } => (Code::SpoolIdReused, "give the request a new id"),
        PriorRun::SameNonce { .. } => {
            (Code::Ais("ibe-replay"), "create a new envelope with `toolexec ais envelope`")
        }
    };
    Violation::error(code, format!("{}: {seen}", request.id())).hint(hint)
}

/// A request with hosts is never run without them: this host lacks the egress proxy.
pub(crate) fn no_egress(request: &Request) -> Violation {
    let what = "the request names hosts, but the proxy toolexec-egress is not installed";
    Violation::error(Code::NetworkNotPermitted, format!("{}: {what}", request.id()))
        .hint("install it beside toolexec, or set egress.socket in toolexecd.yaml")
}

/// Returns the violation for the text of an error; the help of the text becomes the hint.
pub(crate) fn with_help_as_hint(code: Code, text: &str) -> Violation {
    let (problem, help) = split_reason(text);
    let violation = Violation::error(code, problem);
    match help {
        Some(help) => violation.hint(help),
        None => violation,
    }
}

/// With `outputs: strict`, a missing or undeclared output changes `ok` to `output_rejected`.
pub(crate) fn judge_outputs(finished: &FinishedRun, approved: &Approved) -> Outcome {
    let outcome = finished.outcome();
    if outcome != Outcome::Ok || !approved.grant().outputs_strict() {
        return outcome;
    }
    let plain = |path: &str| path.strip_prefix("/out/").unwrap_or(path).to_owned();
    let mut expected: Vec<String> =
        approved.request().outputs_expected().iter().map(|output| plain(output.path())).collect();
    if matches!(approved.request().work(), Work::Code(_)) {
        // The value of the code is declared by the form of the request.
        expected.push(RESULT_FILE.to_owned());
    }
    if approved.grant().backend().machine.is_some() {
        // The wrapper of a virtual machine writes it for every request.
        expected.push(MACHINE_REPORT_FILE.to_owned());
    }
    let mut kept: Vec<String> =
        finished.collected.artifacts.iter().map(|artifact| artifact.path.clone()).collect();
    expected.sort();
    kept.sort();
    if expected == kept { Outcome::Ok } else { Outcome::OutputRejected }
}

pub(crate) fn has_error(violations: &[Violation]) -> bool {
    violations.iter().any(|violation| violation.severity == Severity::Error)
}

/// The last use of a standing approval was taken, or it was revoked, since the decision.
pub(crate) fn use_refused(request: &Request, refusal: UseRefusal) -> Violation {
    let named = request.standing().map(|it| it.id.to_string()).unwrap_or_default();
    let message = format!("{}: {named}: {}", request.id(), refusal.as_str());
    Violation::error(Code::ApprovalStanding, message)
        .hint("have the request approved by itself, or draft a new standing approval")
}
