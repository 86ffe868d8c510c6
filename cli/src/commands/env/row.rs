//! A stored environment as a line for people, and as JSON.

use model::Sha256;
use serde_json::{Value, json};
use trees::Environment;

use crate::output::figures::{count, size};

/// Returns the line that `build` and `import` print.
pub(super) fn summary(environment: &Environment) -> String {
    let files = count(environment.files, "file", "files");
    let needs = needs(environment).into_iter().map(|need| format!(", {need}"));
    let needs: String = needs.collect();
    format!("{}  {}, {files}{needs}", environment.reference(), size(environment.bytes))
}

/// Returns the reference of an environment, or its digest if its facts cannot be read.
pub(super) fn label(sha256: Sha256, environment: Option<&Environment>) -> String {
    match environment {
        Some(environment) => environment.reference().to_string(),
        None => format!("sha256:{sha256}"),
    }
}

/// Returns each required runtime with its version, such as `python 3.11`.
pub(super) fn needs(environment: &Environment) -> Vec<String> {
    let needs = environment.content.needs.iter();
    needs.map(|(runtime, version)| format!("{runtime} {version}")).collect()
}

/// Returns the facts that each command prints.
pub(super) fn json(environment: &Environment) -> Value {
    let Environment { content, build, .. } = environment;
    json!({
        "environment": environment.reference().to_string(),
        "name": environment.name.as_str(),
        "sha256": environment.sha256.to_string(),
        "kind": content.kind.as_str(),
        "needs": content.needs,
        "source": {
            "kind": build.source.kind,
            "file": build.source.file,
            "sha256": build.source.sha256.to_string(),
        },
        "built_utc": build.built.to_string(),
        "uid": build.uid,
        "files": environment.files,
        "directories": environment.directories,
        "links": environment.links,
        "bytes": environment.bytes,
    })
}
