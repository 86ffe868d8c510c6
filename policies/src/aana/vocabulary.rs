//! The closed vocabularies of an event, in the order of the contract. An unlisted text must never
//! be accepted: aliases and defaults do not exist here.

model::closed_set! {
    /// The decision about an action. A greater value is stricter.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Route {
        /// Execute, within the checked limits.
        Accept = "accept",
        /// Ask for the missing authorization.
        Ask = "ask",
        /// Wait for better evidence or for a person.
        Defer = "defer",
        /// Do not execute.
        Refuse = "refuse",
    }
}

model::closed_set! {
    /// The kind of a tool.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum ToolCategory {
        PublicRead = "public_read",
        PrivateRead = "private_read",
        /// Changes something, or runs code.
        Write = "write",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The verified extent of an authority. A greater value is stronger.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum AuthorizationState {
        /// No authority.
        None = "none",
        /// A user claims it.
        UserClaimed = "user_claimed",
        /// The requester is known.
        Authenticated = "authenticated",
        /// The request was checked as well.
        Validated = "validated",
        /// Exactly this action was approved.
        Confirmed = "confirmed",
    }
}

model::closed_set! {
    /// The area that an action puts at risk.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum RiskDomain {
        Devops = "devops",
        Finance = "finance",
        Education = "education",
        Hr = "hr",
        Legal = "legal",
        Pharma = "pharma",
        Healthcare = "healthcare",
        Commerce = "commerce",
        CustomerSupport = "customer_support",
        Security = "security",
        Research = "research",
        PersonalProductivity = "personal_productivity",
        PublicInformation = "public_information",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The kind of a reference.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum EvidenceKind {
        UserMessage = "user_message",
        AssistantMessage = "assistant_message",
        ToolResult = "tool_result",
        /// A rule.
        Policy = "policy",
        /// A person was authenticated.
        AuthEvent = "auth_event",
        /// A person approved.
        Approval = "approval",
        /// A fact about the system.
        SystemState = "system_state",
        AuditRecord = "audit_record",
        Other = "other",
    }
}

model::closed_set! {
    /// The trust tier of a reference.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum TrustTier {
        /// Verified by a trusted party.
        Verified = "verified",
        /// Stated by the runtime.
        Runtime = "runtime",
        /// Claimed by a user.
        UserClaimed = "user_claimed",
        /// Not verified.
        Unverified = "unverified",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The state of private values in a reference.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum RedactionStatus {
        /// All content is public.
        Public = "public",
        /// Private values were removed.
        Redacted = "redacted",
        /// Private values remain.
        Sensitive = "sensitive",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The freshness of a reference.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Freshness {
        Fresh = "fresh",
        Stale = "stale",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The kind of subject whose authorization was checked.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum SubjectType {
        User = "user",
        Account = "account",
        Client = "client",
        Employee = "employee",
        Student = "student",
        Patient = "patient",
        Case = "case",
        Service = "service",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The decision of the gate.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum GateDecision {
        Pass = "pass",
        Fail = "fail",
    }
}

model::serialize_closed_set!(
    Route,
    ToolCategory,
    AuthorizationState,
    RiskDomain,
    EvidenceKind,
    TrustTier,
    RedactionStatus,
    Freshness,
    SubjectType,
    GateDecision,
);

impl AuthorizationState {
    pub(super) fn reads_private(self) -> bool {
        self >= Self::Authenticated
    }

    /// Returns whether an event may propose a write in this state.
    pub(super) fn proposes_writes(self) -> bool {
        self >= Self::Validated
    }

    pub(super) fn writes(self) -> bool {
        self == Self::Confirmed
    }
}
