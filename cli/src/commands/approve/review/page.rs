//! The text of a review, line by line.

use std::fmt::Write as _;

pub(super) struct ReviewPage(pub(super) String);

impl ReviewPage {
    pub(super) fn title(&mut self, title: &str) {
        self.line(format_args!("\n{title}"));
    }

    pub(super) fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        writeln!(self.0, "{line}").unwrap_or_default();
    }

    pub(super) fn row(&mut self, name: &str, value: impl std::fmt::Display) {
        self.line(format_args!("  {name:<13}{value}"));
    }
}
