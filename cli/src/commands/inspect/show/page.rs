//! `toolexec show --html`: writes the page of a record. An existing file is never replaced.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::args::StateOption;
use crate::commands::records::verify;
use crate::failure::Failure;
use crate::output;
use crate::output::page::{VerificationState, page_of};

pub(super) fn write(
    dir: &Path,
    to: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<ExitCode, Failure> {
    let verification_state = match verify::verify_directory(dir, allowed_signers, state) {
        Ok(Ok(verified)) => VerificationState::Verified(Box::new(verified)),
        Ok(Err(faults)) => VerificationState::Faulty(faults),
        // Keys that were named must exist.
        Err(failure) if allowed_signers.is_some() => return Err(failure),
        Err(failure) => VerificationState::NotVerified(failure.problem()),
    };
    let Some(page) = page_of(dir, &verification_state) else {
        let shown = dir.display();
        return Err(Failure::Message(format!(
            "{shown}: no page: its record cannot be read; help: run `toolexec verify {shown}`"
        )));
    };
    write_page(&page, to)?;
    if !matches!(verification_state, VerificationState::Faulty(_)) {
        return Ok(ExitCode::SUCCESS);
    }
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    output::note(format_args!("{name}: does not verify; help: read the reasons on its page"));
    Ok(ExitCode::from(1))
}

/// Writes the page. An existing file may belong to someone else and is never replaced.
fn write_page(page: &str, to: &Path) -> Result<(), Failure> {
    if to == Path::new("-") {
        return output::text(page);
    }
    let made = OpenOptions::new().write(true).create_new(true).open(to);
    let mut file = made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let to = to.display();
            Failure::Message(format!(
                "--html {to}: file already exists; help: remove it or name another file"
            ))
        }
        _ => Failure::io(to)(error),
    })?;
    // A part of a page would be in the way of the next attempt.
    let written = file.write_all(page.as_bytes()).inspect_err(|_| {
        fs::remove_file(to).unwrap_or_default();
    });
    written.map_err(Failure::io(to))
}
