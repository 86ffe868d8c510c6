//! `toolexec watch`: a spool as it changes. On a terminal a full screen, which is left as it was found;
//! elsewhere a line for each change. `model` decides what a key does, `draw` how it looks; neither knows a
//! file or a clock. `full` is the loop between them and the world.

mod acts;
mod cells;
mod changes;
mod draw;
mod full;
mod gather;
mod keys;
mod model;
mod page;
mod panes;
mod seen;
mod terminal;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use super::options::Watch;
use super::place::spool_at;
use crate::args::Format;
use crate::failure::Failure;
use crate::output::screen::Screen;

pub(crate) fn watch(asked: &Watch) -> Result<ExitCode, Failure> {
    let place = spool_at(&asked.spool)?;
    let on_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    let can_draw = on_terminal && !Screen::of(&io::stdout()).is_dumb();
    if can_draw && asked.format == Format::Human {
        full::show(&place, asked)?;
    } else {
        changes::tell(&place, asked.format)?;
    }
    Ok(ExitCode::SUCCESS)
}
