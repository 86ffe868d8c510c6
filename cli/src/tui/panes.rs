//! The three panes: the queue, the requests in flight with their usage, and the latest outcomes.
//! Each pane gets the rows that it needs while there are enough. The chosen item is always visible.

use model::UtcTime;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use spool::{RunningRequest, RunningStep};

use super::draw_text::{ScreenStyle, put, put_right, set_line, title};
use super::state::{Pane, ScreenModel};
use super::view::{Item, ItemKind};
use crate::output::progress::{bytes_of, elapsed_sec, seconds_of, share};

const STATE_COLUMNS: usize = 18;
/// Notes are aligned behind the longest id, up to this width.
const ID_COLUMNS_MAX: usize = 40;
const BAR_COLUMNS: usize = 8;
/// The width of one measure: label, bar and figures.
const MEASURE_COLUMNS: u16 = 25;
const RUNNING_ROWS: u16 = 2;
const ROWS_EACH: u16 = 2;

pub(super) fn draw(model: &ScreenModel, look: ScreenStyle, area: Rect, buffer: &mut Buffer) {
    let wanted = std::array::from_fn(|at| {
        let pane = Pane::ALL[at];
        let items = u16::try_from(model.items(pane).len()).unwrap_or(u16::MAX);
        // One spare row, if possible, separates the panes.
        let rows = items.saturating_mul(if pane == Pane::Running { RUNNING_ROWS } else { 1 });
        rows.saturating_add(1)
    });
    let mut y = area.y;
    for (&pane, rows) in Pane::ALL.iter().zip(rows_of(wanted, area.height)) {
        let place = Rect { y, height: rows + 1, ..area };
        y += rows + 1;
        let shown = title_of(model, pane);
        title(buffer, look, place, &shown, model.pane == pane);
        let below = Rect { y: place.y + 1, height: rows, ..place };
        items(model, pane, look, below, buffer);
    }
}

/// Returns the rows of each pane without its title: its need if all fit, or else a fair share.
fn rows_of(wanted: [u16; Pane::COUNT], height: u16) -> [u16; Pane::COUNT] {
    let panes = u16::try_from(Pane::COUNT).unwrap_or(u16::MAX);
    let all = height.saturating_sub(panes);
    let mut rows = [ROWS_EACH.min(all / panes); Pane::COUNT];
    let mut left = all - rows.iter().sum::<u16>();
    while left > 0 {
        let needy =
            (0..Pane::COUNT).filter(|at| rows[*at] < wanted[*at]).min_by_key(|at| rows[*at]);
        // The last pane, at the bottom of the screen, gets the remaining rows.
        let at = needy.unwrap_or(Pane::COUNT - 1);
        rows[at] += 1;
        left -= 1;
    }
    rows
}

fn title_of(model: &ScreenModel, pane: Pane) -> String {
    let items = model.items(pane);
    match pane {
        Pane::Queue => {
            let mut counts: Vec<(&str, usize)> = Vec::new();
            for item in items {
                match counts.iter_mut().find(|(state, _)| *state == item.state) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((&item.state, 1)),
                }
            }
            let words: Vec<String> =
                counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
            let summary = if words.is_empty() { "empty".to_owned() } else { words.join(", ") };
            format!("queue: {summary}")
        }
        Pane::Running => format!("in flight: {}", items.len()),
        Pane::Outcomes => "last outcomes, not verified here".to_owned(),
    }
}

fn items(model: &ScreenModel, pane: Pane, look: ScreenStyle, area: Rect, buffer: &mut Buffer) {
    let items = model.items(pane);
    if items.is_empty() {
        return put(buffer, (2, area.y), area.width, "nothing", look.faint());
    }
    let each = if pane == Pane::Running { RUNNING_ROWS } else { 1 };
    let fit = usize::from((area.height / each).max(1));
    let chosen = model.chosen(pane);
    let first = (chosen + 1).saturating_sub(fit);
    let ids = items.iter().skip(first).take(fit).map(|item| item.id.chars().count());
    let id_columns = ids.max().unwrap_or(0).min(ID_COLUMNS_MAX);
    let rows = (area.y..area.bottom()).step_by(usize::from(each));
    for (y, (at, item)) in rows.zip(items.iter().enumerate().skip(first).take(fit)) {
        let is_chosen = at == chosen && pane == model.pane;
        head(item, look, (is_chosen, id_columns), Rect { y, height: 1, ..area }, buffer);
        if let ItemKind::InFlight(running) = &item.kind
            && y + 1 < area.bottom()
        {
            measures(running, model.view.at, look, y + 1, buffer);
        }
    }
    let hidden = items.len().saturating_sub(first + fit);
    if hidden > 0 || first > 0 {
        let place = format!(" {}-{} of {} ", first + 1, items.len() - hidden, items.len());
        put_right(buffer, area.y - 1, &place, look.faint());
    }
}

