//! The state of the screen, and the effect of each key. Pure: keys and snapshots come in, actions
//! come out. Nothing here reads a file, a clock or a terminal.

use spool::Order;

use super::keys::Key;
use super::page::Page;
use super::seen::{Is, Item, SpoolView};

/// A smaller screen cannot show the panes.
pub(super) const COLUMNS_LEAST: u16 = 80;
pub(super) const ROWS_LEAST: u16 = 20;
/// Longer reasons belong in a file.
const TYPED_CHARS_MAX: usize = 400;

model::closed_set! {
    /// One of the lists on the screen, from top to bottom.
    pub(super) enum Pane {
        /// Waiting requests.
        Queue = "queue",
        /// Requests in flight.
        Running = "running",
        /// The requests that ended last.
        Outcomes = "outcomes",
    }
}

impl Pane {
    pub(super) const COUNT: usize = Self::ALL.len();

    fn at(self) -> usize {
        self as usize
    }
}

/// The overlay over the panes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Over {
    Nothing,
    Help,
    /// A text about a request.
    Text(Page, Box<Item>),
    /// The user is typing.
    Typing(Wanted, Box<Item>, String),
}

/// The purpose of the typed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// The reason of a rejection.
    Reason,
    /// The last part of the id, as confirmation of an irreversible action.
    Cancel,
}

/// An action that the event loop performs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Act {
    Nothing,
    Quit,
    Suspend,
    Redraw,
    Look(Box<Item>),
    Review(Box<Item>),
    Approve(Box<Item>),
    Reject(Box<Item>, String),
    Order(Order, Box<Item>),
}

pub(super) struct Model {
    pub(super) seen: SpoolView,
    pub(super) pane: Pane,
    pub(super) over: Over,
    pub(super) message: Option<String>,
    /// The chosen item of each pane: its position, and its key, so that the choice survives changes
    /// of the list.
    chosen: [(usize, String); Pane::COUNT],
    /// The number of rows of a text.
    pub(super) text_rows: usize,
    /// A signing key is available.
    may_sign: bool,
}

impl Model {
    pub(super) fn new(seen: SpoolView, may_sign: bool) -> Self {
        let mut model = Self {
            seen,
            pane: Pane::Queue,
            over: Over::Nothing,
            message: None,
            chosen: Default::default(),
            text_rows: 1,
            may_sign,
        };
        model.settle();
        model
    }

    /// Replaces the snapshot. The chosen item stays chosen while it exists.
    pub(super) fn see(&mut self, seen: SpoolView) {
        self.seen = seen;
        self.settle();
    }

    /// Sets the width of the screen and the number of rows of a text.
    pub(super) fn fit(&mut self, columns: u16, text_rows: usize) {
        self.text_rows = text_rows;
        if let Over::Text(page, _) = &mut self.over {
            page.fit(usize::from(columns));
        }
    }

    pub(super) fn items(&self, pane: Pane) -> &[Item] {
        match pane {
            Pane::Queue => &self.seen.queue,
            Pane::Running => &self.seen.running,
            Pane::Outcomes => &self.seen.outcomes,
        }
    }

    pub(super) fn chosen(&self, pane: Pane) -> usize {
        self.chosen[pane.at()].0
    }

    fn settle(&mut self) {
        for &pane in Pane::ALL {
            let (at, key) = &self.chosen[pane.at()];
            let items = self.items(pane);
            let found = items.iter().position(|item| item.key == *key);
            let at = found.unwrap_or(*at).min(items.len().saturating_sub(1));
            let key = items.get(at).map(|item| item.key.clone()).unwrap_or_default();
            self.chosen[pane.at()] = (at, key);
        }
    }

    fn choose(&mut self, at: usize) {
        self.chosen[self.pane.at()] = (at, String::new());
        self.settle();
    }

    /// Shows a text about a request over the panes.
    pub(super) fn show(&mut self, item: Item, page: Page) {
        self.over = Over::Text(page, Box::new(item));
    }

    pub(super) fn key(&mut self, key: Key) -> Act {
        match key {
            Key::Interrupt => return Act::Quit,
            Key::Suspend => return Act::Suspend,
            Key::Redraw => return Act::Redraw,
            _ => {}
        }
        match std::mem::replace(&mut self.over, Over::Nothing) {
            Over::Nothing => self.key_in_panes(key),
            // Any key closes the help.
            Over::Help => Act::Nothing,
            Over::Text(page, item) => self.key_in_text(key, page, item),
            Over::Typing(wanted, item, typed) => self.key_typed(key, wanted, item, typed),
        }
    }

