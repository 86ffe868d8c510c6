//! `env build`: builds the environment that the arguments describe, and prints it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use environments::SourceKind;
use trees::EnvironmentName;

use super::args::EnvironmentStoreOption;
use super::builder::{BUILD_PYTHON, BUILD_TIME_SEC, EnvironmentBuild};
use super::error::EnvironmentCommandError;
use super::row;
use crate::args::Format;
use crate::commands::request::draft::closed_set_value;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env build charts --from requirements.txt
         toolexec env build charts --from uv.lock --python /usr/bin/python3.11
         toolexec env build web --from package-lock.json
         toolexec env build tools --from image.tar --store /var/lib/toolexec/environments

Builds an environment, stores it under its digest, and prints its reference. The same source gives
the same digest. The kind is detected by the name:
  *.txt              requirements    each as NAME==VERSION with --hash; needs uv or pip
  uv.lock            uv-lock         beside its pyproject.toml; needs uv
  package-lock.json  package-lock    beside its package.json; needs npm
  a directory        oci-layout      if it has a file oci-layout, such as `skopeo copy` makes
  *.tar              docker-archive  such as `docker save` makes
  *.debian           debian          `suite: bookworm`, then one package a line; needs mmdebstrap
  a directory        directory       copied: files, directories and links inside
The programs run with your rights and the network, without scripts of packages. Of your environment
they get only PATH, proxies, certificates, and the index or registry with its cache.
A signed record states source, installer, times and digest. A record that verifies stays, unless
--sign-key is given.
Exit status: 0 stored; 1 a program failed; 2 the source was refused; 3 a program is missing, or a
usage or internal error. With --format json, stdout is one object: that of `toolexec env list`.")]
pub(crate) struct EnvironmentBuildCommand {
    /// Name the environment: 1 to 40 of a-z, 0-9 and `-`
    #[arg(value_name = "NAME")]
    name: EnvironmentName,
    /// Build it from this lock file, image, list of packages or directory
    #[arg(long, value_name = "PATH")]
    from: PathBuf,
    /// Read the source as this kind [default: detected by its name]
    #[arg(long, value_name = "KIND", value_parser = closed_set_value::<SourceKind>())]
    kind: Option<SourceKind>,
    /// Build Python packages for this interpreter, which the sandbox must have
    /// [default: /usr/bin/python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// End a program that takes longer than this, in seconds
    #[arg(long = "time-max", value_name = "SECONDS", default_value_t = BUILD_TIME_SEC)]
    time_sec: u64,
    /// Sign the build record with this OpenSSH private key: Ed25519 or ECDSA P-256, without a
    /// passphrase [default: the result key of the state directory, if you can read it]
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn build(args: &EnvironmentBuildCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let source = std::path::absolute(&args.from).map_err(Failure::io(&args.from))?;
    source.metadata().map_err(Failure::io(&source))?;
    refuse_around_store(&source, &args.store.path()?)?;
    let kind = kind_of(args, &source)?;
    let python = interpreter(args, kind)?;
    let wanted = EnvironmentBuild {
        name: &args.name,
        source: &source,
        kind,
        python,
        time_max: Duration::from_secs(args.time_sec),
    };
    let built = wanted.build(&args.store.create()?, args.sign_key.as_deref())?;
    match args.format {
        Format::Human => output::line(row::summary(&built.environment))?,
        Format::Json => output::line(row::json(&built.environment))?,
    }
    built.note_facts();
    Ok(ExitCode::SUCCESS)
}

/// Refuses a source that would copy the store, with the new draft, into an environment.
fn refuse_around_store(source: &Path, store: &Path) -> Result<(), EnvironmentCommandError> {
    let real = fs::canonicalize(source).map_err(Failure::io(source))?;
    // The store may not exist yet.
    let existing = store.ancestors().find_map(|path| fs::canonicalize(path).ok());
    match existing.is_some_and(|path| path.starts_with(&real)) {
        true => Err(EnvironmentCommandError::Refused(format!(
            "{}: contains the store {}; help: name another directory, or another store with \
             --store",
            source.display(),
            store.display()
        ))),
        false => Ok(()),
    }
}

fn kind_of(args: &EnvironmentBuildCommand, source: &Path) -> Result<SourceKind, Failure> {
    args.kind.or_else(|| SourceKind::detect(source)).ok_or_else(|| {
        let source = source.display();
        Failure::Message(format!("{source}: unknown kind of source; help: name it with --kind"))
    })
}

/// Returns the interpreter of Python packages. It has no effect on another kind of source.
fn interpreter(args: &EnvironmentBuildCommand, kind: SourceKind) -> Result<&Path, Failure> {
    match &args.python {
        Some(_) if !kind.has_python_packages() => Err(Failure::Message(format!(
            "--python: {} is of kind {kind}, which has no Python packages to build; help: leave \
             out --python",
            args.from.display()
        ))),
        Some(python) => Ok(python),
        None => Ok(Path::new(BUILD_PYTHON)),
    }
}
