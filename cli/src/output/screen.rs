//! The width and colour support of an output stream. Must never write.

use std::env;
use std::io::IsTerminal;
use std::os::fd::AsFd;

/// The width assumed for a file or pipe.
const COLUMNS_ASSUMED: usize = 80;

/// Lines are unreadable below the minimum and above the maximum.
const COLUMNS_MIN: usize = 40;
const COLUMNS_MAX: usize = 200;

#[derive(Clone, Copy)]
pub(crate) struct OutputScreen {
    /// In columns of a terminal.
    pub(crate) columns: usize,
    pub(crate) colour: bool,
    dumb: bool,
}

impl OutputScreen {
    pub(crate) fn of(stream: &(impl AsFd + IsTerminal)) -> Self {
        let terminal = stream.is_terminal();
        let reported = if terminal { width(stream) } else { None };
        let columns = reported.unwrap_or(COLUMNS_ASSUMED).clamp(COLUMNS_MIN, COLUMNS_MAX);
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { columns, colour: colour(terminal && !dumb), dumb }
    }

    /// A screen without colour.
    pub(crate) fn plain() -> Self {
        Self { columns: COLUMNS_ASSUMED, colour: false, dumb: true }
    }

    /// Returns whether the terminal cannot overwrite a line.
    pub(crate) fn is_dumb(self) -> bool {
        self.dumb
    }
}

fn width(stream: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    // A serial line reports 0 columns.
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Follows no-color.org and `CLICOLOR_FORCE`. `NO_COLOR` takes precedence.
fn colour(drawable: bool) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = set("CLICOLOR_FORCE") && env::var_os("CLICOLOR_FORCE").is_none_or(|it| it != "0");
    !set("NO_COLOR") && (forced || drawable)
}
