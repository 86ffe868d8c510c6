//! The keys of a request's front matter. The check, its schema and the schema's documentation use
//! this list.

model::closed_set! {
    /// A key of the front matter, in the order of the schema.
    #[allow(rustdoc::invalid_html_tags, reason = "a meaning is shown as it is, not as Markdown")]
    pub(crate) enum RequestKey {
        RequestType = "request_type": "What this file is.",
        SchemaVersion = "schema_version": "The version of the schema: 1.",
        RequestId = "request_id": "The name of the request and of its file: TR-YYYYMMDD-HHMMSSZ-<slug>.",
        CreatedUtc = "created_utc": "When the request was written, UTC: YYYY-MM-DDTHH:MM:SSZ.",
        RequestedBy = "requested_by": "Who wrote it: a person, or CORE.",
        ApprovedBy = "approved_by": "Who approved it. Empty until somebody has.",
        ApprovedUtc = "approved_utc": "When it was approved, UTC. Empty until then.",
        Purpose = "purpose": "One sentence that says why the run is needed.",
        Language = "language": "The language of the tool; shells are forbidden.",
        Network = "network": "Whether a network is asked for; none if the key is missing.",
        NetworkAllowlist = "network_allowlist": "The hosts asked for, `host` or `host:port` (443 if none is named).",
        CpuLimit = "cpu_limit": "Processor cores, such as \"2\" or \"0.5\".",
        MemoryLimitMb = "memory_limit_mb": "Memory in MiB.",
        TimeLimitSec = "time_limit_sec": "Wall time in seconds.",
        Inputs = "inputs": "The files below /in, each with its SHA-256; `[]` if there is none.",
        OutputsExpected = "outputs_expected": "The files that the tool leaves below /out; `[]` if there is none.",
        Constraints = "constraints": "The three of the schema are always enforced; others are only stated.",
        Backend = "backend": "The lane to run in; the policy's default if the key is missing.",
    }
}

impl RequestKey {
    pub(crate) fn is_optional(self) -> bool {
        matches!(self, Self::Network | Self::NetworkAllowlist | Self::Backend)
    }
}