    fn key_in_panes(&mut self, key: Key) -> Act {
        self.message = None;
        let (at, last) = (self.chosen(self.pane), self.items(self.pane).len().saturating_sub(1));
        match key {
            Key::Up | Key::Char('k') => self.choose(at.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.choose((at + 1).min(last)),
            Key::Home | Key::Char('g') => self.choose(0),
            Key::End | Key::Char('G') => self.choose(last),
            Key::PageUp => self.choose(at.saturating_sub(5)),
            Key::PageDown => self.choose((at + 5).min(last)),
            Key::Tab => self.pane = Pane::ALL[(self.pane.at() + 1) % Pane::COUNT],
            Key::BackTab => self.pane = Pane::ALL[(self.pane.at() + Pane::COUNT - 1) % Pane::COUNT],
            Key::Char('?') => self.over = Over::Help,
            Key::Char('q' | 'Q') => return Act::Quit,
            _ => {
                let Some(item) = self.items(self.pane).get(at).cloned() else {
                    return Act::Nothing;
                };
                return self.key_of_item(key, Box::new(item));
            }
        }
        Act::Nothing
    }

    fn key_in_text(&mut self, key: Key, mut page: Page, item: Box<Item>) -> Act {
        if matches!(key, Key::Escape | Key::Char('q')) {
            return Act::Nothing;
        }
        if !page.scroll(key, self.text_rows) {
            let act = self.key_of_item(key, item.clone());
            if act != Act::Nothing || self.over != Over::Nothing {
                return act;
            }
        }
        self.over = Over::Text(page, item);
        Act::Nothing
    }

    /// Handles a key for one request, in the panes or in a text.
    fn key_of_item(&mut self, key: Key, item: Box<Item>) -> Act {
        let refused = match (key, &item.is) {
            (Key::Enter, _) => return Act::Look(item),
            (Key::Char('r'), Is::Draft(_) | Is::Waiting(_)) => return Act::Review(item),
            (Key::Char('a' | 'x'), Is::Draft(_) | Is::Waiting(_)) if !self.may_sign => {
                "to approve and reject, start with --as NAME and --key FILE or --agent"
            }
            (Key::Char('a'), Is::Draft(_) | Is::Waiting(_)) => return Act::Approve(item),
            (Key::Char('x'), Is::Draft(_) | Is::Waiting(_)) => {
                self.over = Over::Typing(Wanted::Reason, item, String::new());
                return Act::Nothing;
            }
            (Key::Char('h'), Is::Waiting(_)) => return Act::Order(Order::Hold, item),
            (Key::Char('l'), Is::Waiting(_)) => return Act::Order(Order::Release, item),
            (Key::Char('c'), Is::Waiting(_) | Is::InFlight(_)) => {
                self.over = Over::Typing(Wanted::Cancel, item, String::new());
                return Act::Nothing;
            }
            (Key::Char('r' | 'a' | 'x'), _) => "not a draft or a waiting request",
            (Key::Char('h' | 'l' | 'c'), _) => "not waiting in approved/",
            _ => return Act::Nothing,
        };
        self.message = Some(refused.to_owned());
        Act::Nothing
    }

    fn key_typed(&mut self, key: Key, wanted: Wanted, item: Box<Item>, mut typed: String) -> Act {
        match key {
            Key::Escape => {
                self.message = Some("nothing was done".to_owned());
                return Act::Nothing;
            }
            Key::Enter => return self.answered(wanted, item, typed.trim()),
            Key::Backspace => {
                typed.pop();
            }
            Key::Char(c) if typed.chars().count() < TYPED_CHARS_MAX => typed.push(c),
            _ => {}
        }
        self.over = Over::Typing(wanted, item, typed);
        Act::Nothing
    }

    fn answered(&mut self, wanted: Wanted, item: Box<Item>, typed: &str) -> Act {
        match wanted {
            Wanted::Reason if !typed.is_empty() => return Act::Reject(item, typed.to_owned()),
            Wanted::Cancel if !typed.is_empty() && typed == item.last_part() => {
                return Act::Order(Order::Cancel, item);
            }
            Wanted::Reason | Wanted::Cancel => {}
        }
        self.message = Some("nothing was done".to_owned());
        Act::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::super::seen::example::{item, seen};
    use super::*;

    fn model(may_sign: bool) -> Model {
        Model::new(seen(), may_sign)
    }

    fn id(model: &Model) -> &str {
        &model.items(model.pane)[model.chosen(model.pane)].id
    }

    #[test]
    fn what_is_chosen_stays_chosen_when_others_come_and_go() {
        let mut model = model(true);
        assert_eq!(model.key(Key::Char('j')), Act::Nothing);
        let chosen = id(&model).to_owned();
        let mut now = seen();
        now.queue.insert(0, item("TR-20260209-160400Z-first", "waiting"));
        model.see(now.clone());
        assert_eq!(id(&model), chosen);
        now.queue.retain(|item| item.id != chosen);
        model.see(now.clone());
        assert_ne!(id(&model), chosen);
        now.queue.clear();
        model.see(now);
        assert_eq!(model.key(Key::Char('a')), Act::Nothing);
        assert_eq!(model.key(Key::Down), Act::Nothing);
    }

    #[test]
    fn nothing_that_cannot_be_taken_back_is_done_by_one_key() {
        let mut model = model(true);
        for key in [Key::Char('x'), Key::Char('c')] {
            assert_eq!(model.key(key), Act::Nothing);
            assert_eq!(model.key(Key::Enter), Act::Nothing);
            assert_eq!(model.message.as_deref(), Some("nothing was done"));
        }
        assert_eq!(model.key(Key::Char('c')), Act::Nothing);
        let part = model.seen.queue[0].last_part().to_owned();
        let mut act = Act::Nothing;
        for c in part.chars() {
            act = model.key(Key::Char(c));
        }
        assert_eq!(act, Act::Nothing);
        assert!(matches!(model.key(Key::Enter), Act::Order(Order::Cancel, _)));
        model.key(Key::Char('x'));
        for c in "no ".chars() {
            model.key(Key::Char(c));
        }
        assert!(matches!(model.key(Key::Enter), Act::Reject(_, reason) if reason == "no"));
    }

    #[test]
    fn an_id_without_an_end_is_not_cancelled_by_enter_alone() {
        for (id, last) in [("TR-20260209-160501Z-", "160501Z"), ("TR-1--", "1"), ("--", "--")] {
            let mut now = seen();
            now.queue = vec![item(id, "waiting")];
            let mut model = Model::new(now, true);
            model.key(Key::Char('c'));
            assert_eq!(model.key(Key::Enter), Act::Nothing);
            model.key(Key::Char('c'));
            last.chars().for_each(|c| assert_eq!(model.key(Key::Char(c)), Act::Nothing));
            assert!(matches!(model.key(Key::Enter), Act::Order(Order::Cancel, _)), "{id}");
        }
    }

    #[test]
    fn nobody_signs_without_a_key_and_nothing_that_is_done() {
        let mut without = model(false);
        assert_eq!(without.key(Key::Char('a')), Act::Nothing);
        assert!(without.message.unwrap().contains("--key"));
        let mut model = model(true);
        assert!(matches!(model.key(Key::Char('a')), Act::Approve(_)));
        model.key(Key::Tab);
        for key in ['a', 'x', 'r', 'h'] {
            assert_eq!(model.key(Key::Char(key)), Act::Nothing);
            assert!(model.message.is_some() && model.over == Over::Nothing);
        }
        assert!(matches!(model.key(Key::Enter), Act::Look(_)));
    }

    #[test]
    fn every_way_leads_back_to_the_panes_and_out() {
        let mut model = model(true);
        for _ in 0..3 {
            model.key(Key::Tab);
        }
        assert_eq!(model.pane, Pane::Queue);
        model.key(Key::BackTab);
        assert_eq!(model.pane, Pane::Outcomes);
        model.key(Key::Char('?'));
        assert_eq!(model.over, Over::Help);
        model.key(Key::Char('q'));
        assert_eq!(model.over, Over::Nothing);
        model.show(item("TR-1", "waiting"), Page::new("t".to_owned(), "text"));
        model.key(Key::Down);
        assert!(matches!(model.over, Over::Text(..)));
        model.key(Key::Char('q'));
        assert_eq!(model.over, Over::Nothing);
        assert_eq!(model.key(Key::Char('q')), Act::Quit);
        model.key(Key::Char('x'));
        assert_eq!(model.key(Key::Interrupt), Act::Quit);
    }
}
