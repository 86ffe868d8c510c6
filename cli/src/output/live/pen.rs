//! How the line of what goes on gets onto a terminal and off it again. It writes to stderr only; what it is
//! given must be escaped already.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::output::screen::Screen;

/// Where lines cannot be drawn over, one is said this often if its beginning stays the same.
const SAY_INTERVAL: Duration = Duration::from_secs(10);

/// What a terminal can do.
enum Manner {
    /// One line, drawn over.
    Over {
        columns: usize,
    },
    /// A line below the other.
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

    /// Whether it shows anything but what was asked for.
    pub(super) fn draws(&self) -> bool {
        !matches!(self.manner, Manner::Nothing)
    }

    /// Shows how it is: `state` is one word, `rest` the numbers behind it.
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

    /// Lines that stay.
    pub(crate) fn lines(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            self.clear();
            write(&format!("{}\n", lines.join("\n")));
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let mut to = io::stderr().lock();
    // There is nowhere left to say that stderr is closed.
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).unwrap_or_default();
}
