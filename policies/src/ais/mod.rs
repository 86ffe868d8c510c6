//! Agentic Intent Security: the seven artifacts of seed 004, their canonical form and signatures,
//! and the guard that checks whether a call is bound to a user's intent. It must never read the
//! time, the history of nonces or a key by itself, so that a verdict can be reproduced.
//!
//! Start with [`AisBundle::read`] and [`AisTrustStore::read`]. Only [`guard`] makes an
//! [`AcceptedCall`]. [`canonical`] and [`sign`] take any JSON without changing it.

mod apa;
mod apr;
mod artifact;
mod bundle;
mod canonical;
mod code;
mod crl;
mod destination;
mod entail;
mod facts;
mod field;
mod guard;
mod host_assertion;
mod ibe;
mod jws;
mod model;
mod public_key;
mod rules;
mod sca;
mod signing;
mod tca;
mod trust;
mod uia;
mod unverified;
mod uri;

pub use self::model::{AisKeyRole, Algorithm};
pub use apa::{Alignment, Apa, ExpectedEffects, PlanModel, PlanStep, PlanTotals, StepGuard};
pub use apr::{AlignmentEvidence, Apr, SEMANTIC_ENTAILMENT_V1};
pub use artifact::AisArtifact;
pub use bundle::{AisBundle, AisBundleError, BUNDLE_BYTES_MAX};
pub use canonical::{DOCUMENT_BYTES_MAX, canonical, read_document};
pub use code::{AisCode, AisRefusal};
pub use crl::{Crl, Revocation, RevokedKind};
pub use entail::{EVIDENCE_TOLERANCE, Entailment, entail};
pub use facts::{EnvironmentDigests, RequestFacts, step_args, tool_name};
pub use field::{ArtifactTime, Fraction, JsonCount, NonEmptyText, Uri};
pub use guard::{AcceptedCall, GuardCheck, GuardInput, GuardVerdict, Judgement, guard, judge};
pub use host_assertion::{HostClaim, host_tca};
pub use ibe::Ibe;
pub use public_key::PublicKeyError;
pub use rules::{AisRules, Presence, ProfileRules, RULES_BYTES_MAX, RulesError, SecretKeys};
pub use sca::{Component, ComponentKind, Sca, ScaRuntime};
pub use signing::{SigningKey, SigningKeyError, embed, sign};
pub use tca::{Effects, Operation, Tca, Writes};
pub use trust::{AisTrustError, AisTrustStore, TRUST_BYTES_MAX};
pub use uia::{IntentConstraints, IntentSubject, RiskBudget, TimeWindow, Uia};
pub use unverified::{ArtifactError, UnverifiedArtifact};
