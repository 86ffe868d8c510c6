//! Installs requirements with uv, or with pip if uv is missing. Both verify every hash, take wheels
//! only, so that no code of a package runs, and add no dependency that the file does not name.

use std::path::Path;
use std::process::Command;

use super::interpreter::PythonInterpreter;
use crate::source::error::SourceError;
use crate::source::installer::installer;
use crate::source::model::{SourceInstaller, SourceTools};
use crate::source::program::{command, find, run, run_to_end};

/// Installs the requirements in the file into an empty directory.
pub(super) fn install(
    file: &Path,
    into: &Path,
    python: &PythonInterpreter,
    tools: &SourceTools,
) -> Result<SourceInstaller, SourceError> {
    let uv = find("uv", tools);
    let (mut install, what) = match &uv {
        Some(uv) => (uv_install(uv, python, tools)?, "uv pip install".to_owned()),
        None => (pip_install(python, tools)?, format!("{} -m pip", python.path.display())),
    };
    install.arg("--target").arg(into).arg("-r").arg(file);
    run(&mut install, &what, tools)?;
    match uv {
        Some(uv) => installer("uv", &mut command(&uv, tools)?, tools),
        None => installer("pip", &mut pip(python, tools)?, tools),
    }
}

fn uv_install(
    uv: &Path,
    python: &PythonInterpreter,
    tools: &SourceTools,
) -> Result<Command, SourceError> {
    let mut command = command(uv, tools)?;
    command.args(["pip", "install", "--no-config", "--require-hashes", "--no-deps"]);
    // Hard links into uv's cache would get the modes of the store.
    command.args(["--only-binary", ":all:", "--link-mode", "copy"]);
    command.arg("--python").arg(&python.path);
    command.env("UV_PYTHON_DOWNLOADS", "never");
    Ok(command)
}

fn pip_install(python: &PythonInterpreter, tools: &SourceTools) -> Result<Command, SourceError> {
    let what = format!("{} -m pip --version", python.path.display());
    let asked = run_to_end(pip(python, tools)?.arg("--version"), &what, tools)?;
    if !asked.status.success() {
        let what = format!("uv: not on PATH, and {} has no pip", python.path.display());
        return Err(SourceError::missing(what, "install uv, or pip for this interpreter"));
    }
    let mut command = pip(python, tools)?;
    command.args(["install", "--require-hashes", "--no-deps", "--only-binary=:all:"]);
    command.args(["--no-compile", "--no-input", "--disable-pip-version-check"]);
    command.args(["--no-warn-script-location", "--progress-bar", "off"]);
    Ok(command)
}

fn pip(python: &PythonInterpreter, tools: &SourceTools) -> Result<Command, SourceError> {
    let mut command = command(&python.path, tools)?;
    command.args(["-s", "-m", "pip"]);
    Ok(command)
}
