//! Draws the model: a pure function from the model to a screen buffer. It cuts lines to their area.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::draw_text::{ScreenStyle, put, put_right, set_line, title};
use super::page::ScrollText;
use super::panes;
use super::state::{COLUMNS_MIN, Overlay, PromptKind, ROWS_MIN, ScreenModel};
use super::view::Item;

/// Rows outside the panes: two of the head; a message and the keys at the foot.
const HEAD_ROWS: u16 = 2;
const FOOT_ROWS: u16 = 2;

const KEYS: &str =
    " Enter look  r review  a approve  x reject  h/l hold, release  c cancel  ? help";
const TEXT_KEYS: &str =
    " up, down, PgUp, PgDn scroll   a approve  x reject  h/l hold, release   q back";
const HELP: &str = " up, down, j, k     select a request
 Tab                the next pane
 Enter              show it: its state, its files, the output of its tool

 r                  review a request: what would run, and what every rule says
 a                  approve it: shows the review, asks, and signs (--approver, --key);
                    a draft is submitted then
 x                  reject it, with a reason: shows its digest, asks, and signs;
                    a draft's rejection is written beside it
 h                  hold it            l   release it
 c                  cancel it: refused if it waits, ended if it runs

 Ctrl-L             redraw             Ctrl-Z   suspend
 q, Ctrl-C          quit";

pub(super) fn draw(model: &ScreenModel, look: ScreenStyle, buffer: &mut Buffer) {
    let area = buffer.area;
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        return too_small(buffer);
    }
    head(model, look, buffer);
    let middle =
        Rect { y: area.y + HEAD_ROWS, height: area.height - HEAD_ROWS - FOOT_ROWS, ..area };
    match &model.overlay {
        Overlay::Text(page, item) => text(page, item, look, middle, buffer),
        Overlay::Help => help(look, middle, buffer),
        Overlay::Nothing | Overlay::Typing(..) => panes::draw(model, look, middle, buffer),
    }
    foot(model, look, buffer);
}

/// Returns the number of text rows on a screen with this many rows.
pub(super) fn text_rows(rows: u16) -> usize {
    // The title takes one row.
    usize::from(rows.saturating_sub(HEAD_ROWS + FOOT_ROWS + 1).max(1))
}

fn too_small(buffer: &mut Buffer) {
    let area = buffer.area;
    let (columns, rows) = (area.width, area.height);
    let lines = [
        format!("{columns} x {rows} is too small:"),
        format!("{COLUMNS_MIN} x {ROWS_MIN} at least."),
        "Enlarge the window, or press q to quit.".to_owned(),
    ];
    for (y, line) in (area.y..area.bottom()).zip(&lines) {
        buffer.set_stringn(area.x, y, line, usize::from(columns), Style::new());
    }
}

fn head(model: &ScreenModel, look: ScreenStyle, buffer: &mut Buffer) {
    let (area, seen) = (buffer.area, &model.view);
    let at = seen.at.to_string();
    put(
        buffer,
        (0, 0),
        area.width,
        &format!(" toolexec watch  {}", seen.spool),
        ScreenStyle::strong(),
    );
    put_right(buffer, 0, &format!(" {at} "), look.faint());
    let state = look.state_style(if seen.admits { "serving" } else { seen.daemon });
    let mut spans = vec![Span::styled(format!(" {}", seen.sentence), state)];
    spans.extend(seen.policy.iter().map(|policy| Span::raw(format!("  policy {policy}"))));
    set_line(buffer, (0, 1), area.width, spans);
    if let Some(free) = seen.free_mib {
        put_right(buffer, 1, &format!("  {free} MiB free "), look.faint());
    }
}

fn foot(model: &ScreenModel, look: ScreenStyle, buffer: &mut Buffer) {
    let area = buffer.area;
    let (message, keys) = (area.bottom() - 2, area.bottom() - 1);
    let shown = match (&model.overlay, &model.message) {
        (Overlay::Typing(wanted, item, typed), _) => {
            Some(prompt_line(*wanted, item, typed, area.width))
        }
        (_, Some(message)) => Some(format!(" {message}")),
        (_, None) => model.view.unseen.first().map(|why| format!(" not read: {why}")),
    };
    if let Some(shown) = shown {
        put(buffer, (0, message), area.width, &shown, look.colour(Color::Yellow));
    }
    let text = match &model.overlay {
        Overlay::Text(..) => TEXT_KEYS,
        Overlay::Help => " press any key to return",
        Overlay::Typing(..) => " Enter confirms, Esc cancels",
        Overlay::Nothing => KEYS,
    };
    put(buffer, (0, keys), area.width, text, look.faint());
}

