//! Draws the progress line and clears it. Writes to stderr only. The caller must escape the text.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::output::screen::Screen;

/// Repeat interval on a terminal that cannot overwrite lines, while the state stays the same.
const SAY_INTERVAL: Duration = Duration::from_secs(10);

/// The drawing capability of the terminal.
enum Manner {
    /// One line that is overwritten.
    Over {
        columns: usize,
    },
    /// A new line each time.
    Below {
        said: Option<(String, Instant)>,
    },
    Nothing,
}

pub(crate) struct Pen {
    manner: Manner,
    drawn: bool,
}

impl Pen {
    pub(super) fn of(stream: &(impl AsFd + IsTerminal)) -> Self {
        let screen = Screen::of(stream);
        let manner = match (stream.is_terminal(), screen.is_dumb()) {
            (false, _) => Manner::Nothing,
            (true, true) => Manner::Below { said: None },
            (true, false) => Manner::Over { columns: screen.columns },
        };
        Self { manner, drawn: false }
    }

    /// Returns whether anything besides requested output is shown.
    pub(super) fn draws(&self) -> bool {
        !matches!(self.manner, Manner::Nothing)
    }

    /// Shows a state (one word) followed by its figures.
    pub(crate) fn state(&mut self, state: &str, rest: &str) {
        let line = format!("{state:<11}{rest}");
        match &mut self.manner {
            Manner::Nothing => {}
            Manner::Over { columns } => {
                let cut: String = line.chars().take(columns.saturating_sub(1)).collect();
                write(&format!("\r{cut}\x1b[K"));
                self.drawn = true;
            }
            Manner::Below { said } => {
                let is_news = said
                    .as_ref()
                    .is_none_or(|(before, at)| before != state || at.elapsed() >= SAY_INTERVAL);
                if is_news {
                    *said = Some((state.to_owned(), Instant::now()));
                    write(&format!("{}\n", line.trim_end()));
                }
            }
        }
    }

    /// Prints lines that remain on the screen.
    pub(crate) fn lines(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            self.clear();
            write(&format!("{}\n", lines.join("\n")));
        }
    }

    /// Clears the progress line.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let mut to = io::stderr().lock();
    // A closed stderr cannot be reported anywhere.
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).unwrap_or_default();
}
