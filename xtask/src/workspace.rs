//! The crates of the workspace, their dependencies, and the changed ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::run::output;

pub(crate) struct Workspace {
    crates: BTreeMap<String, Crate>,
}

struct Crate {
    /// Relative to the root, with a slash at its end.
    directory: String,
    /// The crates of the workspace that it depends on.
    dependencies: BTreeSet<String>,
    benches: BTreeSet<String>,
}

impl Workspace {
    /// Reads the crates of the workspace.
    ///
    /// # Errors
    /// `cargo metadata` fails.
    pub(crate) fn read() -> Result<Self, String> {
        let text =
            output("cargo", &["metadata", "--no-deps", "--format-version", "1", "--locked"])?;
        let metadata: Value =
            serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        let root = metadata["workspace_root"].as_str().unwrap_or_default();
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(Self::of(root, packages))
    }

    fn of(root: &str, packages: &[Value]) -> Self {
        let names: BTreeSet<&str> =
            packages.iter().filter_map(|package| package["name"].as_str()).collect();
        let crates = packages.iter().filter_map(|package| {
            let name = package["name"].as_str()?.to_owned();
            let manifest = package["manifest_path"].as_str()?;
            let directory = manifest.strip_prefix(root)?.trim_start_matches('/');
            let directory = directory.strip_suffix("Cargo.toml")?.to_owned();
            let needs = package["dependencies"].as_array()?.iter();
            let needs = needs.filter_map(|need| need["name"].as_str());
            let needs = needs.filter(|need| names.contains(need)).map(str::to_owned).collect();
            let targets = package["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
            let benches = targets.iter().filter(|target| target["kind"][0] == "bench");
            let benches = benches.filter_map(|bench| bench["name"].as_str());
            let benches = benches.map(str::to_owned).collect();
            Some((name, Crate { directory, dependencies: needs, benches }))
        });
        Self { crates: crates.collect() }
    }

    /// Checks crate names from the command line.
    ///
    /// # Errors
    /// A name is not a crate of this workspace.
    pub(crate) fn named(&self, names: &[String]) -> Result<BTreeSet<String>, String> {
        for name in names {
            if !self.crates.contains_key(name) {
                let known: Vec<&str> = self.crates.keys().map(String::as_str).collect();
                return Err(format!(
                    "{name}: not a crate of this workspace\nhelp: name one of {}",
                    known.join(", ")
                ));
            }
        }
        Ok(names.iter().cloned().collect())
    }

    /// Returns the crate that has a bench.
    ///
    /// # Errors
    /// No crate has a bench of this name.
    pub(crate) fn package_of_bench(&self, bench: &str) -> Result<String, String> {
        let found = self.crates.iter().find(|(_, owner)| owner.benches.contains(bench));
        found.map(|(name, _)| name.clone()).ok_or_else(|| {
            let known = self.crates.values().flat_map(|owner| &owner.benches);
            let known: Vec<&str> = known.map(String::as_str).collect();
            format!(
                "{bench}: not a bench of this workspace\nhelp: name one of {}",
                known.join(", ")
            )
        })
    }

    /// Returns the crates with uncommitted changes, or else those that the last commit changed.
    ///
    /// # Errors
    /// `git` fails.
    pub(crate) fn changed(&self) -> Result<BTreeSet<String>, String> {
        let edited = output("git", &["diff", "--name-only", "HEAD"])?;
        let new = output("git", &["ls-files", "--others", "--exclude-standard"])?;
        let now = self.owners(edited.lines().chain(new.lines()));
        if !now.is_empty() {
            return Ok(now);
        }
        let last = output("git", &["diff", "--name-only", "HEAD~1", "HEAD"])?;
        Ok(self.owners(last.lines()))
    }

    /// Returns the crates that contain these paths.
    fn owners<'a>(&self, paths: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let owner = |path: &str| {
            self.crates
                .iter()
                .filter(|(_, owner)| path.starts_with(&owner.directory))
                .map(|(name, _)| name.clone())
                .next()
        };
        paths.filter_map(owner).collect()
    }

    /// Returns the crates that depend on one of these, directly or not, without these.
    pub(crate) fn dependents(&self, of: &BTreeSet<String>) -> BTreeSet<String> {
        let mut reached = of.clone();
        loop {
            let before = reached.len();
            for (name, found) in &self.crates {
                if !found.dependencies.is_disjoint(&reached) {
                    reached.insert(name.clone());
                }
            }
            if reached.len() == before {
                return &reached - of;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Workspace {
        let package = |name: &str, needs: &[&str]| {
            let needs: Vec<Value> = needs.iter().map(|need| json!({ "name": need })).collect();
            json!({
                "name": name,
                "manifest_path": format!("/w/{name}/Cargo.toml"),
                "dependencies": needs,
            })
        };
        let packages = [
            package("model", &["sha2"]),
            package("validator", &["model"]),
            package("cli", &["validator"]),
            package("egress", &[]),
        ];
        Workspace::of("/w", &packages)
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn dependents_are_followed_to_the_end() {
        assert_eq!(sample().dependents(&set(&["model"])), set(&["validator", "cli"]));
        assert_eq!(sample().dependents(&set(&["egress"])), set(&[]));
    }

    #[test]
    fn a_file_belongs_to_the_crate_of_its_directory() {
        let paths = ["cli/src/main.rs", "docs/faq.md", "clippy.toml"];
        assert_eq!(sample().owners(paths.into_iter()), set(&["cli"]));
    }

    #[test]
    fn an_unknown_crate_is_refused_with_the_names_that_exist() {
        let error = sample().named(&["clj".to_owned()]).unwrap_err();
        assert!(error.contains("clj: not a crate") && error.contains("cli"), "{error}");
    }
}
