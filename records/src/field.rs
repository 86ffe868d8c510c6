//! The registry of a record's fields: each key of the front matter with its meaning, in order. A
//! field without schema (`predicate.rs`) or value (`front_matter.rs`) does not compile.

model::closed_set! {
    /// The keys of upstream's result schema.
    pub(crate) enum UpstreamField {
        ResultType = "result_type": "The result type in upstream's terms.",
        SchemaVersion = "schema_version": "The version of upstream's schema.",
        ResultId = "result_id": "The id of the result and the name of its directory.",
        CreatedUtc = "created_utc": "The time when the record was made.",
        RequestId = "request_id": "The id of the request, or `unusable`.",
        Executor = "executor": "The program that ran the request.",
        Backend = "backend": "The execution backend.",
        ExitCode = "exit_code": "The tool's exit code; 128+n after signal n; -1 if nothing ran or the code is unknown.",
        RuntimeSec = "runtime_sec": "Wall time in seconds.",
        NetworkUsed = "network_used": "Whether hosts were granted.",
        NetworkDestinations = "network_destinations": "Hosts that were or may have been reached.",
        Artifacts = "artifacts": "Files of the tool that were kept.",
        StdoutSha256 = "stdout_sha256": "The digest of the kept bytes.",
        StderrSha256 = "stderr_sha256": "The digest of the kept bytes.",
    }
}

model::closed_set! {
    /// The keys about the request and its approval.
    pub(crate) enum ProvenanceField {
        Outcome = "outcome": "The outcome of the request.",
        Reason = "reason": "The reason of a refusal, a failed setup or an indeterminate outcome.",
        ExecutorVersion = "executor_version": "The version of the program that ran the request.",
        ReplayOf = "replay_of": "The record whose run was repeated; null in the record of a request's own run.",
        RequestSha256 = "request_sha256": "The digest of the exact bytes of the request.",
        RequestFile = "request_file": "The file name of the request when it was found.",
        IntentSha256 = "intent_sha256": "The digest of what the request asks for.",
        Inputs = "inputs": "The input files of the tool.",
        Approval = "approval": "The kind of the approval.",
        Approvals = "approvals": "The verified approvals: principal, key, and the statement of a security key.",
        Standing = "standing": "The use of a standing approval: its id and digest, the number of the use (null in a replay), the chosen values, and the size of each input.",
        Environment = "environment": "The environment that the request names, without which its run does not start: name and digest; null if it names none.",
        BackendDetail = "backend_detail": "The backend with its kind, and the role and the digest of each of its files; of a virtual machine also its facts, and what its guest reported; left out if it is the sandbox alone.",
        Argv = "argv": "The words of the command, from the first.",
        ArgvTotal = "argv_total": "The number of words of the command.",
        ConstraintsStated = "constraints_stated": "Constraints that were stated, not enforced.",
        ConstraintsStatedTotal = "constraints_stated_total": "The number of these constraints.",
    }
}

model::closed_set! {
    /// The keys about the decision.
    pub(crate) enum DecisionField {
        Policy = "policy": "The policy that decided.",
        Rules = "rules": "The verdict of each rule with its reason, refusals included.",
        Violations = "violations": "Violations that the check of the request found, from the first.",
        ViolationsTotal = "violations_total": "The number of violations.",
        Gate = "gate": "The result of the AANA gate; null without a call to judge, unknown after a crash.",
        Permission = "permission": "The permission of the agent for the tool; null if the policy requires none, unknown after a crash.",
        Ais = "ais": "The result of the AIS guard on the bundle; null if it was not asked, unknown after a crash.",
    }
}

model::closed_set! {
    /// The keys about the run.
    pub(crate) enum RunField {
        StartedUtc = "started_utc": "The time when the tool was started.",
        EndedUtc = "ended_utc": "The time when the tool had ended.",
        Limits = "limits": "The requested limits, and the limits read back from the kernel.",
        Confinement = "confinement": "The active layers of confinement, as read back.",
        Accounting = "accounting": "The resources that the run used.",
        Denials = "denials": "Operations of the tool that were denied.",
        Network = "network": "The report of the egress proxy.",
        Streams = "streams": "The byte counts of stdout and stderr.",
        Rejected = "rejected": "Objects in /out that were not kept, with the reasons.",
        RejectedTotal = "rejected_total": "The number of rejected objects.",
        Missing = "missing": "Files that the request expects and the run did not write.",
        CollectionComplete = "collection_complete": "Whether all of /out was examined.",
        Files = "files": "Files of the request, with the names under which they were found.",
    }
}

/// Keys that the records of earlier versions do not have. `backend_detail` is not in each record of
/// this version either.
pub(crate) const ABSENT_IN_OLDER_RECORDS: &[&str] = &[
    DecisionField::Ais.as_str(),
    DecisionField::Gate.as_str(),
    DecisionField::Permission.as_str(),
    ProvenanceField::Standing.as_str(),
    ProvenanceField::Environment.as_str(),
    ProvenanceField::BackendDetail.as_str(),
];
