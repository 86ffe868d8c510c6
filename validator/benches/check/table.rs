//! The table at the end: what was measured beside what is wanted. It prints; it must never fail a
//! build, for a slow machine is no defect (`tests/hostile.rs` has the limits that are).

use std::fmt::Write as _;

/// One measured time, in seconds.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) bytes: usize,
    pub(crate) seconds: f64,
    /// The most that it should take, if there is a wish.
    pub(crate) goal: Option<f64>,
}

/// A time in the unit that fits it.
pub(crate) fn shown(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// The slowest rows, the slowest first, with every one that is over its goal; and how many are.
pub(crate) fn print(title: &str, shown_least: usize, rows: &mut [Row]) {
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let over = rows.iter().filter(|row| row.goal.is_some_and(|goal| row.seconds > goal)).count();
    let mut text = format!("\n{title}\n");
    for Row { name, bytes, seconds, goal } in rows.iter().take(shown_least.max(over)) {
        let mark = match goal {
            Some(goal) if seconds > goal => format!("OVER {}", shown(*goal)),
            Some(goal) => format!("PASS {}", shown(*goal)),
            None => String::new(),
        };
        let written = writeln!(text, "  {name:<44} {bytes:>7} B {:>10}  {mark}", shown(*seconds));
        written.expect("text takes what is written");
    }
    println!("{text}  {} measured, {over} over the goal", rows.len());
}
