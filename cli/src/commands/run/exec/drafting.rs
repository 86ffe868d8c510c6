//! The request of a one-off command: what the command line says, and defaults for the rest.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use model::Language;
use policies::{Policy, RuntimeRule};
use trees::Environment;
use validator::{RequestedBy, RiskLevel, Sensitivity, is_plain_path};

use super::args::ExecCommand;
use crate::args::{Format, HostOptions, SourceOptions};
use crate::commands::request::draft::{
    self, DraftCommand, PATCH_FILE, check_folder_count, name_and_path,
};
use crate::failure::Failure;
use crate::random::random_word;

/// The age from which a directory must be that of a killed process.
const ABANDONED_AGE: Duration = Duration::from_secs(24 * 3600);

/// A private directory of one request, removed when dropped: the record keeps the request.
pub(super) struct DraftDirectory(PathBuf);

impl DraftDirectory {
    /// Creates the directory in the state directory, on the disk where the inputs are staged.
    pub(super) fn create(host: &HostOptions) -> Result<Self, Failure> {
        let all = host.state.path()?.join("exec");
        let private = |recursive| {
            let mut builder = DirBuilder::new();
            builder.recursive(recursive).mode(0o700);
            builder
        };
        private(true).create(&all).map_err(Failure::io(&all))?;
        remove_abandoned(&all);
        let path = all.join(random_word()?);
        private(false).create(&path).map_err(Failure::io(&path))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for DraftDirectory {
    fn drop(&mut self) {
        // A later call removes what is left.
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

fn remove_abandoned(all: &Path) {
    let Ok(entries) = fs::read_dir(all) else { return };
    for entry in entries.flatten() {
        let made = entry.metadata().and_then(|found| found.modified());
        let age = made.ok().and_then(|made| SystemTime::now().duration_since(made).ok());
        if age.is_some_and(|age| age > ABANDONED_AGE) {
            fs::remove_dir_all(entry.path()).unwrap_or_default();
        }
    }
}

/// Checks before anything is built or copied that a patch is possible.
pub(super) fn check_patch(args: &ExecCommand) -> Result<(), Failure> {
    if !args.patch {
        return Ok(());
    }
    let paths = args.inputs.iter().map(|typed| name_and_path(typed).1);
    check_folder_count(paths.filter(|path| path.is_dir()).count())
}

/// Drafts the request, and returns its path; `None` if it would be refused, which is reported.
pub(super) fn draft(
    args: &ExecCommand,
    policy: &Policy,
    environment: Option<&Environment>,
    directory: &Path,
) -> Result<Option<PathBuf>, Failure> {
    let program = args.words.first().map_or("", String::as_str);
    let hosts = args.hosts.join(", ");
    let purpose = args.purpose.clone().unwrap_or_else(|| format!("One-off run of {program}"));
    let justification = match args.yes {
        true => "run with --yes; the policy does not require a question",
        false => "the invoker typed the command and confirmed it",
    };
    let command = DraftCommand {
        purpose: Some(purpose),
        // Two commands within a second must have different ids.
        slug: Some(format!("exec-{}", random_word()?)),
        language: Some(language(args, policy, program, environment)?),
        words: args.words.clone(),
        command: None,
        standing: None,
        parameters: Vec::new(),
        environment: environment.map(|it| it.reference().to_string()),
        inputs: args.inputs.clone(),
        outputs: outputs(&args.words, args.patch),
        patch: args.patch,
        hosts: args.hosts.clone(),
        network_rationale: (!hosts.is_empty()).then(|| format!("The command reaches {hosts}")),
        cpu: Some(args.cpu.clone()),
        memory_mb: Some(args.memory_mb),
        time_sec: Some(args.time_sec),
        risk: Some(if args.hosts.is_empty() { RiskLevel::Low } else { RiskLevel::High }),
        justification: Some(justification.to_owned()),
        sensitivity: Some(Sensitivity::Internal),
        requested_by: RequestedBy::Human,
        requester: None,
        audience: None,
        source: SourceOptions { agent: None, subject: None, accesscontrol: None },
        dir: directory.to_owned(),
        format: Format::Human,
    };
    draft::draft_or_report(&command, policy.ceilings().input_bytes)
}

fn language(
    args: &ExecCommand,
    policy: &Policy,
    program: &str,
    environment: Option<&Environment>,
) -> Result<Language, Failure> {
    if let Some(language) = args.language {
        return Ok(language);
    }
    let is_named = |rule: &&RuntimeRule| rule.words().iter().any(|word| word == program);
    let named = policy.runtimes().find(is_named).map(RuntimeRule::language);
    let offered = || environment.and_then(|it| offered_language(it, policy, program));
    named.or_else(offered).ok_or_else(|| no_such_program(policy, program, environment))
}

/// Returns the language for a program of an environment: that of the runtime that its libraries
/// need, or the one whose system calls fit most programs.
fn offered_language(environment: &Environment, policy: &Policy, program: &str) -> Option<Language> {
    let content = &environment.content;
    content.programs.contains_key(program).then(|| {
        let needed = policy.runtimes().find(|rule| content.needs.contains_key(rule.name()));
        needed.map_or(Language::Python, RuntimeRule::language)
    })
}

fn no_such_program(policy: &Policy, program: &str, environment: Option<&Environment>) -> Failure {
    let words: Vec<&str> =
        policy.runtimes().flat_map(|rule| rule.words()).map(String::as_str).collect();
    let neither = match environment {
        None => String::new(),
        Some(environment) => format!(", and {} does not offer it", environment.name),
    };
    let policy = policy.name();
    Failure::Message(format!(
        "{program}: no runtime of policy `{policy}` has this name{neither}; help: begin the \
         command with {}",
        model::alternatives(&words)
    ))
}

/// Returns the files below /out that the command names. A name without an extension may be a
/// directory, and other names may not be declared: they are left out, which only the record notes.
/// With a patch, its file and its copy of the folder are left out too.
fn outputs(words: &[String], has_patch: bool) -> Vec<String> {
    let mut found: Vec<&str> = Vec::new();
    for word in words {
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        let path = [word.as_str(), value].into_iter().find_map(|text| text.strip_prefix("/out/"));
        let is_named = |path: &&str| {
            is_file(path) && !found.contains(path) && !(has_patch && is_of_patch(path))
        };
        if let Some(path) = path.filter(is_named) {
            found.push(path);
        }
    }
    let is_directory = |path: &str| {
        let below = format!("{path}/");
        found.iter().any(|other| other.starts_with(&below))
    };
    let files = found.iter().filter(|path| !is_directory(path));
    files.map(|path| format!("{path}=named by the command")).collect()
}

fn is_of_patch(path: &str) -> bool {
    path == PATCH_FILE || path.starts_with("work/")
}

fn is_file(path: &str) -> bool {
    is_plain_path(path) && Path::new(path).extension().is_some()
}

#[cfg(test)]
mod tests {
    use super::outputs;

    #[test]
    fn outputs_are_the_files_below_out() {
        let words = [
            "x",
            "/out/a.b",
            "--to=/out/b/c.d",
            "/out",
            "/out/",
            "/in/d.e",
            "/out/a.b",
            "/out/plots",
            "/out/.cache/x.y",
            "/out/a b.json",
            "/out/a=b.c",
            "--dir=/out/d.e",
            "/out/d.e/f.g",
        ];
        let found = outputs(&words.map(str::to_owned), false);
        let named = ["a.b", "b/c.d", "d.e/f.g"].map(|path| format!("{path}=named by the command"));
        assert_eq!(found, named);
    }

    #[test]
    fn the_files_of_a_patch_are_not_outputs_of_their_own() {
        let words = ["x", "/out/work/a.b", "/out/changes.patch", "/out/workers.b"];
        let named = |path| format!("{path}=named by the command");
        let found = outputs(&words.map(str::to_owned), true);
        assert_eq!(found, ["workers.b"].map(named));
        let found = outputs(&words.map(str::to_owned), false);
        assert_eq!(found, ["work/a.b", "changes.patch", "workers.b"].map(named));
    }
}
