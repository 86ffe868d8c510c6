//! The lock file of uv, which uv itself exports as requirements with hashes.

use std::path::Path;

use super::interpreter::PythonInterpreter;
use crate::source::document::{SourceDocument, file_name};
use crate::source::error::SourceError;
use crate::source::model::SourceTools;
use crate::source::program::{command, find, run};

/// Returns the packages of the lock file, without the project itself, as requirements.
pub(super) fn export(
    lock: &Path,
    document: &SourceDocument,
    python: &PythonInterpreter,
    tools: &SourceTools,
) -> Result<String, SourceError> {
    let Some(uv) = find("uv", tools) else {
        let what = format!("{}: uv is not on PATH", document.name);
        return Err(SourceError::missing(what, "install uv"));
    };
    let absolute = std::path::absolute(lock).map_err(SourceError::io(lock))?;
    let project = absolute.parent().unwrap_or(Path::new("/"));
    if file_name(&absolute) != "uv.lock" || !project.join("pyproject.toml").is_file() {
        let what = format!("{}: not a `uv.lock` beside its `pyproject.toml`", lock.display());
        return Err(SourceError::refused(what, "name the lock file of a project"));
    }
    let mut export = command(&uv, tools)?;
    export.args(["export", "--frozen", "--format", "requirements-txt", "--no-emit-workspace"]);
    export.args(["--no-header", "--no-annotate", "--no-config"]);
    export.arg("--project").arg(project).arg("--python").arg(&python.path);
    export.env("UV_PYTHON_DOWNLOADS", "never");
    let text = run(&mut export, "uv export", tools)?;
    // The record names the digest of the file, so uv must have read the same bytes.
    if SourceDocument::read(lock)?.sha256 != document.sha256 {
        let what = format!("{}: changed while it was read", lock.display());
        return Err(SourceError::refused(what, "repeat this"));
    }
    Ok(text)
}
