//! The environment of a one-off command: the named one, or that of a lock file, which is built
//! after a question. It must never fetch anything before the answer, nor ask if the policy permits
//! no environment or an input cannot be opened.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use policies::Policy;
use trees::{Environment, EnvironmentName};

use super::args::ExecCommand;
use super::lock_file::LockFile;
use crate::args::environment::{find_in, store_of, stored_environment};
use crate::args::files::open_document;
use crate::commands::env::{BUILD_PYTHON, BUILD_TIME_SEC, EnvironmentBuild, build_for_run};
use crate::commands::request::draft::name_and_path;
use crate::failure::Failure;
use crate::output;
use crate::output::terminal::Terminal;

/// The value of `--env` for the environment of the lock file.
const AUTO: &str = "auto";

/// Returns the environment that the command uses, from the store of the state directory. The inner
/// error is the exit status if the command must not run, which was reported.
pub(super) fn environment(
    args: &ExecCommand,
    policy: &Policy,
    terminal: Option<&mut Terminal>,
) -> Result<Result<Option<Environment>, ExitCode>, Failure> {
    match args.environment.as_deref() {
        None => Ok(Ok(None)),
        Some(AUTO) if !policy.permits_environments() => {
            let help = "leave out --env, or ask the operator to permit environments";
            let policy = policy.name();
            Ok(Err(output::report_refusal(&format!(
                "--env auto: policy `{policy}` permits no environment; help: {help}"
            ))))
        }
        Some(AUTO) => Ok(of_lock_file(args, terminal)?.map(Some)),
        Some(word) => {
            let found = stored_environment(&store_of(&args.host.state)?, word);
            let found = found.map_err(|failure| Failure::Message(format!("--env: {failure}")))?;
            Ok(Ok(Some(found)))
        }
    }
}

fn of_lock_file(
    args: &ExecCommand,
    terminal: Option<&mut Terminal>,
) -> Result<Result<Environment, ExitCode>, Failure> {
    let lock = match LockFile::find(directory(&args.inputs))? {
        Ok(lock) => lock,
        Err(why) => return Ok(Err(output::report_refusal(&why))),
    };
    let store = store_of(&args.host.state)?;
    if let Some(environment) = lock.built_in(&store)? {
        return Ok(Ok(environment));
    }
    open_inputs(&args.inputs)?;
    let name = lock.environment_name()?;
    let rows = lock.rows(&name, is_taken(&store, &name)?);
    match terminal {
        None => output::stderr_line(rows),
        Some(terminal) => {
            if !confirm(terminal, &rows)? {
                output::note("not built, and not run");
                return Ok(Err(ExitCode::from(1)));
            }
        }
    }
    build(&store, &lock, &name)
}

fn build(
    store: &Path,
    lock: &LockFile,
    name: &EnvironmentName,
) -> Result<Result<Environment, ExitCode>, Failure> {
    let wanted = EnvironmentBuild {
        name,
        source: &lock.path,
        kind: lock.kind,
        python: Path::new(BUILD_PYTHON),
        time_max: Duration::from_secs(BUILD_TIME_SEC),
    };
    let built = build_for_run(store, &wanted)?;
    if built.is_ok() && !lock.is_unchanged()? {
        let path = lock.path.display();
        let why = format!("--env auto: {path}: changed during the build; help: run this again");
        return Ok(Err(output::report_refusal(&why)));
    }
    Ok(built)
}

/// Returns the first folder among the inputs, else the current directory.
fn directory(inputs: &[OsString]) -> &Path {
    let mut paths = inputs.iter().map(|typed| name_and_path(typed).1);
    paths.find(|path| path.is_dir()).unwrap_or(Path::new("."))
}

/// Opens each input once: a build must not end in a run without its inputs.
fn open_inputs(inputs: &[OsString]) -> Result<(), Failure> {
    for path in inputs.iter().map(|typed| name_and_path(typed).1) {
        let opened = match path.is_dir() {
            true => fs::read_dir(path).map(drop).map_err(Failure::io(path)),
            false => open_document(path).map(drop),
        };
        opened.map_err(|failure| Failure::Message(format!("--input {failure}")))?;
    }
    Ok(())
}

/// Returns whether the name means an environment of the store already.
fn is_taken(store: &Path, name: &EnvironmentName) -> Result<bool, Failure> {
    let found = find_in(store, name.as_str());
    let found = found.map_err(|error| Failure::Message(error.to_string()))?;
    // A word can also be the beginning of a digest.
    Ok(found.is_some_and(|environment| environment.name == *name))
}

fn confirm(terminal: &mut Terminal, rows: &str) -> Result<bool, Failure> {
    terminal.show(rows)?;
    let answer = terminal.ask_fresh("Build it? [y/N] ")?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}
