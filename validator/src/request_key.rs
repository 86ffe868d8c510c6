//! The keys of a request's front matter, for the check, its schema and the documentation.

model::closed_set! {
    /// A key of the front matter, in the order of the schema.
    #[allow(rustdoc::invalid_html_tags, reason = "a meaning is shown as it is, not as Markdown")]
    pub(crate) enum RequestKey {
        RequestType = "request_type": "The type of this file.",
        SchemaVersion = "schema_version": "The version of the schema: 1.",
        RequestId = "request_id": "The name of the request and of its file: TR-YYYYMMDD-HHMMSSZ-<slug>.",
        CreatedUtc = "created_utc": "The time when the request was written, UTC: YYYY-MM-DDTHH:MM:SSZ.",
        RequestedBy = "requested_by": "The author: a person, or CORE.",
        ApprovedBy = "approved_by": "The approver. Empty until the approval.",
        ApprovedUtc = "approved_utc": "The time of the approval, UTC. Empty until then.",
        Purpose = "purpose": "The reason for the run, in one sentence.",
        Language = "language": "The language of the tool; shells are forbidden.",
        Network = "network": "The network: `none` or `allowlist`; none if the key is missing.",
        NetworkAllowlist = "network_allowlist": "The requested hosts, `host` or `host:port` (443 by default).",
        CpuLimit = "cpu_limit": "Processor cores, such as \"2\" or \"0.5\".",
        MemoryLimitMb = "memory_limit_mb": "Memory in MiB.",
        TimeLimitSec = "time_limit_sec": "Wall time in seconds.",
        Inputs = "inputs": "The files and folders below /in, each with its SHA-256; a folder ends with `/`; `[]` for none.",
        OutputsExpected = "outputs_expected": "The files that the tool writes below /out; `[]` for none.",
        Constraints = "constraints": "The constraints. The three of the schema are enforced; others are only stated.",
        Backend = "backend": "The backend to run in; the policy's default if the key is missing.",
    }
}

impl RequestKey {
    pub(crate) fn is_optional(self) -> bool {
        matches!(self, Self::Network | Self::NetworkAllowlist | Self::Backend)
    }
}
