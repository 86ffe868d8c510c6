//! The state of the screen, and the action of each key. Reads no file, clock or terminal.

use spool::OperatorOrder;

use super::keys::TerminalKey;
use super::page::ScrollText;
use super::view::{Item, ItemKind, SpoolView};

/// A smaller screen cannot show the panes.
pub(super) const COLUMNS_MIN: u16 = 80;
pub(super) const ROWS_MIN: u16 = 20;
/// Longer reasons belong in a file.
const TYPED_CHARS_MAX: usize = 400;

model::closed_set! {
    /// One of the lists on the screen, from top to bottom.
    pub(super) enum Pane {
        Queue = "queue",
        Running = "running",
        Outcomes = "outcomes",
    }
}

impl Pane {
    pub(super) const COUNT: usize = Self::ALL.len();

    fn at(self) -> usize {
        self as usize
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Overlay {
    Nothing,
    Help,
    Text(ScrollText, Box<Item>),
    Typing(PromptKind, Box<Item>, String),
}

/// The purpose of the typed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PromptKind {
    /// The reason of a rejection.
    Reason,
    /// The last part of the id, as confirmation of an irreversible action.
    Cancel,
}

/// An action that the event loop performs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ScreenAction {
    Nothing,
    Quit,
    Suspend,
    Redraw,
    Show(Box<Item>),
    Review(Box<Item>),
    Approve(Box<Item>),
    Reject(Box<Item>, String),
    Order(OperatorOrder, Box<Item>),
}

pub(super) struct ScreenModel {
    pub(super) view: SpoolView,
    pub(super) pane: Pane,
    pub(super) overlay: Overlay,
    pub(super) message: Option<String>,
    /// The chosen item of each pane: position and key. The choice survives changes of the list.
    chosen: [(usize, String); Pane::COUNT],
    pub(super) text_rows: usize,
    /// A signing key is available.
    may_sign: bool,
}

impl ScreenModel {
    pub(super) fn new(seen: SpoolView, may_sign: bool) -> Self {
        let mut model = Self {
            view: seen,
            pane: Pane::Queue,
            overlay: Overlay::Nothing,
            message: None,
            chosen: Default::default(),
            text_rows: 1,
            may_sign,
        };
        model.restore_choice();
        model
    }

    /// Replaces the snapshot. The chosen item stays chosen while it exists.
    pub(super) fn update(&mut self, seen: SpoolView) {
        self.view = seen;
        self.restore_choice();
    }

    pub(super) fn fit(&mut self, columns: u16, text_rows: usize) {
        self.text_rows = text_rows;
        if let Overlay::Text(page, _) = &mut self.overlay {
            page.fit(usize::from(columns));
        }
    }

    pub(super) fn items(&self, pane: Pane) -> &[Item] {
        match pane {
            Pane::Queue => &self.view.queue,
            Pane::Running => &self.view.running,
            Pane::Outcomes => &self.view.outcomes,
        }
    }

    pub(super) fn chosen(&self, pane: Pane) -> usize {
        self.chosen[pane.at()].0
    }

    fn restore_choice(&mut self) {
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
        self.restore_choice();
    }

    pub(super) fn show(&mut self, item: Item, page: ScrollText) {
        self.overlay = Overlay::Text(page, Box::new(item));
    }

    pub(super) fn key(&mut self, key: TerminalKey) -> ScreenAction {
        match key {
            TerminalKey::Interrupt => return ScreenAction::Quit,
            TerminalKey::Suspend => return ScreenAction::Suspend,
            TerminalKey::Redraw => return ScreenAction::Redraw,
            _ => {}
        }
        match std::mem::replace(&mut self.overlay, Overlay::Nothing) {
            Overlay::Nothing => self.key_in_panes(key),
            // Any key closes the help.
            Overlay::Help => ScreenAction::Nothing,
            Overlay::Text(page, item) => self.key_in_text(key, page, item),
            Overlay::Typing(wanted, item, typed) => self.key_in_prompt(key, wanted, item, typed),
        }
    }

    fn key_in_panes(&mut self, key: TerminalKey) -> ScreenAction {
        self.message = None;
        let (at, last) = (self.chosen(self.pane), self.items(self.pane).len().saturating_sub(1));
        match key {
            TerminalKey::Up | TerminalKey::Char('k') => self.choose(at.saturating_sub(1)),
            TerminalKey::Down | TerminalKey::Char('j') => self.choose((at + 1).min(last)),
            TerminalKey::Home | TerminalKey::Char('g') => self.choose(0),
            TerminalKey::End | TerminalKey::Char('G') => self.choose(last),
            TerminalKey::PageUp => self.choose(at.saturating_sub(5)),
            TerminalKey::PageDown => self.choose((at + 5).min(last)),
            TerminalKey::Tab => self.pane = Pane::ALL[(self.pane.at() + 1) % Pane::COUNT],
            TerminalKey::BackTab => {
                self.pane = Pane::ALL[(self.pane.at() + Pane::COUNT - 1) % Pane::COUNT]
            }
            TerminalKey::Char('?') => self.overlay = Overlay::Help,
            TerminalKey::Char('q' | 'Q') => return ScreenAction::Quit,
            _ => {
                let Some(item) = self.items(self.pane).get(at).cloned() else {
                    return ScreenAction::Nothing;
                };
                return self.key_of_item(key, Box::new(item));
            }
        }
        ScreenAction::Nothing
    }