fn head(
    item: &Item,
    look: ScreenStyle,
    (is_chosen, id_columns): (bool, usize),
    area: Rect,
    buffer: &mut Buffer,
) {
    let state = format!(" {:<STATE_COLUMNS$}", item.state);
    set_line(
        buffer,
        (0, area.y),
        area.width,
        vec![
            Span::styled(state, look.state_style(&item.state)),
            Span::raw(format!("{:<id_columns$}", item.id)),
            Span::styled(format!("  {}", item.note), look.faint()),
        ],
    );
    if is_chosen {
        // One uniform style replaces the colours of the spans.
        let chosen = Style::new().fg(Color::Reset).add_modifier(Modifier::REVERSED);
        buffer.set_style(area, chosen);
    }
}

/// Draws the usage of a request in flight beside its limits.
fn measures(
    running: &RunningRequest,
    now: UtcTime,
    look: ScreenStyle,
    y: u16,
    buffer: &mut Buffer,
) {
    let elapsed = elapsed_sec(running, now);
    match running.step {
        RunningStep::Staging => {
            if let (Some(done), Some(all)) = (running.hashed_bytes, running.input_bytes) {
                let numbers = short(&bytes_of(Some(done), all));
                measure(buffer, look, (2, y), "hash", (done, all), &numbers);
            }
        }
        RunningStep::Running => {
            if let Some(most) = running.time_sec_max {
                let numbers = format!("{elapsed}/{most} s");
                measure(buffer, look, (2, y), "time", (elapsed, most), &numbers);
            }
            if let Some(most) = running.cpu_ms_max {
                let (part, numbers) =
                    (running.cpu_ms.unwrap_or(0), seconds_of(running.cpu_ms, most));
                let x = 2 + MEASURE_COLUMNS;
                measure(buffer, look, (x, y), "cpu", (part, most), &short(&numbers));
            }
            if let Some(most) = running.memory_bytes_max {
                let part = running.memory_bytes.unwrap_or(0);
                let numbers = short(&bytes_of(running.memory_bytes, most));
                let x = 2 + 2 * MEASURE_COLUMNS;
                measure(buffer, look, (x, y), "mem", (part, most), &numbers);
            }
        }
        RunningStep::Claimed | RunningStep::Publishing => {
            put(buffer, (2, y), buffer.area.width, &format!("for {elapsed} s"), look.faint());
        }
    }
}

fn short(numbers: &str) -> String {
    numbers.replacen(" of ", "/", 1)
}

fn measure(
    buffer: &mut Buffer,
    look: ScreenStyle,
    (x, y): (u16, u16),
    label: &str,
    (part, whole): (u64, u64),
    numbers: &str,
) {
    let full = share(part, whole, BAR_COLUMNS);
    let (done, rest) = if look.utf8 { ("█", "░") } else { ("#", "-") };
    let near = u128::from(part) * 10 >= u128::from(whole) * 9;
    let colour = if near { Color::Red } else { Color::Cyan };
    set_line(
        buffer,
        (x, y),
        buffer.area.width.saturating_sub(x),
        vec![
            Span::styled(format!("{label:<4} "), look.faint()),
            Span::styled(done.repeat(full), look.colour(colour)),
            Span::styled(rest.repeat(BAR_COLUMNS - full), look.faint()),
            Span::raw(format!(" {numbers}")),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pane_gets_the_rows_it_needs_or_a_fair_share() {
        assert_eq!(rows_of([1, 2, 100], 20), [2, 2, 13]);
        assert_eq!(rows_of([100, 2, 1], 20), [13, 2, 2]);
        for wanted in [[0, 0, 0], [500, 500, 500], [3, 60, 9], [9, 0, 500]] {
            for height in 9..60 {
                let rows = rows_of(wanted, height);
                assert_eq!(rows.iter().sum::<u16>() + 3, height, "{wanted:?}");
                assert!(rows.iter().all(|rows| *rows >= 2));
            }
        }
    }
}
