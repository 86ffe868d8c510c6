//! `toolexec setup`: adds the MCP server and the hook to the configuration of a coding agent, or
//! removes them. Every file is read and edited in memory before the first is written.

mod agents;
mod args;
mod config_file;
mod edit;
mod entry;
mod json_edit;
mod json_style;
mod json_text;
mod line_diff;
mod model;
mod plan;
mod program;
mod toml_text;

use std::process::ExitCode;

use self::model::{HookChoice, SetupError, shown};
use self::plan::{PlannedFile, TextChange};
use crate::failure::Failure;
use crate::output::human::patch_text;
use crate::output::screen::OutputScreen;
use crate::output::{self, report_refusal};

pub(crate) use args::SetupCommand;

pub(in crate::commands) fn setup(args: &SetupCommand) -> Result<ExitCode, Failure> {
    match set_up(args) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(SetupError::Refused { why, snippet }) => {
            if let Some(snippet) = snippet {
                output::text(&snippet)?;
            }
            Ok(report_refusal(&why))
        }
        Err(SetupError::Failed(failure)) => Err(failure),
    }
}

fn set_up(args: &SetupCommand) -> Result<(), SetupError> {
    let planned = plan::plan(args)?;
    for file in &planned {
        show(file)?;
    }
    let changes = planned.iter().any(PlannedFile::has_change);
    if changes && !args.write {
        output::note("nothing is written; help: repeat the command with --write");
        return Ok(());
    }
    for file in &planned {
        write(file, args.remove)?;
    }
    let adds_hook = changes && !args.remove && args.hook != HookChoice::None;
    if let Some(act) = agents::remaining_act(args.coding_agent).filter(|_| adds_hook) {
        output::note(act);
    }
    Ok(())
}

/// Prints the change of a file as a diff.
fn show(file: &PlannedFile) -> Result<(), Failure> {
    if !file.has_change() {
        return Ok(());
    }
    let diff = line_diff::unified(file.file.path(), file.file.text(), file.text_after());
    output::text(&patch_text(OutputScreen::of(&std::io::stdout()), diff.as_bytes()))
}

/// Writes a file, and prints what was done.
fn write(planned: &PlannedFile, removes: bool) -> Result<(), SetupError> {
    let PlannedFile { file, change } = planned;
    let path = shown(file.path());
    let done = match change {
        TextChange::Unchanged if removes => "has no entry of toolexec".to_owned(),
        TextChange::Unchanged => "already set up".to_owned(),
        TextChange::Added { text, is_first } => {
            file.write(text, *is_first)?;
            match (is_first, file.text(), file.original()) {
                // A backup from before is of an earlier content.
                (true, Some(_), None) => {
                    format!("written; the original is {}", shown(&file.backup_path()))
                }
                _ => "written".to_owned(),
            }
        }
        TextChange::Removed(text) => {
            file.write(text, false)?;
            "entry removed".to_owned()
        }
        TextChange::Restored(text) => {
            file.write(text, false)?;
            file.remove_backup()?;
            "original restored".to_owned()
        }
        TextChange::FileRemoved => {
            file.remove()?;
            "file removed".to_owned()
        }
    };
    output::line(format_args!("{path}: {done}")).map_err(SetupError::from)
}
