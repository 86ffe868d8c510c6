//! The seven artifacts by name. A document must never be read as another kind than its place in a
//! bundle determines.

use super::code::AisCode;
use super::model::AisKeyRole;

model::closed_set! {
    /// One of the artifacts of seed 004.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum AisArtifact {
        /// User Intent Assertion.
        Uia = "UIA",
        /// Agent Plan Assertion.
        Apa = "APA",
        /// Alignment Proof.
        Apr = "APr",
        /// Tool Capability Assertion.
        Tca = "TCA",
        /// Intent-Bound Envelope.
        Ibe = "IBE",
        /// Supply Chain Assertion.
        Sca = "SCA",
        /// Revocation list.
        Crl = "CRL",
    }
}

impl AisArtifact {
    /// Returns the exact text of its JSON Schema (draft 2020-12).
    #[must_use]
    pub fn schema(self) -> &'static str {
        match self {
            Self::Uia => include_str!("schemas/uia.schema.json"),
            Self::Apa => include_str!("schemas/apa.schema.json"),
            Self::Apr => include_str!("schemas/apr.schema.json"),
            Self::Tca => include_str!("schemas/tca.schema.json"),
            Self::Ibe => include_str!("schemas/ibe.schema.json"),
            Self::Sca => include_str!("schemas/sca.schema.json"),
            Self::Crl => include_str!("schemas/crl.schema.json"),
        }
    }

    /// Returns the role of the keys that may sign it.
    #[must_use]
    pub fn role(self) -> AisKeyRole {
        match self {
            Self::Uia => AisKeyRole::User,
            Self::Apa => AisKeyRole::AgentRuntime,
            Self::Apr => AisKeyRole::Verifier,
            Self::Tca => AisKeyRole::Operator,
            Self::Ibe => AisKeyRole::Envelope,
            Self::Sca => AisKeyRole::Host,
            Self::Crl => AisKeyRole::Revocation,
        }
    }

    /// Returns the code of a signature that does not count.
    #[must_use]
    pub fn signature_code(self) -> AisCode {
        match self {
            Self::Uia => AisCode::UiaSigInvalid,
            Self::Apa => AisCode::ApaSigInvalid,
            Self::Apr => AisCode::AprSigInvalid,
            Self::Tca => AisCode::TcaSigInvalid,
            Self::Ibe => AisCode::IbeSigInvalid,
            Self::Sca => AisCode::ScaSigInvalid,
            Self::Crl => AisCode::CrlSigInvalid,
        }
    }

    /// Returns whether `@type` is required. Upstream's tool assertions have none.
    pub(super) fn requires_type(self) -> bool {
        !matches!(self, Self::Tca | Self::Sca)
    }
}
