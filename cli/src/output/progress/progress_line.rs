//! Draws the progress line and clears it. Writes to stderr only. The caller must escape the text.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::output::screen::OutputScreen;

/// Interval of redraws.
pub(super) const DRAW_INTERVAL: Duration = Duration::from_millis(250);
/// Repeat interval on a terminal that cannot overwrite lines, while the state stays the same.
const REPEAT_INTERVAL: Duration = Duration::from_secs(10);

/// The drawing capability of the terminal.
enum DrawMode {
    /// One line that is overwritten.
    Overwrite {
        columns: usize,
    },
    /// A new line each time.
    Append {
        last: Option<(String, Instant)>,
    },
    Off,
}

pub(crate) struct ProgressLine {
    mode: DrawMode,
    drawn: bool,
    begun: Instant,
}

impl ProgressLine {
    pub(super) fn of(stream: &(impl AsFd + IsTerminal)) -> Self {
        let screen = OutputScreen::of(stream);
        let manner = match (stream.is_terminal(), screen.is_dumb()) {
            (false, _) => DrawMode::Off,
            (true, true) => DrawMode::Append { last: None },
            (true, false) => DrawMode::Overwrite { columns: screen.columns },
        };
        Self { mode: manner, drawn: false, begun: Instant::now() }
    }

    /// Returns whether anything besides requested output is shown.
    pub(super) fn draws(&self) -> bool {
        !matches!(self.mode, DrawMode::Off)
    }

    /// Shows a state (one word) followed by its figures.
    pub(crate) fn state(&mut self, state: &str, rest: &str) {
        // A command that ends earlier shows no progress.
        if self.begun.elapsed() < DRAW_INTERVAL {
            return;
        }
        let line = format!("{state:<11}{rest}");
        match &mut self.mode {
            DrawMode::Off => {}
            DrawMode::Overwrite { columns } => {
                let cut: String = line.chars().take(columns.saturating_sub(1)).collect();
                write(&format!("\r{cut}\x1b[K"));
                self.drawn = true;
            }
            DrawMode::Append { last } => {
                let is_news = last
                    .as_ref()
                    .is_none_or(|(before, at)| before != state || at.elapsed() >= REPEAT_INTERVAL);
                if is_news {
                    *last = Some((state.to_owned(), Instant::now()));
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
