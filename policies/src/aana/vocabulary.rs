//! The closed lists of words of an event, in the order of the contract. What is on no list must
//! never be taken for anything: there are no aliases and no defaults here.

model::closed_set! {
    /// What is to be done with an action; the greater is the stricter.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Route {
        /// Execute, within what was checked.
        Accept = "accept",
        /// Ask for what is missing.
        Ask = "ask",
        /// Leave it to better evidence or to a person.
        Defer = "defer",
        /// Do not execute.
        Refuse = "refuse",
    }
}

model::closed_set! {
    /// What a tool does.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum ToolCategory {
        /// Reads what is public.
        PublicRead = "public_read",
        /// Reads what is somebody's.
        PrivateRead = "private_read",
        /// Changes something, or runs code.
        Write = "write",
        /// Nobody said.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// How far an authority is verified; the greater is the stronger.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum AuthorizationState {
        /// Not at all.
        None = "none",
        /// Somebody says so.
        UserClaimed = "user_claimed",
        /// It is known who asks.
        Authenticated = "authenticated",
        /// What is asked was checked as well.
        Validated = "validated",
        /// This very action was approved.
        Confirmed = "confirmed",
    }
}

model::closed_set! {
    /// What an action puts at risk.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum RiskDomain {
        /// Systems in operation.
        Devops = "devops",
        /// Money.
        Finance = "finance",
        /// Education.
        Education = "education",
        /// Staff.
        Hr = "hr",
        /// The law.
        Legal = "legal",
        /// Medicines.
        Pharma = "pharma",
        /// Patients.
        Healthcare = "healthcare",
        /// Trade.
        Commerce = "commerce",
        /// Customers.
        CustomerSupport = "customer_support",
        /// Security.
        Security = "security",
        /// Research.
        Research = "research",
        /// One's own affairs.
        PersonalProductivity = "personal_productivity",
        /// What everybody may know.
        PublicInformation = "public_information",
        /// Nobody said.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// What a reference refers to.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum EvidenceKind {
        /// Words of a user.
        UserMessage = "user_message",
        /// Words of an assistant.
        AssistantMessage = "assistant_message",
        /// What a tool answered.
        ToolResult = "tool_result",
        /// A rule.
        Policy = "policy",
        /// Somebody was authenticated.
        AuthEvent = "auth_event",
        /// Somebody approved.
        Approval = "approval",
        /// A fact about the system.
        SystemState = "system_state",
        /// A record.
        AuditRecord = "audit_record",
        /// Anything else.
        Other = "other",
    }
}

model::closed_set! {
    /// By whose word a reference stands.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum TrustTier {
        /// Verified.
        Verified = "verified",
        /// The runtime's.
        Runtime = "runtime",
        /// A user's.
        UserClaimed = "user_claimed",
        /// Nobody looked.
        Unverified = "unverified",
        /// Nobody said.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// What a reference lets be seen.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum RedactionStatus {
        /// Nothing that is not public.
        Public = "public",
        /// Private values were taken out.
        Redacted = "redacted",
        /// Private values are in it.
        Sensitive = "sensitive",
        /// Nobody said.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// Whether a reference still holds.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Freshness {
        /// It does.
        Fresh = "fresh",
        /// It does no longer.
        Stale = "stale",
        /// Nobody said.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// Whose authorization was looked at.
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
        /// Nobody said.
        Unknown = "unknown",
    }
}

model::closed_set! {
    /// What the gate says.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Gate {
        /// The action may be executed.
        Pass = "pass",
        /// It may not.
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
    Gate,
);

impl AuthorizationState {
    /// Whether something private may be read.
    pub(super) fn reads_private(self) -> bool {
        self >= Self::Authenticated
    }

    /// Whether an event may ask for a write with this state at all.
    pub(super) fn proposes_writes(self) -> bool {
        self >= Self::Validated
    }

    /// Whether a write may be executed.
    pub(super) fn writes(self) -> bool {
        self == Self::Confirmed
    }
}
