//! The event loop of the full screen: reads the spool, receives keys and signals, and redraws
//! changes at most a few times a second. The model makes all decisions; `acts` performs them.

use std::path::Path;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGTSTP;

use super::acts::Hand;
use super::cells::Look;
use super::draw::{draw, text_rows};
use super::gather::Gatherer;
use super::keys::{Key, KeyDecoder};
use super::page::Page;
use super::seen::{Is, Item};
use super::state::{Act, Model, Over};
use super::terminal::{OwnScreen, Signals, TerminalInput};
use crate::commands::look::hint::Hints;
use crate::failure::Failure;
use crate::output::live::{Followed, Moment};
use crate::output::screen::Screen;

/// The longest delay until a signal or hint is handled.
const TICK: Duration = Duration::from_millis(250);
/// Refresh interval without a hint. Time and memory usage produce no hints.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Limits refreshes to a fifth of the time, however large the spool is.
const REST_LOOKS: u32 = 4;
/// Limit of kept lines of a tool's stdout.
const FOLLOWED_LINES_MAX: usize = 500;

struct Full<'a> {
    place: &'a Path,
    hand: Hand<'a>,
    gatherer: Gatherer,
    hints: Hints,
    signals: Signals,
    screen: OwnScreen,
    keys: KeyDecoder,
    model: Model,
    look: Look,
    next_look: Instant,
    not_before: Instant,
    /// The stdout of the shown request, if it is running.
    followed: Option<(Followed, Vec<String>)>,
}

pub(crate) fn show(place: &Path, hand: Hand<'_>) -> Result<(), Failure> {
    let signals = Signals::listen()?;
    let mut gatherer = Gatherer::new(place);
    let hints = Hints::of(place, &["approved", "drafts", "results", "public", "public/running"]);
    let model = Model::new(gatherer.look(), hand.may_sign());
    let look = Look { colour: Screen::of(&std::io::stdout()).colour, utf8: is_utf8() };
    let (screen, now) = (OwnScreen::take()?, Instant::now());
    let mut full = Full {
        place,
        hand,
        gatherer,
        hints,
        signals,
        screen,
        keys: KeyDecoder::default(),
        model,
        look,
        next_look: now + LOOK_INTERVAL,
        not_before: now,
        followed: None,
    };
    full.run()
}

impl Full<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        self.draw()?;
        loop {
            let input = TerminalInput::wait(TICK);
            if self.signals.is_end() {
                return Ok(());
            }
            if self.signals.take_suspend() {
                self.suspend()?;
            }
            let mut changed = self.screen.resize()?;
            match input {
                TerminalInput::Nothing => {}
                TerminalInput::Gone => return Ok(()),
                // Process all typed keys before drawing once.
                TerminalInput::Bytes(bytes) => {
                    changed = true;
                    for key in self.keys.of(&bytes) {
                        match self.hear(key)? {
                            Act::Quit => return Ok(()),
                            // Keys typed ahead were typed before the user saw the question.
                            Act::Approve(_) | Act::Reject(..) | Act::Suspend => break,
                            _ => {}
                        }
                    }
                }
            }
            changed |= self.look_again();
            if changed {
                self.draw()?;
            }
        }
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let (columns, rows) = self.screen.size();
        self.model.fit(columns, text_rows(rows));
        let (model, look) = (&self.model, self.look);
        self.screen.draw(|buffer| draw(model, look, buffer))
    }

    /// Refreshes the model if it is due. Returns whether anything changed.
    fn look_again(&mut self) -> bool {
        let begun = Instant::now();
        if self.hints.came() {
            self.next_look = self.next_look.min(self.not_before);
        }
        if begun < self.next_look || begun < self.not_before {
            return false;
        }
        let seen = self.gatherer.look();
        let changed = seen != self.model.seen;
        self.model.see(seen);
        self.renew_look();
        self.next_look = begun + LOOK_INTERVAL;
        self.not_before = begun + TICK.max(begun.elapsed() * (REST_LOOKS + 1));
        changed
    }

    /// Refreshes the shown request, with the stdout of its tool.
    fn renew_look(&mut self) {
        let Over::Text(_, item) = &self.model.over else {
            self.followed = None;
            return;
        };
        if self.followed.is_none() {
            return;
        }
        let item = item.clone();
        let text = self.text_of(&item);
        if let Over::Text(page, _) = &mut self.model.over {
            page.replace(&text);
        }
    }

    fn text_of(&mut self, item: &Item) -> String {
        let mut text = self.hand.look(item);
        if let Some((followed, lines)) = &mut self.followed {
            lines.extend(followed.lines(Moment::Now));
            let old = lines.len().saturating_sub(FOLLOWED_LINES_MAX);
            lines.drain(..old);
            text.push_str("\nstdout of its tool so far:\n");
            text.push_str(&lines.join("\n"));
        }
        text
    }

    fn hear(&mut self, key: Key) -> Result<Act, Failure> {
        let act = self.model.key(key);
        match &act {
            Act::Nothing | Act::Quit => {}
            Act::Suspend => self.suspend()?,
            Act::Redraw => self.screen.forget()?,
            Act::Look(item) => {
                let results = self.place.join("results");
                self.followed = matches!(item.is, Is::InFlight(_))
                    .then(|| (Followed::new(&results, &item.id), Vec::new()));
                let text = self.text_of(item);
                self.model.show(Item::clone(item), Page::new("show".to_owned(), &text));
            }
            Act::Review(item) => {
                self.followed = None;
                let page = self.hand.review(item);
                self.model.show(Item::clone(item), page);
            }
            Act::Approve(item) => {
                let said = self.screen.aside(|| self.hand.approve(item, &self.signals))?;
                self.keys = KeyDecoder::default();
                self.done(said);
            }
            Act::Reject(item, reason) => {
                let reason = reason.clone();
                let said = self.screen.aside(|| self.hand.reject(item, reason, &self.signals))?;
                self.keys = KeyDecoder::default();
                self.done(said);
            }
            Act::Order(order, item) => {
                let said = self.hand.order(item, *order);
                self.done(said);
            }
        }
        Ok(act)
    }

    fn done(&mut self, said: String) {
        self.model.message = Some(said);
        self.next_look = Instant::now();
        self.not_before = self.next_look;
    }

    /// Stops like any other program that receives SIGTSTP, and resumes when it is continued.
    fn suspend(&mut self) -> Result<(), Failure> {
        let stopped =
            self.screen.aside(|| signal_hook::low_level::emulate_default_handler(SIGTSTP))?;
        self.keys = KeyDecoder::default();
        stopped.map_err(failed)
    }
}

/// Returns whether the locale supports characters beyond ASCII.
fn is_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Said(format!("terminal: {error}"))
}
