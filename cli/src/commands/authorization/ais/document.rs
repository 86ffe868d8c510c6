//! Documents named on the command line: read with bounds, and refused if invalid.

use std::path::Path;

use policies::ais::{ArtifactError, BUNDLE_BYTES_MAX, DOCUMENT_BYTES_MAX, read_document};
use records::reason_with_help;
use serde_json::Value;
use validator::{
    Draft, DraftCheck, FileLocation, OwnerUid, REQUEST_BYTES_MAX, Request, Violation,
    fill_placeholder_approval, read_json,
};

use super::error::AisCommandError;
use crate::args::files;
use crate::clock;
use crate::failure::{Failure, with_help};
use crate::output::human;

/// Reads a file, or stdin for `-`.
pub(super) fn bytes(path: &Path, bytes_max: usize) -> Result<Vec<u8>, AisCommandError> {
    let read = match path.to_str() {
        Some("-") => files::read_file(Path::new("/dev/stdin"), bytes_max),
        _ => files::read_document(path, bytes_max),
    };
    read.map_err(|failure| match failure {
        Failure::TooLarge(..) => AisCommandError::Invalid(failure.to_string()),
        failure => AisCommandError::Failed(failure),
    })
}

fn invalid<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> AisCommandError + '_ {
    let help = "write JSON with unique names and exact numbers (docs/ais.md)";
    move |error| AisCommandError::Invalid(with_help(&format!("{}: {error}", path.display()), help))
}

/// Returns the error with a help that names its schema.
pub(super) fn artifact_reason(error: &ArtifactError) -> String {
    let name = error.artifact().as_str();
    reason_with_help(&error.to_string(), &format!("see `toolexec ais schema {name}`"))
}

/// Reads any JSON document, for its canonical bytes.
pub(super) fn any_json(path: &Path) -> Result<Value, AisCommandError> {
    read_document(&bytes(path, DOCUMENT_BYTES_MAX)?).map_err(invalid(path))
}

pub(super) fn artifact<S: ParsedArtifact>(path: &Path) -> Result<(Value, S), AisCommandError> {
    let value =
        read_json(&bytes(path, BUNDLE_BYTES_MAX)?, BUNDLE_BYTES_MAX).map_err(invalid(path))?;
    let sealed = S::of(&value).map_err(|error| invalid(path)(artifact_reason(&error)))?;
    Ok((value, sealed))
}

pub(super) trait ParsedArtifact: Sized {
    fn of(value: &Value) -> Result<Self, ArtifactError>;
}

macro_rules! parsed_artifacts {
    ($($content:ident),*) => {
        $(impl ParsedArtifact for policies::ais::UnverifiedArtifact<policies::ais::$content> {
            fn of(value: &Value) -> Result<Self, ArtifactError> {
                Self::read(value)
            }
        })*
    };
}

parsed_artifacts!(Uia, Apa, Apr, Tca, Crl, Sca);

/// Reads a request whose text contains an approval.
pub(super) fn request(path: &Path) -> Result<Request, AisCommandError> {
    check(path, bytes(path, REQUEST_BYTES_MAX)?)
}

/// Reads a request, or a draft with a placeholder approval, which does not change what it does.
pub(super) fn request_or_draft(path: &Path) -> Result<Request, AisCommandError> {
    let text = bytes(path, REQUEST_BYTES_MAX)?;
    match fill_placeholder_approval(&text, clock::now()) {
        Ok(filled) => check(path, filled.bytes),
        Err(_) => check(path, text),
    }
}

fn check(path: &Path, text: Vec<u8>) -> Result<Request, AisCommandError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(text.clone(), &name, owner).map_err(invalid(path))?;
    let DraftCheck { violations, verdict } = draft.check(FileLocation::Elsewhere, clock::now());
    verdict.map_err(|_| {
        let errors: Vec<Violation> = violations;
        human::print_to_stderr(path, &text, &errors);
        AisCommandError::Invalid(format!(
            "{0}: not a valid request; help: run `toolexec lint {0}`",
            path.display()
        ))
    })
}
