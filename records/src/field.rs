//! The registry of a record's fields: each key of the front matter with its meaning, in the order
//! of the front matter. `predicate.rs` has the schema of each value and `front.rs` the value. Both
//! match without a wildcard, so a field that lacks either does not compile.

model::closed_set! {
    /// The keys of upstream's result schema.
    pub(crate) enum UpstreamField {
        ResultType = "result_type": "Upstream's word for this.",
        SchemaVersion = "schema_version": "Upstream's version.",
        ResultId = "result_id": "Also the name of the result directory.",
        CreatedUtc = "created_utc": "When the record was made.",
        RequestId = "request_id": "The request's own id, or `unusable`.",
        Executor = "executor": "The program that ran it.",
        Backend = "backend": "The lane it ran in.",
        ExitCode = "exit_code": "The tool's own; 128+n after signal n; -1 where nothing ran or nobody knows.",
        RuntimeSec = "runtime_sec": "Wall time in seconds.",
        NetworkUsed = "network_used": "Whether hosts were granted.",
        NetworkDestinations = "network_destinations": "Hosts that were, or may have been, reached.",
        Artifacts = "artifacts": "Files that the tool left and that were kept.",
        StdoutSha256 = "stdout_sha256": "Of the kept bytes.",
        StderrSha256 = "stderr_sha256": "Of the kept bytes.",
    }
}

model::closed_set! {
    /// The keys about the request and its approval.
    pub(crate) enum ProvenanceField {
        Outcome = "outcome": "How it ended.",
        Reason = "reason": "Why it was refused, not set up, or is indeterminate.",
        ExecutorVersion = "executor_version": "Of the program.",
        ReplayOf = "replay_of": "The record whose run was done again; null in the record of a request's own run.",
        RequestSha256 = "request_sha256": "Of the exact bytes of the request.",
        RequestFile = "request_file": "The request's name where it was found.",
        IntentSha256 = "intent_sha256": "Of what the request asks for.",
        Inputs = "inputs": "Files that the tool was given.",
        Approval = "approval": "What the approval was worth.",
        Approvals = "approvals": "Verified approvals: who, by which key, and what a security key said of it.",
        Argv = "argv": "The command, word by word, from its beginning.",
        ArgvTotal = "argv_total": "How many words it has.",
        ConstraintsStated = "constraints_stated": "Constraints that were stated, not enforced.",
        ConstraintsStatedTotal = "constraints_stated_total": "How many there are.",
    }
}

model::closed_set! {
    /// The keys about the decision.
    pub(crate) enum DecisionField {
        Policy = "policy": "The policy that decided.",
        Rules = "rules": "What each of its rules said, and why: also which said no.",
        Violations = "violations": "What the request's check found, from its beginning.",
        ViolationsTotal = "violations_total": "How much it found.",
        Gate = "gate": "What the AANA gate said; null where there was no call to judge, unknown after a crash.",
        Permission = "permission": "What people answered of the agent and the tool; null where policy asks for none, unknown after a crash.",
        Ais = "ais": "What the AIS guard said of the bundle; null where it was not asked, unknown after a crash.",
    }
}

model::closed_set! {
    /// The keys about the run.
    pub(crate) enum RunField {
        StartedUtc = "started_utc": "When the tool was started.",
        EndedUtc = "ended_utc": "When it had ended.",
        Limits = "limits": "What was asked, and what was read back from the kernel.",
        Confinement = "confinement": "Every layer that was really in force.",
        Accounting = "accounting": "What the run used.",
        Denials = "denials": "What the tool tried and was denied.",
        Network = "network": "What the egress proxy saw.",
        Streams = "streams": "Bytes of each.",
        Rejected = "rejected": "Objects in /out that were not kept, and why.",
        RejectedTotal = "rejected_total": "How many there were.",
        Missing = "missing": "Files that the request expects and the run did not leave.",
        CollectionComplete = "collection_complete": "Whether all of /out was looked at.",
        Files = "files": "Files of the request, and their names where they were found.",
    }
}

/// Keys that the records of earlier versions do not have.
pub(crate) const LATER: [&str; 3] =
    [DecisionField::Ais.as_str(), DecisionField::Gate.as_str(), DecisionField::Permission.as_str()];
