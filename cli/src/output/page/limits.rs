//! The section on limits: usage against each limit, as bars and text, and a table of all limits.

use serde_json::Value;

use super::facts::{self, PageFacts, count};
use super::html::{Html, HtmlLiteral, TableCell, literal};

/// 100 percent, in thousandths of a percent.
const WHOLE: u64 = 100_000;
/// The minimum length of a bar that is not zero, so that it is visible.
const VISIBLE_MIN: u64 = 600;

struct ResourceUse {
    name: HtmlLiteral,
    used: Option<u64>,
    limit: Option<u64>,
    unit: fn(u64) -> String,
}

pub(super) fn section(page: &mut Html, facts: &PageFacts) {
    page.section(literal("Limits and use"));
    if facts.at("accounting").is_object() {
        page.markup(literal("<ul class=\"bars\">\n"));
        resource_uses(facts).iter().for_each(|it| bar(page, it));
        page.markup(literal("</ul>\n"));
    } else {
        page.note(literal("Nothing ran."));
    }
    let rows = facts.rows("limits").iter().map(|row| {
        let number =
            |key: &str| TableCell::Number(display_limit(facts::text(&row["name"]), &row[key]));
        vec![
            TableCell::Code(facts::display(&row["name"])),
            number("asked"),
            number("in_force"),
            TableCell::Text(facts::display(&row["mechanism"])),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        let columns =
            [literal("Limit"), literal("Requested"), literal("Active"), literal("Enforced by")];
        page.table(literal("Limits, as read back from the kernel"), &columns, rows);
    }
    page.end();
}

fn resource_uses(facts: &PageFacts) -> Vec<ResourceUse> {
    let used = facts.at("accounting");
    let limit = |name: &str| {
        let row = facts.rows("limits").iter().find(|row| row["name"] == name)?;
        count(&row["in_force"])
    };
    let millis = |name: &str| limit(name).map(|ms| ms.saturating_mul(1000));
    let cpu = count(&used["cpu_user_us"]).zip(count(&used["cpu_system_us"]));
    let plain: fn(u64) -> String = |number| number.to_string();
    vec![
        ResourceUse {
            name: literal("Wall time"),
            used: count(&used["wall_us"]),
            limit: millis("wall_ms_max"),
            unit: facts::time,
        },
        ResourceUse {
            name: literal("CPU time"),
            used: cpu.map(|(user, system)| user.saturating_add(system)),
            limit: millis("cpu_ms_max"),
            unit: facts::time,
        },
        ResourceUse {
            name: literal("Peak memory"),
            used: count(&used["memory_peak_bytes"]),
            limit: limit("memory_bytes_max"),
            unit: facts::size,
        },
        ResourceUse {
            name: literal("Peak processes"),
            used: count(&used["pids_peak"]),
            limit: limit("pids_max"),
            unit: plain,
        },
        ResourceUse {
            name: literal("Output files"),
            used: count(&used["out_bytes"]),
            limit: limit("out_bytes_max"),
            unit: facts::size,
        },
    ]
}

fn bar(page: &mut Html, it: &ResourceUse) {
    let share = it.used.zip(it.limit).map(|(used, limit)| {
        let share = u128::from(used) * u128::from(WHOLE) / u128::from(limit.max(1));
        u64::try_from(share).unwrap_or(WHOLE).min(WHOLE)
    });
    let display = |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), it.unit);
    page.markup(literal("<li><span class=\"name\">")).markup(it.name);
    page.markup(literal("</span><span class=\"share\">")).text(&display(it.used));
    page.markup(literal(" of ")).text(&display(it.limit));
    page.markup(literal("</span><svg viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" \
                         aria-hidden=\"true\" focusable=\"false\"><rect class=\"track\" width=\"100\" height=\"4\"/>"));
    if let Some(share) = share.filter(|_| it.used != Some(0)) {
        let class = match share {
            90_000.. => " class=\"high\"",
            _ => " class=\"used\"",
        };
        page.markup(literal("<rect")).markup(literal(class)).markup(literal(" width=\""));
        page.milli(share.max(VISIBLE_MIN)).markup(literal("\" height=\"4\"/>"));
    }
    page.markup(literal("</svg></li>\n"));
}

/// Formats a limit in the unit that its name ends with.
fn display_limit(name: &str, value: &Value) -> String {
    match count(value) {
        Some(bytes) if name.contains("bytes") => facts::size(bytes),
        Some(ms) if name.contains("_ms_") => facts::time(ms.saturating_mul(1000)),
        _ => facts::display(value),
    }
}
