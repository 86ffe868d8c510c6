//! Compares the inputs with the digests that the request declares. The result is for a person who
//! can still fix the inputs; the daemon checks its own copies again.

use std::io::{self, Read};

use model::{Sha256, Sha256Stream};
use spool::{SpoolError, SubmissionFiles};
use validator::{Code, Input, Request, Violation};

use super::input_folder::{InputFolder, hash_folder};
use crate::failure::Failure;

/// A declared input and the file or folder found for it.
pub(crate) struct DeclaredInput {
    /// The name; that of a folder ends in `/`.
    pub(crate) name: String,
    pub(crate) declared: Sha256,
    pub(crate) found: Result<FoundInput, Violation>,
}

pub(crate) enum FoundInput {
    File(InputFile),
    Folder(InputFolder),
}

pub(crate) struct InputFile {
    pub(crate) sha256: Sha256,
    pub(crate) bytes: u64,
    /// The first bytes of the file, up to the limit; taken from the bytes that were hashed.
    pub(crate) head: Vec<u8>,
}

impl FoundInput {
    pub(crate) fn sha256(&self) -> Sha256 {
        match self {
            Self::File(file) => file.sha256,
            Self::Folder(folder) => folder.tree.sha256,
        }
    }

    /// The size; that of a folder is the sum of its files.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::File(file) => file.bytes,
            Self::Folder(folder) => folder.tree.bytes,
        }
    }

    /// Returns the size as text, with the number of files of a folder.
    pub(crate) fn size(&self) -> String {
        match self {
            Self::File(file) => format!("{} bytes", file.bytes),
            Self::Folder(folder) => format!("{}, {} bytes", folder.files(), folder.tree.bytes),
        }
    }
}

impl DeclaredInput {
    pub(crate) fn violation(&self) -> Option<Violation> {
        let found = match &self.found {
            Ok(found) => found,
            Err(violation) => return Some(violation.clone()),
        };
        (found.sha256() != self.declared).then(|| {
            let (name, found, declared) = (&self.name, found.sha256(), self.declared);
            let message = format!("input {name}: sha256 is {found}, the request says {declared}");
            Violation::error(Code::InputsMismatch, message)
        })
    }
}

/// Hashes every input, keeps `kept_max` bytes of each, and reads `bytes_max` bytes in total.
pub(in crate::commands) fn hash_inputs(
    submission: &SubmissionFiles,
    request: &Request,
    bytes_max: u64,
    kept_max: usize,
) -> Result<Vec<DeclaredInput>, Failure> {
    let mut bytes_left = bytes_max;
    let mut all = Vec::new();
    for input in request.inputs() {
        let found = match input.is_tree() {
            true => hash_folder(submission, input, bytes_left)?.map(FoundInput::Folder),
            false => hash_file(submission, input, bytes_left, kept_max)?.map(FoundInput::File),
        };
        if let Ok(found) = &found {
            bytes_left = bytes_left.saturating_sub(found.bytes());
        }
        all.push(DeclaredInput { name: input.name().to_owned(), declared: *input.sha256(), found });
    }
    Ok(all)
}

fn hash_file(
    submission: &SubmissionFiles,
    input: &Input,
    bytes_left: u64,
    kept_max: usize,
) -> Result<Result<InputFile, Violation>, Failure> {
    let name = input.name();
    let path = submission.inputs().join(name);
    let file = match submission.open_input(name) {
        Ok(file) => file,
        Err(error) => return unusable(name, submission, error).map(Err),
    };
    let found = digest(file.take(bytes_left.saturating_add(1)), kept_max);
    let found = found.map_err(Failure::io(&path))?;
    if found.bytes > bytes_left {
        let message = format!("input {name}: the inputs together are too large");
        let row = Violation::error(Code::LimitsOverPolicy, message);
        return Ok(Err(row.hint("use smaller inputs; see policy limits.input_bytes_max")));
    }
    Ok(Ok(found))
}

fn unusable(
    name: &str,
    submission: &SubmissionFiles,
    error: SpoolError,
) -> Result<Violation, Failure> {
    let path = submission.inputs().join(name);
    let path = path.display();
    if error.is_missing() {
        let message = format!("input {name}: {path}: does not exist");
        return Ok(Violation::error(Code::InputsMissing, message));
    }
    match error {
        SpoolError::FileKind { kind, .. } => {
            let message = format!("input {name}: {path}: is {kind}, not a file");
            Ok(Violation::error(Code::SpoolFileKind, message))
        }
        error => Err(error.into()),
    }
}

fn digest(mut file: impl Read, kept_max: usize) -> io::Result<InputFile> {
    let (mut hash, mut bytes, mut head) = (Sha256Stream::new(), 0, Vec::new());
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = match file.read(&mut buffer)? {
            0 => return Ok(InputFile { sha256: hash.finish(), bytes, head }),
            len => &buffer[..len],
        };
        hash.update(read);
        bytes += u64::try_from(read.len()).unwrap_or(u64::MAX);
        let remaining = kept_max.saturating_sub(head.len());
        head.extend_from_slice(&read[..read.len().min(remaining)]);
    }
}
