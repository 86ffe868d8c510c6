//! The environment that a request names, with the facts of its build if a store of this host has
//! it. The facts are the builder's words: only the digest is checked, as before a run.

use std::path::{Path, PathBuf};

use model::{EnvironmentReference, UtcTime};
use serde_json::{Value, json};
use trees::{Environment, EnvironmentStore};
use validator::reveal_line;

use super::page::ReviewPage;
use crate::args::SignedBuild;
use crate::args::environment::find_in;
use crate::clock;
use crate::output::{self, human};

const ABSENT: &str =
    "not on this host; help: add it with `toolexec env import` or `toolexec env build`";
const DAY_SEC: i64 = 24 * 60 * 60;

pub(crate) struct NamedEnvironment {
    reference: EnvironmentReference,
    /// The store that a run would use.
    store: PathBuf,
    /// The facts of its build, or the reason why this host does not have them.
    stored: Result<Environment, String>,
    /// The signed record of its build.
    signed: SignedBuild,
}

impl NamedEnvironment {
    /// Looks up the facts in the first of these stores that has the digest.
    pub(super) fn of(reference: &EnvironmentReference, stores: &[PathBuf]) -> Self {
        let word = format!("sha256:{}", reference.sha256);
        let of = |store: &PathBuf, stored| {
            let (reference, store) = (reference.clone(), store.clone());
            let signed = signed_build(&store, &stored);
            Self { reference, store, stored, signed }
        };
        let mut unusable = None;
        for store in stores {
            match find_in(store, &word) {
                Ok(Some(environment)) => return of(store, Ok(environment)),
                Ok(None) => {}
                Err(error) => unusable = unusable.or(Some((store, error.to_string()))),
            }
        }
        if let Some((store, why)) = unusable {
            return of(store, Err(why));
        }
        let existing = stores.iter().find(|store| store.is_dir());
        let store = existing.or(stores.last()).cloned().unwrap_or_default();
        of(&store, Err(ABSENT.to_owned()))
    }

    /// Returns the store that a run would use.
    pub(super) fn store(&self) -> &Path {
        &self.store
    }

    pub(super) fn print(&self, page: &mut ReviewPage) {
        page.title("Environment");
        page.row("name", &self.reference.name);
        page.row("sha256", self.reference.sha256);
        let environment = match &self.stored {
            Ok(environment) => environment,
            Err(why) => return page.row("build", reveal_line(why)),
        };
        let Environment { build, files, bytes, .. } = environment;
        if !environment.is_named(&self.reference.name) {
            let names = names(environment).join(", ");
            page.row("", format_args!("this host has it under another name: {names}"));
        }
        let (kind, file) = (reveal_line(&build.source.kind), reveal_line(&build.source.file));
        page.row("source", format_args!("{kind} {file}, sha256 {}", build.source.sha256));
        page.row("size", format_args!("{bytes} bytes, {files} files"));
        page.row("store", human::name(&self.store));
        let age = age(build.built, clock::now());
        page.row("built", format_args!("{}, {age}, by uid {}", build.built, build.uid));
        page.row("built by", self.signed.signer());
        for fact in self.signed.facts().into_iter().flatten() {
            page.row("signed", reveal_line(&fact));
        }
        if environment.imported {
            page.row("imported", "yes: another store states source, time and uid");
        }
    }

    /// Returns the facts. Those of the build are null if this host does not have them.
    pub(super) fn json(&self) -> Value {
        let mut object = json!({
            "reference": self.reference.to_string(),
            "name": self.reference.name.as_str(),
            "sha256": self.reference.sha256.to_string(),
            "is_here": self.stored.is_ok(),
            "store": output::path(&self.store),
            "problem": self.stored.as_ref().err(),
            "build": null,
        });
        if let Ok(environment) = &self.stored {
            let Environment { build, files, bytes, .. } = environment;
            object["build"] = json!({
                "names": names(environment),
                "source": {
                    "kind": reveal_line(&build.source.kind),
                    "file": reveal_line(&build.source.file),
                    "sha256": build.source.sha256.to_string(),
                },
                "built_utc": build.built.to_string(),
                "uid": build.uid,
                "imported": environment.imported,
                "record": self.signed.json(),
                "files": files,
                "bytes": bytes,
            });
        }
        object
    }
}

/// Reads the signed record of a build whose facts were found.
fn signed_build(store: &Path, stored: &Result<Environment, String>) -> SignedBuild {
    let Ok(environment) = stored else { return SignedBuild::Unsigned };
    match EnvironmentStore::open(store) {
        Ok(store) => SignedBuild::read(&store, environment.sha256),
        Err(error) => SignedBuild::Unverified(error.to_string()),
    }
}

/// Returns the names under which this host built or imported it.
fn names(environment: &Environment) -> Vec<String> {
    let names = [&environment.build.name].into_iter().chain(&environment.other_names);
    names.map(ToString::to_string).collect()
}

/// Formats the whole days since a time.
fn age(since: UtcTime, now: UtcTime) -> String {
    match now.unix().saturating_sub(since.unix()) / DAY_SEC {
        ..1 => "today".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}
