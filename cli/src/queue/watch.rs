//! `toolexec watch`: a spool as it changes. On a terminal a plain table on a screen of its own, which is
//! left as it was found; elsewhere a line for each change.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use serde_json::{Value, json};
use validator::escape_line;

use super::daemon::Daemon;
use super::hint::Hints;
use super::options::Watch;
use super::place::spool_at;
use super::results::{Published, request_of, result_names};
use super::rows::{State, queue};
use super::status::View;
use crate::failure::Failure;
use crate::options::Format;
use crate::{output, show};

const DRAW_INTERVAL: Duration = Duration::from_secs(1);
/// inotify is a hint; this often the directories are looked at without one.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Under load a hint comes with every file; looking takes at most a fifth of the time.
const REST_LEAST: Duration = Duration::from_millis(100);
const REST_LOOKS: u32 = 4;
/// What Ctrl-C sends while the terminal sends no signals.
const INTERRUPT: u8 = 0x03;

pub(crate) fn watch(asked: &Watch) -> Result<ExitCode, Failure> {
    let place = spool_at(&asked.spool)?;
    let on_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    if on_terminal && asked.format == Format::Human {
        draw(&place)?;
    } else {
        tell(&place, asked.format)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A terminal whose keys come one by one and unseen, with a screen of its own; as it was before when this
/// goes.
struct OwnScreen(Termios);

impl OwnScreen {
    fn take() -> Result<Self, Failure> {
        let failed = |errno| Failure::Said(format!("the terminal: {errno}"));
        let before = tcgetattr(io::stdin()).map_err(failed)?;
        let mut keys = before.clone();
        // No signals either: one would leave the screen as it is.
        keys.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(io::stdin(), OptionalActions::Flush, &keys).map_err(failed)?;
        let screen = Self(before);
        output::text("\x1b[?1049h\x1b[?25l")?;
        Ok(screen)
    }
}

impl Drop for OwnScreen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing of this.
        output::text("\x1b[?25h\x1b[?1049l").unwrap_or_default();
        tcsetattr(io::stdin(), OptionalActions::Drain, &self.0).unwrap_or_default();
    }
}

fn draw(place: &Path) -> Result<(), Failure> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended))
            .map_err(|error| Failure::Said(format!("wait for signals: {error}")))?;
    }
    let _screen = OwnScreen::take()?;
    // It is drawn by the clock alone: hints would have it flicker.
    let no_hints = Hints::of(place, &[]);
    let stdin = io::stdin();
    while !ended.load(Ordering::Relaxed) {
        output::text(&page(place, &View::of(place)))?;
        let next = Instant::now() + DRAW_INTERVAL;
        while let left = next.saturating_duration_since(Instant::now())
            && !left.is_zero()
            && !ended.load(Ordering::Relaxed)
        {
            if no_hints.wait(left, Some(PollFd::new(&stdin, PollFlags::IN))) && is_end() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Whether a key was typed that ends it, or there are no more keys.
fn is_end() -> bool {
    let mut keys = [0_u8; 64];
    match rustix::io::read(io::stdin(), &mut keys) {
        Ok(0) => true,
        Ok(read) => keys.iter().take(read).any(|key| matches!(*key, b'q' | b'Q' | INTERRUPT)),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => false,
        Err(_) => true,
    }
}

/// One drawing: as many lines as there is room for, each cut to the width.
fn page(place: &Path, view: &View) -> String {
    // A serial line says 0: it does not know.
    let size = tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    let columns = size.map_or(80, |size| usize::from(size.ws_col)).max(20);
    let rows = size.map_or(24, |size| usize::from(size.ws_row)).max(3);
    let title = format!("{}  {}  (q ends)", place.display(), show::now());
    let said = view.human();
    let lines = std::iter::once(escape_line(&title)).chain(said.lines().map(str::to_owned));
    let mut drawn = "\x1b[H".to_owned();
    for line in lines.take(rows - 1) {
        drawn.extend(line.chars().take(columns - 1));
        drawn.push_str("\x1b[K\r\n");
    }
    drawn.push_str("\x1b[J");
    drawn
}

/// What was told last.
#[derive(Default)]
struct Known {
    daemon: Option<(&'static str, bool)>,
    states: BTreeMap<String, String>,
    results: Option<BTreeSet<String>>,
}

fn tell(place: &Path, format: Format) -> Result<(), Failure> {
    let hints =
        Hints::of(place, &["approved", "results", "public", "public/running", "public/held"]);
    let mut known = Known::default();
    let stdout = io::stdout();
    loop {
        let begun = Instant::now();
        for change in changes(place, &mut known) {
            if !written(format, &change)? {
                return Ok(());
            }
        }
        std::thread::sleep(REST_LEAST.max(begun.elapsed() * REST_LOOKS));
        // A pipe that nobody reads any more says so without being asked.
        let reader = PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::empty());
        if hints.wait(LOOK_INTERVAL, Some(reader)) {
            return Ok(());
        }
    }
}

/// Everything that became another since the last look.
fn changes(place: &Path, known: &mut Known) -> Vec<Value> {
    let at = show::now().to_string();
    let mut changes = Vec::new();
    let daemon = Daemon::of(place);
    let now = (daemon.word(), daemon.admits());
    if known.daemon.replace(now) != Some(now) {
        changes.push(json!({ "at_utc": at, "daemon": daemon.json() }));
    }
    let rows = queue(place, &daemon).rows;
    let mut states: BTreeMap<String, String> = rows
        .into_iter()
        .filter(|row| row.state != State::Answered)
        .map(|row| (row.request_id, row.state.word().to_owned()))
        .collect();
    let names: BTreeSet<String> = result_names(place).unwrap_or_default().into_iter().collect();
    let before = known.results.replace(names);
    let change = |id: &str, from: Option<&String>, to: Option<&str>, result: Option<&str>| json!({ "at_utc": at, "request_id": id, "from": from, "to": to, "result_id": result });
    if let (Some(before), Some(names)) = (&before, &known.results) {
        for name in names.difference(before) {
            let id = request_of(name).unwrap_or(name);
            let from = known.states.remove(id);
            states.remove(id);
            let ended = Published::at(place.join("results").join(name));
            changes.push(change(id, from.as_ref(), Some(ended.word()), Some(name)));
        }
    }
    for (id, state) in &states {
        let from = known.states.get(id);
        if from != Some(state) {
            changes.push(change(id, from, Some(state), None));
        }
    }
    for (id, from) in &known.states {
        let recorded = || known.results.iter().flatten().any(|name| request_of(name) == Some(id));
        if !states.contains_key(id) && !recorded() {
            changes.push(change(id, Some(from), None, None));
        }
    }
    known.states = states;
    changes
}

/// Whether there is still somebody who reads.
fn written(format: Format, change: &Value) -> Result<bool, Failure> {
    let line = match format {
        Format::Json => change.to_string(),
        Format::Human => {
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            let at = text(&change["at_utc"]);
            escape_line(&match change.get("daemon") {
                Some(daemon) => format!("{at}  daemon  {}", text(&daemon["said"])),
                None => {
                    let (from, to) = (text(&change["from"]), text(&change["to"]));
                    format!("{at}  {}  {from} -> {to}", text(&change["request_id"]))
                }
            })
        }
    };
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Io("stdout".into(), error)),
        Ok(()) => Ok(true),
    }
}
