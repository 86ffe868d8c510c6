//! The terminal in raw mode, with an alternate screen. Every exit and every panic restores it.

use std::io::{self, Stdout};
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use ratatui::{TerminalOptions, Viewport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::tcgetwinsize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use crate::failure::Failure;
use crate::output::terminal::discard_input;

/// The size assumed for a terminal that does not report one, such as a serial line.
const SIZE_ASSUMED: (u16, u16) = (80, 24);

pub(super) struct Signals {
    pub(super) end: Arc<AtomicBool>,
    pub(super) suspend: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn register() -> Result<Self, Failure> {
        let signals = Self { end: Arc::default(), suspend: Arc::default() };
        let all = [SIGTERM, SIGHUP, SIGINT].map(|signal| (signal, &signals.end));
        for (signal, flag) in all.into_iter().chain([(SIGTSTP, &signals.suspend)]) {
            signal_hook::flag::register(signal, Arc::clone(flag)).map_err(|error| {
                Failure::Message(format!("signals: {error}; help: report this as a bug"))
            })?;
        }
        Ok(signals)
    }

    pub(super) fn end_requested(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    pub(super) fn take_suspend(&self) -> bool {
        self.suspend.swap(false, Ordering::Relaxed)
    }
}

pub(super) enum TerminalInput {
    Bytes(Vec<u8>),
    Nothing,
    /// The terminal was closed. Reading on would never end.
    Closed,
}

impl TerminalInput {
    /// Waits for input, at most for this long. A signal ends the wait.
    pub(super) fn wait(longest: Duration) -> Self {
        let stdin = io::stdin();
        let mut waited = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut waited, Timespec::try_from(longest).ok().as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Self::Nothing,
            Ok(_) => {}
            Err(_) => return Self::Closed,
        }
        let mut bytes = [0; 1024];
        match rustix::io::read(&stdin, &mut bytes) {
            Ok(0) => Self::Closed,
            Ok(read) => Self::Bytes(bytes[..read].to_vec()),
            Err(Errno::INTR | Errno::AGAIN) => Self::Nothing,
            Err(_) => Self::Closed,
        }
    }
}

pub(super) struct AlternateScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    size: (u16, u16),
}

impl AlternateScreen {
    pub(super) fn open() -> Result<Self, Failure> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore_terminal();
                usual(panic);
            }));
        });
        let size = size();
        let viewport = Viewport::Fixed(Rect::new(0, 0, size.0, size.1));
        enter().map_err(failed)?;
        let terminal = Terminal::with_options(
            CrosstermBackend::new(io::stdout()),
            TerminalOptions { viewport },
        );
        match terminal {
            Ok(terminal) => Ok(Self { terminal, size }),
            Err(error) => {
                restore_terminal();
                Err(failed(error))
            }
        }
    }

    /// Returns columns and rows.
    pub(super) fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Adopts the present size of the terminal. Returns whether it changed.
    pub(super) fn resize(&mut self) -> Result<bool, Failure> {
        let (columns, rows) = size();
        let changed = (columns, rows) != self.size;
        if changed {
            self.size = (columns, rows);
            self.terminal.resize(Rect::new(0, 0, columns, rows)).map_err(failed)?;
        }
        Ok(changed)
    }

    /// Draws the characters that changed.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> Result<(), Failure> {
        self.terminal.draw(|frame| draw(frame.buffer_mut())).map(|_| ()).map_err(failed)
    }

    /// Forces the next draw to draw everything.
    pub(super) fn redraw_all(&mut self) -> Result<(), Failure> {
        self.terminal.clear().map_err(failed)
    }

    /// Runs a function while the terminal has its original state.
    pub(super) fn suspend<T>(&mut self, act: impl FnOnce() -> T) -> Result<T, Failure> {
        restore_terminal();
        // Keys for the screen must not answer a question, and an answer must not act on the screen.
        discard_input(io::stdin())?;
        let done = act();
        discard_input(io::stdin())?;
        enter().map_err(failed)?;
        self.resize()?;
        self.redraw_all()?;
        Ok(done)
    }
}

impl Drop for AlternateScreen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)
}

fn restore_terminal() {
    // Errors do not matter if the terminal was closed.
    execute!(io::stdout(), Show, DisableBracketedPaste, LeaveAlternateScreen).unwrap_or_default();
    disable_raw_mode().unwrap_or_default();
}

fn size() -> (u16, u16) {
    let winsize = tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    winsize.map_or(SIZE_ASSUMED, |size| (size.ws_col, size.ws_row))
}

fn failed(error: io::Error) -> Failure {
    Failure::Message(format!("terminal: {error}; help: use another terminal"))
}
