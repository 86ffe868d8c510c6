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
        /// Reads public data, for which no authority is needed.
        PublicRead = "public_read",
        /// Reads private data, for which the requester must be known.
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
        /// Software operations. An unconfirmed write is blocked as high-risk.
        Devops = "devops",
        /// Money. An unconfirmed write is blocked as high-risk.
        Finance = "finance",
        /// Schools and learning.
        Education = "education",
        /// Human resources.
        Hr = "hr",
        /// Law. An unconfirmed write is blocked as high-risk.
        Legal = "legal",
        /// Medicines. An unconfirmed write is blocked as high-risk.
        Pharma = "pharma",
        /// Medical care. An unconfirmed write is blocked as high-risk.
        Healthcare = "healthcare",
        /// Trade.
        Commerce = "commerce",
        /// Support of customers.
        CustomerSupport = "customer_support",
        /// Security. An unconfirmed write is blocked as high-risk.
        Security = "security",
        /// Research.
        Research = "research",
        /// A person's own tasks.
        PersonalProductivity = "personal_productivity",
        /// Information that is public.
        PublicInformation = "public_information",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The kind of a reference.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum EvidenceKind {
        /// A message of the user. It supports at most a claim.
        UserMessage = "user_message",
        /// A message of the assistant. Its kind supports no state.
        AssistantMessage = "assistant_message",
        /// A result of a tool. It supports a validation if it states one.
        ToolResult = "tool_result",
        /// A rule.
        Policy = "policy",
        /// A person was authenticated.
        AuthEvent = "auth_event",
        /// A person approved.
        Approval = "approval",
        /// A fact about the system.
        SystemState = "system_state",
        /// A record of an audit. Its kind supports no state.
        AuditRecord = "audit_record",
        /// Any other kind, and the default. It supports no state by itself.
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
        /// Still valid; the default of the tiers `verified` and `runtime`.
        Fresh = "fresh",
        /// Too old, by its status or by its own maximum age.
        Stale = "stale",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The kind of subject whose authorization was checked.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum SubjectType {
        /// A user.
        User = "user",
        /// An account.
        Account = "account",
        /// A client.
        Client = "client",
        /// An employee.
        Employee = "employee",
        /// A student.
        Student = "student",
        /// A patient.
        Patient = "patient",
        /// A case.
        Case = "case",
        /// A service.
        Service = "service",
        /// Not stated.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// The decision of the gate.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum GateDecision {
        /// The route is `accept`, and no blocker exists.
        Pass = "pass",
        /// The action must not be executed.
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
