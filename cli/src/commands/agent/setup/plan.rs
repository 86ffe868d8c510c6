//! The changes that a call of `setup` makes. Nothing is written here.

use std::env;
use std::path::{Path, PathBuf};

use super::agents::{self, AgentFile};
use super::args::SetupCommand;
use super::config_file::ConfigFile;
use super::edit::{self, RemovedText};
use super::entry::EntryOptions;
use super::model::{ConfigEntry, ConfigPlace, EditRefusal, SetupError, SetupScope, shown};
use super::program::{own_program, text};
use crate::failure::Failure;

/// The change of a file.
pub(super) enum TextChange {
    Unchanged,
    Added {
        text: String,
        /// The file has had no entry of ours.
        is_first: bool,
    },
    Removed(String),
    /// The file becomes what it was before the first change.
    Restored(String),
    FileRemoved,
}

/// A file with its change.
pub(super) struct PlannedFile {
    pub(super) file: ConfigFile,
    pub(super) change: TextChange,
}

impl PlannedFile {
    pub(super) fn has_change(&self) -> bool {
        !matches!(self.change, TextChange::Unchanged)
    }

    /// Returns the text after the change. `None` is a file that does not exist then.
    pub(super) fn text_after(&self) -> Option<&str> {
        match &self.change {
            TextChange::Unchanged => self.file.text(),
            TextChange::Added { text, .. }
            | TextChange::Removed(text)
            | TextChange::Restored(text) => Some(text),
            TextChange::FileRemoved => None,
        }
    }
}

/// Returns the changes in the order of writing: the tools are there before the hook names them.
pub(super) fn plan(args: &SetupCommand) -> Result<Vec<PlannedFile>, SetupError> {
    let scope = scope(args);
    let files = agents::files(args.coding_agent).iter();
    if args.remove {
        return files.rev().map(|file| removal(&scope, file)).collect();
    }
    let program = own_program()?;
    let spool = args.spool.as_deref().map(absolute).transpose()?;
    let (spool, agent) = (spool.as_deref(), args.agent.as_ref());
    let options = EntryOptions { program: &program, spool, agent, hook: args.hook };
    let mut planned = Vec::new();
    for file in files {
        if let Some(entry) = options.entry(file.content)? {
            planned.push(addition(&scope, file, &entry)?);
        }
    }
    Ok(planned)
}

fn absolute(path: &Path) -> Result<String, Failure> {
    text(&std::path::absolute(path).map_err(Failure::io(path))?)
}

fn scope(args: &SetupCommand) -> SetupScope {
    match &args.project {
        Some(project) => SetupScope::Project(project.clone()),
        None if args.user || agents::is_usually_of_user(args.coding_agent) => SetupScope::User,
        None => SetupScope::Project(".".into()),
    }
}

fn open(scope: &SetupScope, file: &AgentFile) -> Result<ConfigFile, SetupError> {
    let variable =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let SetupScope::Project(directory) = scope {
        return ConfigFile::open("--project", directory, file.project);
    }
    let named = file.variable.and_then(|(name, below)| Some((name, variable(name)?, below)));
    if let Some((name, directory, below)) = named {
        return ConfigFile::open(name, &directory, below);
    }
    let home = variable("HOME").ok_or_else(|| {
        Failure::Message("HOME: no absolute path; help: name a directory with --project".into())
    })?;
    ConfigFile::open("HOME", &home, file.home)
}

fn addition(
    scope: &SetupScope,
    file: &AgentFile,
    entry: &ConfigEntry,
) -> Result<PlannedFile, SetupError> {
    let place = file.place;
    let file = open(scope, file).map_err(|error| with_snippet(error, place, entry))?;
    let refused = |refusal: EditRefusal| with_snippet(refusal_of(&file, &refusal), place, entry);
    let before = file.text();
    let is_first = before.map(|text| edit::find(text, place)).transpose().map_err(refused)?;
    let is_first = is_first.flatten().is_none();
    let after = edit::add(before, place, entry).map_err(refused)?;
    let change = match before == Some(after.as_str()) {
        true => TextChange::Unchanged,
        false => TextChange::Added { text: after, is_first },
    };
    Ok(PlannedFile { file, change })
}

fn removal(scope: &SetupScope, file: &AgentFile) -> Result<PlannedFile, SetupError> {
    let place = file.place;
    let file = open(scope, file)?;
    let removed = match file.text() {
        None => RemovedText::Unchanged,
        Some(text) => edit::remove(text, file.original(), place)
            .map_err(|refusal| refusal_of(&file, &refusal))?,
    };
    let change = match removed {
        RemovedText::Unchanged => TextChange::Unchanged,
        RemovedText::Text(text) => TextChange::Removed(text),
        RemovedText::Original(text) => TextChange::Restored(text),
        RemovedText::NoFile => TextChange::FileRemoved,
    };
    Ok(PlannedFile { file, change })
}

fn refusal_of(file: &ConfigFile, refusal: &EditRefusal) -> SetupError {
    SetupError::refused(format!("{}{refusal}", shown(file.path())))
}

/// Adds the lines that a person can add by hand to a refusal.
fn with_snippet(error: SetupError, place: ConfigPlace, entry: &ConfigEntry) -> SetupError {
    match error {
        SetupError::Refused { why, .. } => {
            SetupError::Refused { why, snippet: edit::add(None, place, entry).ok() }
        }
        failed @ SetupError::Failed(_) => failed,
    }
}
