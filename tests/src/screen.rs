//! A program on a terminal of a known size, as over ssh: in tmux, on the test's own server.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Bench, CliOutput};
use crate::processes::wait_for_no_process;
use crate::skip;

const SCREEN_TIMEOUT: Duration = Duration::from_secs(20);

/// A tmux session of a test.
pub struct TmuxScreen<'a> {
    bench: &'a Bench,
    socket: PathBuf,
    log: PathBuf,
}

impl<'a> TmuxScreen<'a> {
    /// Opens a shell on a screen of this size. Without tmux, logs a skip and returns `None`.
    #[must_use]
    pub fn open(test: &str, bench: &'a Bench, size: (u16, u16)) -> Option<Self> {
        Self::open_as(test, bench, "tmux", size)
    }

    /// Like [`Self::open`], with a session name, for a test with several screens.
    #[must_use]
    pub fn open_as(
        test: &str,
        bench: &'a Bench,
        name: &str,
        (columns, rows): (u16, u16),
    ) -> Option<Self> {
        if Command::new("tmux").arg("-V").stdout(Stdio::null()).status().is_err() {
            skip(test, "tmux is not installed");
            return None;
        }
        let home = bench.home();
        let screen = Self { bench, socket: home.join(name), log: home.join(format!("{name}.log")) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = "bash --noprofile --norc";
        screen.tmux(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, shell]);
        screen.tmux(["set", "-g", "status", "off"]);
        screen.tmux(["set", "-g", "window-size", "manual"]);
        screen.tmux(["resize-window", "-x", &columns, "-y", &rows]);
        let log = format!("cat >> {}", screen.log.display());
        screen.tmux(["pipe-pane", "-o", &log]);
        screen.type_line("unset HISTFILE; PS1='ready$ '; clear");
        screen.wait_until("a prompt", |text| text.starts_with("ready$"));
        Some(screen)
    }

    fn tmux<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> String {
        let mut command = self.bench.command("tmux");
        command.env_remove("TMUX").env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
        command.arg("-u").arg("-S").arg(&self.socket).args(words);
        let output = CliOutput::of(&mut command);
        output.assert_code(0);
        output.stdout
    }

    /// Sends keys by their tmux names.
    pub fn type_keys<S: AsRef<OsStr>>(&self, keys: impl IntoIterator<Item = S>) {
        let words = ["send-keys".into()].into_iter();
        self.tmux(words.chain(keys.into_iter().map(|key| key.as_ref().to_owned())));
    }

    pub fn type_line(&self, text: &str) {
        self.tmux(["send-keys", "-l", text]);
        self.type_keys(["Enter"]);
    }

    /// Sends a text in one piece, faster than a program reads. A newline is Enter.
    pub fn type_at_once(&self, text: &str) {
        self.tmux(["set-buffer", text]);
        self.tmux(["paste-buffer", "-r"]);
    }

    /// Pastes a text, with bracketed-paste marks if the program has requested them.
    pub fn paste(&self, text: &str) {
        self.tmux(["set-buffer", text]);
        self.tmux(["paste-buffer", "-p", "-r"]);
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.tmux(["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    #[must_use]
    pub fn text(&self) -> String {
        self.tmux(["capture-pane", "-p"])
    }

    /// Returns all bytes that the program has written to the terminal.
    #[must_use]
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Returns the terminal settings: the tmux flags and the output of `stty -a`.
    #[must_use]
    pub fn settings(&self) -> String {
        let tty =
            self.tmux(["display-message", "-p", "#{pane_tty} #{alternate_on} #{cursor_flag}"]);
        let tty = tty.trim_end();
        let (path, flags) = tty.split_once(' ').unwrap();
        let output = CliOutput::of(Command::new("stty").arg("-F").arg(path).arg("-a"));
        format!("{flags} {}", output.stdout)
    }

    /// Waits until the screen contains this text, and returns the whole screen.
    ///
    /// # Panics
    /// Panics if it does not appear within 20 seconds.
    #[track_caller]
    pub fn wait_for(&self, what: &str) -> String {
        self.wait_until(what, |text| text.contains(what))
    }

    /// Waits for the shell prompt, and returns the whole screen.
    #[track_caller]
    pub fn wait_for_prompt(&self) -> String {
        self.wait_until("the prompt", |text| text.trim_end().ends_with("ready$"))
    }

    /// Waits until a condition holds for the screen, and returns the whole screen.
    ///
    /// # Panics
    /// As [`Self::wait_for`].
    #[track_caller]
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text();
            if is_so(&text) {
                return text;
            }
            assert!(begun.elapsed() < SCREEN_TIMEOUT, "{what:?} does not come:\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for TmuxScreen<'_> {
    fn drop(&mut self) {
        self.tmux(["kill-server"]);
        if !std::thread::panicking() {
            // tmux writes into the scratch directory until it has ended.
            wait_for_no_process(self.socket.to_str().unwrap());
        }
    }
}
