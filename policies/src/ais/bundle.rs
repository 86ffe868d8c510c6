//! A bundle: the artifacts of one call, stored next to a request. It must never have a member that
//! the reader ignores.

use std::fmt;

use serde_json::{Map, Value};
use validator::{JsonError, read_json};

use super::apa::Apa;
use super::apr::Apr;
use super::code::{AisCode, AisRefusal};
use super::crl::Crl;
use super::ibe::Ibe;
use super::sca::Sca;
use super::tca::Tca;
use super::uia::Uia;
use super::unverified::{ArtifactContent, ArtifactError, UnverifiedArtifact};

/// The maximum size of a bundle in bytes.
pub const BUNDLE_BYTES_MAX: usize = 1024 * 1024;

/// The artifacts of one call: `{uia, apa, apr, tca, ibe, crl?, sca?}`.
#[derive(Clone, Debug)]
pub struct AisBundle {
    pub(super) whole: Value,
    pub(super) uia: UnverifiedArtifact<Uia>,
    pub(super) apa: UnverifiedArtifact<Apa>,
    pub(super) apr: UnverifiedArtifact<Apr>,
    pub(super) tca: UnverifiedArtifact<Tca>,
    pub(super) ibe: UnverifiedArtifact<Ibe>,
    pub(super) crl: Option<UnverifiedArtifact<Crl>>,
    pub(super) sca: Option<UnverifiedArtifact<Sca>>,
}

/// The reason why bytes are not a bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AisBundleError {
    /// Not JSON that every reader understands in the same way.
    Json(JsonError),
    /// JSON, but not an object.
    NotAnObject,
    /// The name of a required member that is missing.
    Missing(&'static str),
    /// The name of an unknown member, not escaped.
    Unknown(String),
    /// A member without the form of its artifact.
    Artifact(ArtifactError),
}

impl AisBundleError {
    /// Returns the code of the refusal.
    #[must_use]
    pub fn code(&self) -> AisCode {
        match self {
            Self::Json(_) => AisCode::InputBadJson,
            _ => AisCode::InputSchemaInvalid,
        }
    }

    /// Returns the error as a refusal.
    #[must_use]
    pub fn refusal(&self) -> AisRefusal {
        AisRefusal::new(self.code(), self.to_string())
    }
}

impl fmt::Display for AisBundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "bundle: {error}"),
            Self::NotAnObject => f.write_str("bundle: not an object"),
            Self::Missing(name) => write!(f, "bundle: `{name}` is missing"),
            Self::Unknown(name) => {
                write!(f, "bundle: unknown member `{}`", model::escape_line(name))
            }
            Self::Artifact(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AisBundleError {}

impl From<ArtifactError> for AisBundleError {
    fn from(error: ArtifactError) -> Self {
        Self::Artifact(error)
    }
}

impl AisBundle {
    /// Reads a bundle and checks the form of every artifact, but no signature.
    ///
    /// # Errors
    /// [`AisBundleError`] states the first problem, with the code of the refusal.
    pub fn read(bytes: &[u8]) -> Result<Self, AisBundleError> {
        let whole = read_json(bytes, BUNDLE_BYTES_MAX).map_err(AisBundleError::Json)?;
        let Value::Object(members) = &whole else { return Err(AisBundleError::NotAnObject) };
        const NAMES: [&str; 7] = ["uia", "apa", "apr", "tca", "ibe", "crl", "sca"];
        if let Some(unknown) = members.keys().find(|name| !NAMES.contains(&name.as_str())) {
            return Err(AisBundleError::Unknown(unknown.clone()));
        }
        Ok(Self {
            uia: required(members, "uia")?,
            apa: required(members, "apa")?,
            apr: required(members, "apr")?,
            tca: required(members, "tca")?,
            ibe: required(members, "ibe")?,
            crl: members.get("crl").map(UnverifiedArtifact::read).transpose()?,
            sca: members.get("sca").map(UnverifiedArtifact::read).transpose()?,
            whole,
        })
    }

    /// Returns the intent.
    #[must_use]
    pub fn uia(&self) -> &Uia {
        self.uia.content()
    }

    /// Returns the plan.
    #[must_use]
    pub fn apa(&self) -> &Apa {
        self.apa.content()
    }

    /// Returns the proof of alignment.
    #[must_use]
    pub fn apr(&self) -> &Apr {
        self.apr.content()
    }

    /// Returns the tool capability assertion.
    #[must_use]
    pub fn tca(&self) -> &Tca {
        self.tca.content()
    }

    /// Returns the envelope.
    #[must_use]
    pub fn ibe(&self) -> &Ibe {
        self.ibe.content()
    }

    /// Returns the revocation list.
    #[must_use]
    pub fn crl(&self) -> Option<&Crl> {
        self.crl.as_ref().map(UnverifiedArtifact::content)
    }

    /// Returns the supply chain assertion.
    #[must_use]
    pub fn sca(&self) -> Option<&Sca> {
        self.sca.as_ref().map(UnverifiedArtifact::content)
    }
}

fn required<T: ArtifactContent>(
    members: &Map<String, Value>,
    name: &'static str,
) -> Result<UnverifiedArtifact<T>, AisBundleError> {
    let value = members.get(name).ok_or(AisBundleError::Missing(name))?;
    Ok(UnverifiedArtifact::read(value)?)
}
