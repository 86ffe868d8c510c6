//! The Supply Chain Assertion: the digests of models, guards, policies and data sets. Two
//! components must never share a name and kind.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::artifact::AisArtifact;
use super::field::NonEmptyText;
use super::unverified::ArtifactContent;

const COMPONENTS_MAX: usize = 10_000;

/// The components of a host (seed, section 7).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sca {
    /// The seed's components.
    pub components: Vec<Component>,
    /// The programs that execute requests. The seed has no kind for them.
    #[serde(rename = "x-runtimes", default)]
    pub runtimes: Vec<ScaRuntime>,
}

/// A kind of component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComponentKind {
    /// A planning model.
    Model,
    /// An enforcing program of this project.
    Guard,
    /// An enforced text: the policy file, the seccomp filter.
    Policy,
    /// A data set. The guard compares none.
    Dataset,
}

/// One component.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// The kind; `type` in JSON.
    #[serde(rename = "type")]
    pub kind: ComponentKind,
    /// The name, unique within its kind. Models and data sets may repeat it with another version.
    pub name: NonEmptyText,
    /// The version. It only distinguishes models, or data sets, of the same name.
    pub version: NonEmptyText,
    /// The digest; `sha256:<hex>` for components that this host compares.
    pub hash: NonEmptyText,
    /// The origin.
    pub source: NonEmptyText,
}

/// A program that executes requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaRuntime {
    /// The name of its entry in the policy.
    pub name: NonEmptyText,
    /// The version, as far as it is known.
    pub version: NonEmptyText,
    /// `sha256:<hex>` of the binary.
    pub hash: NonEmptyText,
    /// The path.
    pub source: NonEmptyText,
}

impl Sca {
    /// Returns the hash of the one component of this kind and name.
    #[must_use]
    pub fn hash_of(&self, kind: ComponentKind, name: &str) -> Option<&str> {
        let found = self.components.iter().find(|it| it.kind == kind && it.name.as_str() == name);
        found.map(|component| component.hash.as_str())
    }

    /// Returns the hash of the runtime of this name.
    #[must_use]
    pub fn hash_of_runtime(&self, name: &str) -> Option<&str> {
        let found = self.runtimes.iter().find(|it| it.name.as_str() == name);
        found.map(|runtime| runtime.hash.as_str())
    }

    /// Returns whether a model of this hash is among the components.
    #[must_use]
    pub fn has_model(&self, hash: &str) -> bool {
        let models = self.components.iter().filter(|it| it.kind == ComponentKind::Model);
        models.into_iter().any(|model| model.hash.as_str() == hash)
    }
}

impl ArtifactContent for Sca {
    const ARTIFACT: AisArtifact = AisArtifact::Sca;

    fn check(&self) -> Result<(), String> {
        if self.components.len() + self.runtimes.len() > COMPONENTS_MAX {
            return Err(format!("more than {COMPONENTS_MAX} components"));
        }
        let mut names = BTreeSet::new();
        for it in &self.components {
            let enforced = matches!(it.kind, ComponentKind::Guard | ComponentKind::Policy);
            let version = if enforced { "" } else { it.version.as_str() };
            if !names.insert((it.kind, it.name.as_str(), version)) {
                return Err(format!("two components are called `{}`", it.name));
            }
        }
        let mut names = BTreeSet::new();
        match self.runtimes.iter().find(|it| !names.insert(it.name.as_str())) {
            Some(twice) => Err(format!("two runtimes are called `{}`", twice.name)),
            None => Ok(()),
        }
    }
}