    fn key_in_text(
        &mut self,
        key: TerminalKey,
        mut page: ScrollText,
        item: Box<Item>,
    ) -> ScreenAction {
        if matches!(key, TerminalKey::Escape | TerminalKey::Char('q')) {
            return ScreenAction::Nothing;
        }
        if !page.scroll(key, self.text_rows) {
            let act = self.key_of_item(key, item.clone());
            if act != ScreenAction::Nothing || self.overlay != Overlay::Nothing {
                return act;
            }
        }
        self.overlay = Overlay::Text(page, item);
        ScreenAction::Nothing
    }

    /// Handles a key for one request, in the panes or in a text.
    fn key_of_item(&mut self, key: TerminalKey, item: Box<Item>) -> ScreenAction {
        let refused = match (key, &item.kind) {
            (TerminalKey::Enter, _) => return ScreenAction::Show(item),
            (TerminalKey::Char('r'), ItemKind::Draft(_) | ItemKind::Waiting(_)) => {
                return ScreenAction::Review(item);
            }
            (TerminalKey::Char('a' | 'x'), ItemKind::Draft(_) | ItemKind::Waiting(_))
                if !self.may_sign =>
            {
                "to approve and reject, start with --approver NAME and --key FILE or --ssh-agent"
            }
            (TerminalKey::Char('a'), ItemKind::Draft(_) | ItemKind::Waiting(_)) => {
                return ScreenAction::Approve(item);
            }
            (TerminalKey::Char('x'), ItemKind::Draft(_) | ItemKind::Waiting(_)) => {
                self.overlay = Overlay::Typing(PromptKind::Reason, item, String::new());
                return ScreenAction::Nothing;
            }
            (TerminalKey::Char('h'), ItemKind::Waiting(_)) => {
                return ScreenAction::Order(OperatorOrder::Hold, item);
            }
            (TerminalKey::Char('l'), ItemKind::Waiting(_)) => {
                return ScreenAction::Order(OperatorOrder::Release, item);
            }
            (TerminalKey::Char('c'), ItemKind::Waiting(_) | ItemKind::InFlight(_)) => {
                self.overlay = Overlay::Typing(PromptKind::Cancel, item, String::new());
                return ScreenAction::Nothing;
            }
            (TerminalKey::Char('r' | 'a' | 'x'), _) => "not a draft or a waiting request",
            (TerminalKey::Char('h' | 'l' | 'c'), _) => "not waiting in approved/",
            _ => return ScreenAction::Nothing,
        };
        self.message = Some(refused.to_owned());
        ScreenAction::Nothing
    }

    fn key_in_prompt(
        &mut self,
        key: TerminalKey,
        wanted: PromptKind,
        item: Box<Item>,
        mut typed: String,
    ) -> ScreenAction {
        match key {
            TerminalKey::Escape => {
                self.message = Some("nothing was done".to_owned());
                return ScreenAction::Nothing;
            }
            TerminalKey::Enter => return self.submit_prompt(wanted, item, typed.trim()),
            TerminalKey::Backspace => {
                typed.pop();
            }
            TerminalKey::Char(c) if typed.chars().count() < TYPED_CHARS_MAX => typed.push(c),
            _ => {}
        }
        self.overlay = Overlay::Typing(wanted, item, typed);
        ScreenAction::Nothing
    }