/// Returns the question and as much of the end of the typed answer as fits.
fn prompt_line(wanted: PromptKind, item: &Item, typed: &str, width: u16) -> String {
    let question = match wanted {
        PromptKind::Reason => format!(" why reject {}? ", item.id),
        PromptKind::Cancel => format!(" to cancel {} type `{}`: ", item.id, item.last_part()),
    };
    let columns = usize::from(width).saturating_sub(question.chars().count() + 1).max(12);
    let typed: Vec<char> = model::escape_line(typed).chars().collect();
    let end: String = typed[typed.len().saturating_sub(columns)..].iter().collect();
    format!("{question}{end}_")
}

fn text(page: &ScrollText, item: &Item, look: ScreenStyle, area: Rect, buffer: &mut Buffer) {
    let rows = usize::from(area.height - 1);
    let (lines, all) = page.visible(rows);
    let shown = (page.top + lines.len()).min(all);
    title(buffer, look, area, &format!("{} {}", page.title, item.id), true);
    put_right(buffer, area.y, &format!(" {shown} of {all} lines "), look.faint());
    for (y, line) in (area.y + 1..area.bottom()).zip(lines) {
        put(buffer, (0, y), area.width, line, Style::new());
    }
}

fn help(look: ScreenStyle, area: Rect, buffer: &mut Buffer) {
    title(buffer, look, area, "keys", true);
    for (y, line) in (area.y + 2..area.bottom()).zip(HELP.lines()) {
        put(buffer, (0, y), area.width, line, Style::new());
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::TerminalKey;
    use super::super::view::example::{example_view, item};
    use super::*;

    const PLAIN: ScreenStyle = ScreenStyle { colour: false, utf8: false };

    fn drawn(model: &mut ScreenModel, columns: u16, rows: u16) -> Vec<String> {
        model.fit(columns, text_rows(rows));
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        draw(model, PLAIN, &mut buffer);
        let line = |y| (0..columns).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
        (0..rows).map(line).collect()
    }

    #[test]
    fn everything_is_visible_in_80_by_24() {
        let mut model = ScreenModel::new(example_view(), true);
        let lines = drawn(&mut model, 80, 24);
        let line_of = |text: &str| {
            let found = lines.iter().find(|line| line.contains(text));
            found.unwrap_or_else(|| panic!("{text:?} is not in {lines:#?}")).clone()
        };
        assert!(line_of("toolexec watch").ends_with("2026-02-09T16:05:32Z "));
        assert!(line_of("policy standard").ends_with("1234 MiB free "));
        assert!(line_of("160502Z-held").contains("approval.count"));
        assert!(line_of("160501Z-python-stats").contains("waiting"));
        assert!(line_of("160503Z-runs").contains("alice"));
        let numbers = line_of("time ");
        for part in ["####---- 30/60 s", "#------- 11.8/60 s", "####---- 128/256 MiB"] {
            assert!(numbers.contains(part), "{part}: {numbers}");
        }
        assert!(line_of("hash ").contains("##------ 1/4 GiB"));
        assert!(line_of("160300Z-ended").contains("wall_limit"));
        assert!(lines[23].contains("? help"));
    }

    #[test]
    fn small_screens_show_a_note_and_large_ones_are_filled() {
        let mut model = ScreenModel::new(example_view(), true);
        let lines = drawn(&mut model, 40, 10);
        assert!(lines[0].starts_with("40 x 10 is too small"), "{lines:?}");
        assert!(lines[1].starts_with("80 x 20 at least"), "{lines:?}");
        drawn(&mut model, 1, 1);
        for (columns, rows) in [(80, 20), (300, 100)] {
            assert!(drawn(&mut model, columns, rows)[usize::from(rows) - 1].contains("? help"));
        }
    }

    #[test]
    fn long_lists_scroll_to_the_chosen_item() {
        let mut now = example_view();
        let ids = (0..500).map(|n| format!("TR-20260209-160501Z-many-{n}"));
        now.queue = ids.map(|id| item(&id, "waiting")).collect();
        let mut model = ScreenModel::new(now, true);
        model.key(TerminalKey::End);
        let lines = drawn(&mut model, 80, 24);
        assert!(lines.iter().any(|line| line.contains("many-499")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("160503Z-runs")), "{lines:#?}");
    }

    #[test]
    fn text_question_and_help_are_drawn() {
        let mut model = ScreenModel::new(example_view(), true);
        model.key(TerminalKey::Char('?'));
        assert!(drawn(&mut model, 80, 24).concat().contains("the next pane"));
        model.key(TerminalKey::Escape);
        let text: String = (0..90).map(|n| format!("line {n} {}\n", "x".repeat(70))).collect();
        model.show(item("TR-1", "waiting"), ScrollText::new("review".to_owned(), &text));
        let lines = drawn(&mut model, 80, 24);
        assert!(
            lines[2].contains("review TR-1") && lines[2].contains("19 of 90 lines"),
            "{lines:#?}"
        );
        model.key(TerminalKey::End);
        assert!(drawn(&mut model, 80, 24)[21].contains("line 89"));
        model.key(TerminalKey::Char('c'));
        assert!(drawn(&mut model, 80, 24)[22].contains("to cancel TR-1 type `1`: _"));
    }
}
