//! The changes that a call of `setup` makes. Nothing is written here.

use std::env;
use std::path::{Path, PathBuf};

use super::agents::{self, AgentFile};
use super::args::SetupCommand;
use super::config_file::ConfigFile;
use super::edit::{self, RemovedText};
use super::entry::EntryOptions;
use super::model::{
    ConfigEntry, ConfigPlace, EditRefusal, HookChoice, SetupError, SetupScope, shown,
};
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
    if args.hook == HookChoice::Ask && !args.coding_agent.hook().can_ask {
        let (agent, help) = (args.coding_agent, "use --hook deny, or none");
        let why = format!("--hook ask: a hook of {agent} cannot ask the user; help: {help}");
        return Err(Failure::Message(why).into());
    }
    let program = own_program()?;
    let spool = args.spool.as_deref().map(absolute).transpose()?;
    let options = EntryOptions {
        coding_agent: args.coding_agent,
        program: &program,
        spool: spool.as_deref(),
        agent: args.agent.as_ref(),
        hook: args.hook,
    };
    let mut planned = Vec::new();
    for file in files {
        let mut entries = Vec::new();
        for entry in file.entries {
            entries.extend(options.entry(entry.content)?.map(|content| (entry.place, content)));
        }
        if !entries.is_empty() {
            planned.push(addition(&scope, file, &entries)?);
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

/// Entries of ours with their places in a file, in the order of their addition.
type PlacedEntries = [(ConfigPlace, ConfigEntry)];

fn addition(
    scope: &SetupScope,
    described: &AgentFile,
    entries: &PlacedEntries,
) -> Result<PlannedFile, SetupError> {
    let file = open(scope, described).map_err(|error| with_snippet(error, entries))?;
    let refused = |refusal: EditRefusal| with_snippet(refusal_of(&file, &refusal), entries);
    let (mut is_first, mut after) = (true, file.text().map(str::to_owned));
    for entry in described.entries {
        let found = file.text().map(|text| edit::find(text, entry.place)).transpose();
        is_first &= found.map_err(refused)?.flatten().is_none();
    }
    for (place, entry) in entries {
        after = Some(edit::add(after.as_deref(), *place, entry).map_err(refused)?);
    }
    let change = match after {
        Some(text) if file.text() != Some(text.as_str()) => TextChange::Added { text, is_first },
        _ => TextChange::Unchanged,
    };
    Ok(PlannedFile { file, change })
}

fn removal(scope: &SetupScope, described: &AgentFile) -> Result<PlannedFile, SetupError> {
    let file = open(scope, described)?;
    let places = described.entries.iter().map(|entry| entry.place);
    let removed = match file.text() {
        None => RemovedText::Unchanged,
        Some(text) => edit::remove(text, file.original(), places)
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
fn with_snippet(error: SetupError, entries: &PlacedEntries) -> SetupError {
    match error {
        SetupError::Refused { why, .. } => {
            let snippet = entries.iter().try_fold(None::<String>, |text, (place, entry)| {
                edit::add(text.as_deref(), *place, entry).map(Some)
            });
            SetupError::Refused { why, snippet: snippet.ok().flatten() }
        }
        failed @ SetupError::Failed(_) => failed,
    }
}