    fn submit_prompt(&mut self, wanted: PromptKind, item: Box<Item>, typed: &str) -> ScreenAction {
        match wanted {
            PromptKind::Reason if !typed.is_empty() => {
                return ScreenAction::Reject(item, typed.to_owned());
            }
            PromptKind::Cancel if !typed.is_empty() && typed == item.last_part() => {
                return ScreenAction::Order(OperatorOrder::Cancel, item);
            }
            PromptKind::Reason | PromptKind::Cancel => {}
        }
        self.message = Some("nothing was done".to_owned());
        ScreenAction::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::example::{example_view, item};
    use super::*;

    fn model(may_sign: bool) -> ScreenModel {
        ScreenModel::new(example_view(), may_sign)
    }

    fn id(model: &ScreenModel) -> &str {
        &model.items(model.pane)[model.chosen(model.pane)].id
    }

    #[test]
    fn chosen_item_stays_chosen_when_the_list_changes() {
        let mut model = model(true);
        assert_eq!(model.key(TerminalKey::Char('j')), ScreenAction::Nothing);
        let chosen = id(&model).to_owned();
        let mut now = example_view();
        now.queue.insert(0, item("TR-20260209-160400Z-first", "waiting"));
        model.update(now.clone());
        assert_eq!(id(&model), chosen);
        now.queue.retain(|item| item.id != chosen);
        model.update(now.clone());
        assert_ne!(id(&model), chosen);
        now.queue.clear();
        model.update(now);
        assert_eq!(model.key(TerminalKey::Char('a')), ScreenAction::Nothing);
        assert_eq!(model.key(TerminalKey::Down), ScreenAction::Nothing);
    }

    #[test]
    fn irreversible_actions_need_more_than_one_key() {
        let mut model = model(true);
        for key in [TerminalKey::Char('x'), TerminalKey::Char('c')] {
            assert_eq!(model.key(key), ScreenAction::Nothing);
            assert_eq!(model.key(TerminalKey::Enter), ScreenAction::Nothing);
            assert_eq!(model.message.as_deref(), Some("nothing was done"));
        }
        assert_eq!(model.key(TerminalKey::Char('c')), ScreenAction::Nothing);
        let part = model.view.queue[0].last_part().to_owned();
        let mut act = ScreenAction::Nothing;
        for c in part.chars() {
            act = model.key(TerminalKey::Char(c));
        }
        assert_eq!(act, ScreenAction::Nothing);
        assert!(matches!(
            model.key(TerminalKey::Enter),
            ScreenAction::Order(OperatorOrder::Cancel, _)
        ));
        model.key(TerminalKey::Char('x'));
        for c in "no ".chars() {
            model.key(TerminalKey::Char(c));
        }
        assert!(
            matches!(model.key(TerminalKey::Enter), ScreenAction::Reject(_, reason) if reason == "no")
        );
    }

    #[test]
    fn cancel_of_an_id_without_last_part_needs_typing() {
        for (id, last) in [("TR-20260209-160501Z-", "160501Z"), ("TR-1--", "1"), ("--", "--")] {
            let mut now = example_view();
            now.queue = vec![item(id, "waiting")];
            let mut model = ScreenModel::new(now, true);
            model.key(TerminalKey::Char('c'));
            assert_eq!(model.key(TerminalKey::Enter), ScreenAction::Nothing);
            model.key(TerminalKey::Char('c'));
            last.chars()
                .for_each(|c| assert_eq!(model.key(TerminalKey::Char(c)), ScreenAction::Nothing));
            assert!(
                matches!(
                    model.key(TerminalKey::Enter),
                    ScreenAction::Order(OperatorOrder::Cancel, _)
                ),
                "{id}"
            );
        }
    }

    #[test]
    fn signing_needs_a_key_and_a_request_not_started() {
        let mut without = model(false);
        assert_eq!(without.key(TerminalKey::Char('a')), ScreenAction::Nothing);
        assert!(without.message.unwrap().contains("--key"));
        let mut model = model(true);
        assert!(matches!(model.key(TerminalKey::Char('a')), ScreenAction::Approve(_)));
        model.key(TerminalKey::Tab);
        for key in ['a', 'x', 'r', 'h'] {
            assert_eq!(model.key(TerminalKey::Char(key)), ScreenAction::Nothing);
            assert!(model.message.is_some() && model.overlay == Overlay::Nothing);
        }
        assert!(matches!(model.key(TerminalKey::Enter), ScreenAction::Show(_)));
    }

    #[test]
    fn every_overlay_returns_to_the_panes() {
        let mut model = model(true);
        for _ in 0..3 {
            model.key(TerminalKey::Tab);
        }
        assert_eq!(model.pane, Pane::Queue);
        model.key(TerminalKey::BackTab);
        assert_eq!(model.pane, Pane::Outcomes);
        model.key(TerminalKey::Char('?'));
        assert_eq!(model.overlay, Overlay::Help);
        model.key(TerminalKey::Char('q'));
        assert_eq!(model.overlay, Overlay::Nothing);
        model.show(item("TR-1", "waiting"), ScrollText::new("t".to_owned(), "text"));
        model.key(TerminalKey::Down);
        assert!(matches!(model.overlay, Overlay::Text(..)));
        model.key(TerminalKey::Char('q'));
        assert_eq!(model.overlay, Overlay::Nothing);
        assert_eq!(model.key(TerminalKey::Char('q')), ScreenAction::Quit);
        model.key(TerminalKey::Char('x'));
        assert_eq!(model.key(TerminalKey::Interrupt), ScreenAction::Quit);
    }
}
