//! `toolexec ais canonical`: prints the canonical bytes of a document.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use policies::ais::canonical;

use super::document;
use super::error::AisCommandResult;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais canonical uia.json | sha256sum

Object names are sorted by code point, without blanks, numbers in their shortest form, `<`, `>`,
`&`, U+2028 and U+2029 escaped. No line end is added.
Exit status: 0 printed; 2 invalid JSON, a repeated object name, or a whole number of 2^53 or more;
3 usage or internal error.")]
pub(crate) struct AisCanonicalCommand {
    /// Read this document; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn print_canonical(args: &AisCanonicalCommand) -> AisCommandResult {
    let bytes = canonical(&document::any_json(&args.file)?);
    let mut out = std::io::stdout().lock();
    output::ignore_broken_pipe(out.write_all(&bytes).and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}
