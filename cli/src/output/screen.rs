//! Where a person reads: how wide it is and whether it shows colour. It looks at the stream and the
//! environment only, and must never write.

use std::env;
use std::io::IsTerminal;
use std::os::fd::AsFd;

/// What is assumed of whatever does not tell its width: a file, a pipe.
const COLUMNS_ASSUMED: usize = 80;

/// Below the least a line cannot be shown at all, beyond the most nobody can read it.
const COLUMNS_LEAST: usize = 40;
const COLUMNS_MOST: usize = 200;

#[derive(Clone, Copy)]
pub(crate) struct Screen {
    /// Of a terminal's cells.
    pub(crate) columns: usize,
    pub(crate) colour: bool,
    dumb: bool,
}

impl Screen {
    pub(crate) fn of(stream: &(impl AsFd + IsTerminal)) -> Self {
        let terminal = stream.is_terminal();
        let told = if terminal { width(stream) } else { None };
        let columns = told.unwrap_or(COLUMNS_ASSUMED).clamp(COLUMNS_LEAST, COLUMNS_MOST);
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { columns, colour: colour(terminal && !dumb), dumb }
    }

    /// Of whatever shows no colour.
    pub(crate) fn plain() -> Self {
        Self { columns: COLUMNS_ASSUMED, colour: false, dumb: true }
    }

    /// Whether nothing can be drawn over what is there.
    pub(crate) fn is_dumb(self) -> bool {
        self.dumb
    }
}

fn width(stream: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    // A serial line says 0: it does not know.
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// By the conventions of no-color.org and of CLICOLOR_FORCE; the wish for no colour wins.
fn colour(drawable: bool) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = set("CLICOLOR_FORCE") && env::var_os("CLICOLOR_FORCE").is_none_or(|it| it != "0");
    !set("NO_COLOR") && (forced || drawable)
}
