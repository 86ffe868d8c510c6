//! `toolexec man`: manual pages, generated only from the definitions of the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::failure::Failure;
use crate::output::{self, replace_file};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec man | man -l -
         toolexec man --dir ./man1

Without --dir the page of toolexec itself is printed. With --dir a page for each command is
written, such as toolexec-run.1, replacing existing files of these names.")]
pub(crate) struct ManCommand {
    /// Write a page for each command to this directory, creating it if missing
    /// [default: print the page of toolexec]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

const SOURCE: &str = concat!("toolexec ", env!("CARGO_PKG_VERSION"));

/// Returns the definitions of every command. clap's `help` subcommand gets no page.
fn definitions(program: Command) -> Command {
    let mut whole = program.disable_help_subcommand(true);
    whole.build();
    whole
}

pub(in crate::commands) fn man(args: &ManCommand, program: Command) -> Result<ExitCode, Failure> {
    let whole = definitions(program);
    match &args.dir {
        None => output::text(&page(&whole)?)?,
        Some(dir) => {
            fs::create_dir_all(dir).map_err(Failure::io(dir))?;
            write_pages(&whole, dir)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_pages(command: &Command, dir: &Path) -> Result<(), Failure> {
    let path = dir.join(Man::new(command.clone()).get_filename());
    replace_file(&path, page(command)?.as_bytes())?;
    command.get_subcommands().try_for_each(|one| write_pages(one, dir))
}

/// The text after the help is laid out by hand and remains unchanged.
fn page(command: &Command) -> Result<String, Failure> {
    let notes = command.get_after_help().map(ToString::to_string);
    let bare = command.clone().after_help(None::<&'static str>);
    let title = bare.get_display_name().unwrap_or(bare.get_name()).to_uppercase();
    // roff would skip an empty date and use the next field in its place.
    let man = Man::new(bare).title(title).date(" ").source(SOURCE).manual("TOOL-EXEC");
    let mut page = Vec::new();
    let failed = |error| Failure::Io("the page".into(), error);
    man.render(&mut page).map_err(failed)?;
    if let Some(notes) = notes {
        let mut roff = Roff::default();
        roff.control("SH", ["NOTES"]).control("nf", []);
        for line in notes.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []).to_writer(&mut page).map_err(failed)?;
    }
    String::from_utf8(page)
        .map_err(|error| Failure::Message(format!("man: {error}; help: report this as a bug")))
}
