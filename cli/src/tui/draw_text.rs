//! Draws texts and lines into a screen buffer: cut to their width, without colour if unwanted.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// The capabilities of the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ScreenStyle {
    pub(super) colour: bool,
    pub(super) utf8: bool,
}

impl ScreenStyle {
    pub(super) fn colour(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Returns the style of secondary text.
    pub(super) fn faint(self) -> Style {
        if self.colour { Style::new().fg(Color::DarkGray) } else { Style::new() }
    }

    pub(super) fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of a state: green for good, yellow for attention, red for failed.
    pub(super) fn state_style(self, state: &str) -> Style {
        match state {
            "ok" | "running" | "serving" => self.colour(Color::Green),
            "held" | "draft" | "staging" | "claimed" | "publishing" | "starting" | "draining"
            | "cancelled" => self.colour(Color::Yellow),
            "waiting" | "recorded" => Style::new(),
            _ => self.colour(Color::Red),
        }
    }
}

pub(super) fn put(buffer: &mut Buffer, (x, y): (u16, u16), width: u16, text: &str, style: Style) {
    buffer.set_stringn(buffer.area.x + x, y, text, usize::from(width), style);
}

pub(super) fn set_line(buffer: &mut Buffer, (x, y): (u16, u16), width: u16, spans: Vec<Span<'_>>) {
    buffer.set_line(buffer.area.x + x, y, &Line::from(spans), width);
}

pub(super) fn put_right(buffer: &mut Buffer, y: u16, text: &str, style: Style) {
    let columns = u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX);
    let columns = columns.min(buffer.area.width);
    let x = buffer.area.right() - columns;
    buffer.set_stringn(x, y, text, usize::from(columns), style);
}

pub(super) fn title(
    buffer: &mut Buffer,
    look: ScreenStyle,
    area: Rect,
    text: &str,
    is_chosen: bool,
) {
    let rule = if look.utf8 { "─" } else { "-" };
    let line = rule.repeat(usize::from(area.width));
    put(buffer, (0, area.y), area.width, &line, look.faint());
    let style = match is_chosen {
        true => look.colour(Color::Cyan).add_modifier(Modifier::BOLD),
        false => Style::new().fg(Color::Reset),
    };
    let mark = if is_chosen { ">" } else { " " };
    put(buffer, (1, area.y), area.width.saturating_sub(3), &format!("{mark}{text} "), style);
}
