//! The final table of measurements and goals. It prints and must never fail a build, because a slow
//! machine is not a defect (`tests/hostile.rs` has the limits that fail).

use std::fmt::Write as _;

/// One measured time, in seconds.
pub(crate) struct Measurement {
    pub(crate) name: String,
    pub(crate) bytes: usize,
    pub(crate) seconds: f64,
    /// The target time, if any.
    pub(crate) goal: Option<f64>,
}

/// Formats a time in a suitable unit.
pub(crate) fn shown(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Prints the slowest rows first, at least those over their goal, and the number of those.
pub(crate) fn print(title: &str, shown_least: usize, rows: &mut [Measurement]) {
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let over = rows.iter().filter(|row| row.goal.is_some_and(|goal| row.seconds > goal)).count();
    let mut text = format!("\n{title}\n");
    for Measurement { name, bytes, seconds, goal } in rows.iter().take(shown_least.max(over)) {
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
