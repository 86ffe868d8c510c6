//! The Supply Chain Assertion: which models, guards, policies and data sets there are, by digest. Of one
//! name and kind there must never be two.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::artifact::Artifact;
use super::field::Text;
use super::seal::Content;

const COMPONENTS_MAX: usize = 10_000;

/// What a host is made of (seed, section 7).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sca {
    /// The seed's components.
    pub components: Vec<Component>,
    /// The programs that requests are run by, which are none of the seed's kinds.
    #[serde(rename = "x-runtimes", default)]
    pub runtimes: Vec<Runtime>,
}

/// A kind of component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComponentKind {
    /// What plans.
    Model,
    /// What enforces: our programs.
    Guard,
    /// What is enforced: the policy file, the seccomp text.
    Policy,
    /// Data.
    Dataset,
}

/// One component.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: ComponentKind,
    /// Its name, unique in its kind but for models and data sets of other versions.
    pub name: Text,
    /// Its version.
    pub version: Text,
    /// Its digest; `sha256:<hex>` for what this host compares.
    pub hash: Text,
    /// Where it comes from.
    pub source: Text,
}

/// A program that requests are run by.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// The name of its entry in the policy.
    pub name: Text,
    /// Its version, as far as it is known.
    pub version: Text,
    /// `sha256:<hex>` of the binary.
    pub hash: Text,
    /// Where it lies.
    pub source: Text,
}

impl Sca {
    /// The hash of the one component of this kind and name.
    #[must_use]
    pub fn hash_of(&self, kind: ComponentKind, name: &str) -> Option<&str> {
        let found = self.components.iter().find(|it| it.kind == kind && it.name.as_str() == name);
        found.map(|component| component.hash.as_str())
    }

    /// The hash of the runtime of this name.
    #[must_use]
    pub fn hash_of_runtime(&self, name: &str) -> Option<&str> {
        let found = self.runtimes.iter().find(|it| it.name.as_str() == name);
        found.map(|runtime| runtime.hash.as_str())
    }

    /// Whether a model of this hash is among the components.
    #[must_use]
    pub fn has_model(&self, hash: &str) -> bool {
        let models = self.components.iter().filter(|it| it.kind == ComponentKind::Model);
        models.into_iter().any(|model| model.hash.as_str() == hash)
    }
}

impl Content for Sca {
    const ARTIFACT: Artifact = Artifact::Sca;

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
