//! Writes a draft that passes its checks, and describes it. A refused draft must leave no file, and
//! no file may be replaced.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use model::{RequestId, Sha256};
use serde_json::{Value, json};
use spool::{DraftFiles, SpoolError};
use trees::TreeError;
use validator::{Code, ComposedWork, Composition, Violation};

use super::folder::DraftFolder;
use super::inputs::{DraftContent, DraftInput};
use crate::commands::request::lint::as_approved;
use crate::failure::Failure;
use crate::output;
use crate::output::human;

pub(crate) struct DraftOutcome {
    id: RequestId,
    /// The request; `None` if its command could not be composed.
    composition: Option<Composition>,
    /// The path of the written request; `None` if it would be refused.
    pub(super) path: Option<PathBuf>,
    violations: Vec<Violation>,
}

/// Writes the draft and copies of its inputs, unless it would be refused.
pub(super) fn write(
    mut composition: Composition,
    mut inputs: Vec<DraftInput>,
    (directory, input_bytes_max): (&Path, u64),
    judge: &dyn Fn(&Composition) -> Vec<Violation>,
) -> Result<DraftOutcome, Failure> {
    let violations = judge(&composition);
    if human::has_error(&violations) {
        return Ok(DraftOutcome::refused(composition, violations));
    }
    let mut drafting = DraftFiles::begin(directory, composition.id.as_str(), input_bytes_max)?;
    for (input, composed) in inputs.iter_mut().zip(&mut composition.inputs) {
        composed.sha256 = add(&mut drafting, input, input_bytes_max)?;
    }
    // The digests are known now. A refusal drops the copies.
    let violations = judge(&composition);
    if human::has_error(&violations) {
        return Ok(DraftOutcome::refused(composition, violations));
    }
    let path = drafting.commit(composition.to_text().as_bytes())?;
    Ok(DraftOutcome { path: Some(path), ..DraftOutcome::refused(composition, violations) })
}

/// Copies an input, and returns the digest of the copy.
fn add(
    drafting: &mut DraftFiles,
    input: &mut DraftInput,
    bytes_max: u64,
) -> Result<Sha256, Failure> {
    let name = &input.name;
    match &mut input.content {
        DraftContent::File(file) => drafting.add(name, file).map_err(|error| match error {
            SpoolError::TooLarge { .. } => too_large(name, bytes_max),
            error => error.into(),
        }),
        DraftContent::Folder(folder) => add_folder(drafting, name, folder, bytes_max),
    }
}

fn add_folder(
    drafting: &mut DraftFiles,
    name: &str,
    folder: &DraftFolder,
    bytes_max: u64,
) -> Result<Sha256, Failure> {
    let left = drafting.bytes_left();
    // Check the planned size first to spare the disk; the number of copied bytes is decisive.
    if folder.bytes() > left {
        return Err(too_large(name, bytes_max));
    }
    let to = drafting.make_folder(name.strip_suffix('/').unwrap_or(name))?;
    let tree = folder.copy(to.as_fd(), left).map_err(|error| match error {
        TreeError::TooManyBytes { .. } => too_large(name, bytes_max),
        error => Failure::Message(format!("--input {name}: {error}")),
    })?;
    drafting.count_bytes(tree.bytes);
    Ok(tree.sha256)
}

fn too_large(name: &str, bytes_max: u64) -> Failure {
    Failure::Message(format!(
        "--input {name}: the inputs together are larger than {bytes_max} bytes; help: use fewer or \
         smaller inputs"
    ))
}

impl DraftOutcome {
    fn refused(composition: Composition, violations: Vec<Violation>) -> Self {
        let id = composition.id.clone();
        Self { id, composition: Some(composition), path: None, violations }
    }

    /// Returns the outcome of a draft without a command.
    pub(super) fn without_command(id: RequestId, violations: Vec<Violation>) -> Self {
        Self { id, composition: None, path: None, violations }
    }

    pub(super) fn id(&self) -> &RequestId {
        &self.id
    }

    /// Returns the violations without the missing approval, which every draft has.
    pub(crate) fn violations(&self) -> Vec<Violation> {
        let rest = self.violations.iter().filter(|it| it.code != Code::ApprovalMissing);
        rest.cloned().collect()
    }

    pub(crate) fn json(&self) -> Value {
        let id = self.id.as_str();
        let (Some(path), Some(composition)) = (&self.path, &self.composition) else {
            return json!({ "request": null, "request_id": id, "violations": self.violations });
        };
        let inputs = composition.inputs.iter();
        json!({
            "request": output::path(path),
            "request_id": id,
            "sha256": Sha256::of(composition.to_text().as_bytes()).to_string(),
            "intent_sha256": intent(composition).map(|digest| digest.to_string()),
            "inputs": inputs.map(|input| json!({
                "name": input.name.as_str(),
                "sha256": input.sha256.to_string(),
            })).collect::<Vec<_>>(),
            "violations": self.violations,
        })
    }

    pub(super) fn print_violations(&self, path: &Path) {
        let text = self.composition.as_ref().map(Composition::to_text).unwrap_or_default();
        human::print_to_stderr(path, text.as_bytes(), &self.violations());
    }

    pub(super) fn print_refused(&self, path: &Path) {
        self.print_violations(path);
        if let Some(composition) = &self.composition
            && self.violations.iter().any(|it| it.code == Code::CommandUndeclaredFile)
        {
            propose_inputs(composition);
        }
    }
}

/// Suggests files that the command names and that exist here, but are not declared.
fn propose_inputs(composition: &Composition) {
    let ComposedWork::Command(line) = &composition.work else { return };
    for word in line.as_str().split([' ', '\t', '=', '\'', '"']) {
        let name = word.strip_prefix("/in/").unwrap_or(word).trim_start_matches("./");
        let declared = composition.inputs.iter().any(|input| declares(input.name.as_str(), name));
        if name.is_empty() || name.starts_with('/') || declared || !Path::new(name).is_file() {
            continue;
        }
        let named = if name.contains('/') { format!("{name}={name}") } else { name.to_owned() };
        output::note(format_args!("{name}: a file of this directory; help: add --input {named}"));
    }
}

/// Returns whether an input is the file, or a folder with it.
fn declares(input: &str, name: &str) -> bool {
    input == name || input.ends_with('/') && name.starts_with(input)
}

/// Returns the digest of the request's intent.
fn intent(composition: &Composition) -> Option<Sha256> {
    let (text, name) = (composition.to_text(), format!("{}.md", composition.id));
    Some(as_approved(text.as_bytes(), &name, composition.created)?.intent_sha256())
}
