//! The closed lists of words of an event, in the order of the contract. What is on no list must
//! never be taken for anything: there are no aliases and no defaults here.

use serde::{Serialize, Serializer};

/// An enum whose values are the contract's words, and everything that follows from that.
macro_rules! vocabulary {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name {
            $($(#[$meaning])* $value,)+
        }

        impl $name {
            /// Every value, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$value,)+];
            /// Their words, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// The word of the contract.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }

            /// The value with exactly this word.
            #[must_use]
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$value),)+
                    _ => None,
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

vocabulary! {
    /// What is to be done with an action; the greater is the stricter.
    Route {
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

vocabulary! {
    /// What a tool does.
    ToolCategory {
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

vocabulary! {
    /// How far an authority is verified; the greater is the stronger.
    AuthorizationState {
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

vocabulary! {
    /// What an action puts at risk.
    RiskDomain {
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

vocabulary! {
    /// What a reference refers to.
    EvidenceKind {
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

vocabulary! {
    /// By whose word a reference stands.
    TrustTier {
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

vocabulary! {
    /// What a reference lets be seen.
    RedactionStatus {
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

vocabulary! {
    /// Whether a reference still holds.
    Freshness {
        /// It does.
        Fresh = "fresh",
        /// It does no longer.
        Stale = "stale",
        /// Nobody said.
        Unknown = "unknown",
    }
}

vocabulary! {
    /// Whose authorization was looked at.
    SubjectType {
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

vocabulary! {
    /// What the gate says.
    Gate {
        /// The action may be executed.
        Pass = "pass",
        /// It may not.
        Fail = "fail",
    }
}

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
