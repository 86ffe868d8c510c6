//! Agentic Intent Security: the seven artifacts of seed 004, their canonical form and signatures,
//! and the guard that checks whether a call is bound to a user's intent. It must never read the
//! time, the history of nonces or a key by itself. The caller passes them, so that a verdict can be
//! reproduced.
//!
//! Start with [`Bundle::read`] and [`TrustStore::read`]. [`guard`] is the only function that makes
//! an [`Accepted`]. [`canonical`] and [`sign`] take any JSON without changing it.

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
mod ibe;
mod jws;
mod model;
mod own;
mod public_key;
mod rules;
mod sca;
mod seal;
mod signing;
mod tca;
mod trust;
mod uia;
mod uri;

pub use self::model::{Algorithm, Role};
pub use apa::{Alignment, Apa, Expected, Model, Step, StepGuard, Totals};
pub use apr::{Apr, Evidence, SEMANTIC_ENTAILMENT_V1};
pub use artifact::Artifact;
pub use bundle::{BUNDLE_BYTES_MAX, Bundle, BundleError};
pub use canonical::{DOCUMENT_BYTES_MAX, canonical, read_document};
pub use code::{Code, Refusal};
pub use crl::{Crl, Revoked, RevokedKind};
pub use entail::{EVIDENCE_TOLERANCE, Entailment, entail};
pub use facts::{RequestFacts, Supply, step_args, tool_name};
pub use field::{Count, Fraction, Text, Time, Uri};
pub use guard::{Accepted, Case, Check, Judgement, StapledCrl, Verdict, guard, judge};
pub use ibe::Ibe;
pub use own::{HostClaim, host_tca};
pub use public_key::PublicKeyError;
pub use rules::{AisRules, Presence, ProfileRules, RULES_BYTES_MAX, RulesError, SecretKeys};
pub use sca::{Component, ComponentKind, Runtime, Sca};
pub use seal::{Malformed, Sealed};
pub use signing::{SigningKey, SigningKeyError, embed, sign};
pub use tca::{Effects, Operation, Tca, Writes};
pub use trust::{TRUST_BYTES_MAX, TrustError, TrustStore};
pub use uia::{Constraints, RiskBudget, Subject, TimeWindow, Uia};
