//! The event loop of the full screen: reads the spool, receives keys and signals, and redraws
//! changes at most a few times a second. The model makes all decisions; `acts` performs them.

use std::path::Path;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGTSTP;

use super::acts::SpoolActions;
use super::draw::{draw, text_rows};
use super::draw_text::ScreenStyle;
use super::gather::Gatherer;
use super::keys::{KeyDecoder, TerminalKey};
use super::page::ScrollText;
use super::state::{Overlay, ScreenAction, ScreenModel};
use super::terminal::{AlternateScreen, Signals, TerminalInput};
use super::view::{Item, ItemKind};
use crate::commands::inspect::change_watcher::ChangeWatcher;
use crate::failure::Failure;
use crate::output::progress::{OutputFollower, ProgressMoment};
use crate::output::screen::OutputScreen;

/// The longest delay until a signal or hint is handled.
const TICK: Duration = Duration::from_millis(250);
/// Refresh interval without a hint. Time and memory usage produce no hints.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// Limits refreshes to a fifth of the time, however large the spool is.
const REST_FACTOR: u32 = 4;
/// Limit of kept lines of a tool's output.
const FOLLOWED_LINES_MAX: usize = 500;

struct FullScreen<'a> {
    place: &'a Path,
    actions: SpoolActions<'a>,
    gatherer: Gatherer,
    hints: ChangeWatcher,
    signals: Signals,
    screen: AlternateScreen,
    keys: KeyDecoder,
    model: ScreenModel,
    style: ScreenStyle,
    next_refresh: Instant,
    not_before: Instant,
    /// The stdout of the shown request, if it is running.
    follower: Option<(OutputFollower, Vec<String>)>,
}

pub(crate) fn show(place: &Path, hand: SpoolActions<'_>) -> Result<(), Failure> {
    let signals = Signals::register()?;
    let mut gatherer = Gatherer::new(place);
    let hints =
        ChangeWatcher::of(place, &["approved", "drafts", "results", "public", "public/running"]);
    let model = ScreenModel::new(gatherer.read(), hand.may_sign());
    let look = ScreenStyle { colour: OutputScreen::of(&std::io::stdout()).colour, utf8: is_utf8() };
    let (screen, now) = (AlternateScreen::open()?, Instant::now());
    let mut full = FullScreen {
        place,
        actions: hand,
        gatherer,
        hints,
        signals,
        screen,
        keys: KeyDecoder::default(),
        model,
        style: look,
        next_refresh: now + REFRESH_INTERVAL,
        not_before: now,
        follower: None,
    };
    full.run()
}

impl FullScreen<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        self.draw()?;
        loop {
            let input = TerminalInput::wait(TICK);
            if self.signals.end_requested() {
                return Ok(());
            }
            if self.signals.take_suspend() {
                self.suspend()?;
            }
            let mut changed = self.screen.resize()?;
            match input {
                TerminalInput::Nothing => {}
                TerminalInput::Closed => return Ok(()),
                // Process all typed keys before drawing once.
                TerminalInput::Bytes(bytes) => {
                    changed = true;
                    for key in self.keys.of(&bytes) {
                        match self.handle_key(key)? {
                            ScreenAction::Quit => return Ok(()),
                            // Keys typed ahead were typed before the user saw the question.
                            ScreenAction::Approve(_)
                            | ScreenAction::Reject(..)
                            | ScreenAction::Suspend => break,
                            _ => {}
                        }
                    }
                }
            }
            changed |= self.refresh();
            if changed {
                self.draw()?;
            }
        }
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let (columns, rows) = self.screen.size();
        self.model.fit(columns, text_rows(rows));
        let (model, look) = (&self.model, self.style);
        self.screen.draw(|buffer| draw(model, look, buffer))
    }

    /// Refreshes the model if it is due. Returns whether anything changed.
    fn refresh(&mut self) -> bool {
        let begun = Instant::now();
        if self.hints.take_changes() {
            self.next_refresh = self.next_refresh.min(self.not_before);
        }
        if begun < self.next_refresh || begun < self.not_before {
            return false;
        }
        let seen = self.gatherer.read();
        let changed = seen != self.model.view;
        self.model.update(seen);
        self.refresh_shown_text();
        self.next_refresh = begun + REFRESH_INTERVAL;
        self.not_before = begun + TICK.max(begun.elapsed() * (REST_FACTOR + 1));
        changed
    }

    fn refresh_shown_text(&mut self) {
        let Overlay::Text(_, item) = &self.model.overlay else {
            self.follower = None;
            return;
        };
        if self.follower.is_none() {
            return;
        }
        let item = item.clone();
        let text = self.text_of(&item);
        if let Overlay::Text(page, _) = &mut self.model.overlay {
            page.replace(&text);
        }
    }

    fn text_of(&mut self, item: &Item) -> String {
        let mut text = self.actions.show(item);
        if let Some((followed, lines)) = &mut self.follower {
            lines.extend(followed.lines(ProgressMoment::Now));
            let old = lines.len().saturating_sub(FOLLOWED_LINES_MAX);
            lines.drain(..old);
            text.push_str("\nstdout of its tool so far:\n");
            text.push_str(&lines.join("\n"));
        }
        text
    }

    fn handle_key(&mut self, key: TerminalKey) -> Result<ScreenAction, Failure> {
        let act = self.model.key(key);
        match &act {
            ScreenAction::Nothing | ScreenAction::Quit => {}
            ScreenAction::Suspend => self.suspend()?,
            ScreenAction::Redraw => self.screen.redraw_all()?,
            ScreenAction::Show(item) => {
                let results = self.place.join("results");
                self.follower = matches!(item.kind, ItemKind::InFlight(_))
                    .then(|| (OutputFollower::new(&results, &item.id), Vec::new()));
                let text = self.text_of(item);
                self.model.show(Item::clone(item), ScrollText::new("show".to_owned(), &text));
            }
            ScreenAction::Review(item) => {
                self.follower = None;
                let page = self.actions.review(item);
                self.model.show(Item::clone(item), page);
            }
            ScreenAction::Approve(item) => {
                let message = self.screen.suspend(|| self.actions.approve(item, &self.signals))?;
                self.keys = KeyDecoder::default();
                self.show_message(message);
            }
            ScreenAction::Reject(item, reason) => {
                let reason = reason.clone();
                let message =
                    self.screen.suspend(|| self.actions.reject(item, reason, &self.signals))?;
                self.keys = KeyDecoder::default();
                self.show_message(message);
            }
            ScreenAction::Order(order, item) => {
                let message = self.actions.order(item, *order);
                self.show_message(message);
            }
        }
        Ok(act)
    }

    fn show_message(&mut self, message: String) {
        self.model.message = Some(message);
        self.next_refresh = Instant::now();
        self.not_before = self.next_refresh;
    }

    /// Stops like any other program that receives SIGTSTP, and resumes when it is continued.
    fn suspend(&mut self) -> Result<(), Failure> {
        let stopped =
            self.screen.suspend(|| signal_hook::low_level::emulate_default_handler(SIGTSTP))?;
        self.keys = KeyDecoder::default();
        stopped.map_err(failed)
    }
}

fn is_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Message(format!("terminal: {error}; help: use another terminal"))
}
