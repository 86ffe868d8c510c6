//! The keys of a standing approval's front matter, for the check and its schema.

model::closed_set! {
    /// A key of the front matter, in the order of the format.
    #[allow(rustdoc::invalid_html_tags, reason = "a meaning is shown as it is, not as Markdown")]
    pub(crate) enum StandingKey {
        RequestType = "request_type": "The type of this file.",
        SchemaVersion = "schema_version": "The version of the format: 1.",
        StandingId = "standing_id": "The name of the file: SA-YYYYMMDD-HHMMSSZ-<slug>.",
        CreatedUtc = "created_utc": "The time when it was written, UTC: YYYY-MM-DDTHH:MM:SSZ.",
        ApprovedBy = "approved_by": "The approver. Empty until the approval.",
        ApprovedUtc = "approved_utc": "The time of the approval, UTC. Empty until then.",
        Purpose = "purpose": "The reason for the runs, in one sentence.",
        Audience = "x-audience": "The only host that may use it.",
        Agents = "agents": "The exact names of the agents that may use it.",
        Subject = "subject": "The only workflow that may use it, or null.",
        NotBeforeUtc = "not_before_utc": "The first second of its use, UTC.",
        NotAfterUtc = "not_after_utc": "The second in which it has ended, UTC.",
        UsesMax = "uses_max": "The number of uses in all.",
        UsesPerHourMax = "uses_per_hour_max": "The number of uses within any 3,600 seconds.",
        Language = "language": "The language of the tool.",
        Environment = "environment": "The environment of each request, with its digest, or null.",
        Network = "network": "The most that a request may ask for: `none` or `allowlist`.",
        NetworkAllowlist = "network_allowlist": "The hosts that a request may name.",
        CpuLimit = "cpu_limit": "The most processor cores.",
        MemoryLimitMb = "memory_limit_mb": "The most memory in MiB.",
        TimeLimitSec = "time_limit_sec": "The most wall time in seconds.",
        InputsBytesMax = "inputs_bytes_max": "The most bytes of all inputs together.",
        RunsCodeOfInputs = "runs_code_of_inputs": "Whether the content of a slot may be executed.",
        Inputs = "inputs": "Fixed files and folders with their digests, and slots for files of any content.",
        Parameters = "parameters": "The values that a command may choose.",
        OutputsExpected = "outputs_expected": "The outputs of each request.",
        Risk = "risk": "The highest risk that a request may state.",
        Sensitivity = "sensitivity": "The highest sensitivity that a request may state.",
        Constraints = "constraints": "The constraints that each request has.",
        Examples = "examples": "Commands that are admitted or refused, at least one of each.",
    }
}

impl StandingKey {
    pub(super) fn is_optional(self) -> bool {
        matches!(self, Self::Environment | Self::Network | Self::NetworkAllowlist)
    }
}
