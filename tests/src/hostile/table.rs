//! The table of results: a row for each case, a column for each way to run it. Never judges.

use std::fmt::Write as _;

use super::{CaseMode, CaseRun, CaseVerdict, HostileCase};

struct CaseRow {
    case: String,
    expected: String,
    values: Vec<String>,
}

/// Cases, expectations and results.
#[derive(Default)]
pub struct CaseTable {
    columns: Vec<String>,
    rows: Vec<CaseRow>,
    notes: Vec<String>,
}

impl CaseTable {
    /// A table with a row for each case.
    #[must_use]
    pub fn of(cases: &[HostileCase]) -> Self {
        let row = |case: &HostileCase| CaseRow {
            case: case.name.clone(),
            expected: expectation(case),
            values: Vec::new(),
        };
        Self { rows: cases.iter().map(row).collect(), ..Self::default() }
    }

    /// Adds a column with one value for each case, in order.
    pub fn column(&mut self, name: &str, values: Vec<String>) {
        assert_eq!(values.len(), self.rows.len());
        self.columns.push(name.to_owned());
        for (row, value) in self.rows.iter_mut().zip(values) {
            row.values.push(value);
        }
    }

    /// Adds a line below the table.
    pub fn note(&mut self, line: String) {
        self.notes.push(line);
    }

    /// Returns the table as aligned Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut lines = vec![vec!["case".to_owned(), "expected".to_owned()]];
        lines[0].extend(self.columns.iter().cloned());
        for row in &self.rows {
            let mut line = vec![row.case.clone(), row.expected.clone()];
            line.extend(row.values.iter().cloned());
            lines.push(line);
        }
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let widths: Vec<usize> = (0..lines[0].len()).map(|at| width(at).unwrap_or(0)).collect();
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            for (value, width) in line.iter().zip(&widths) {
                write!(text, "| {value:width$} ").unwrap();
            }
            text.push_str("|\n");
            if at == 0 {
                for width in &widths {
                    write!(text, "|{}", "-".repeat(width + 2)).unwrap();
                }
                text.push_str("|\n");
            }
        }
        for note in &self.notes {
            write!(text, "\n{note}\n").unwrap();
        }
        text
    }
}

/// Returns the expected outcome and other expectations, for each mode if they differ.
fn expectation(case: &HostileCase) -> String {
    let of = |mode| {
        let mut words = vec![case.first_value("expect", mode).unwrap_or_default().to_owned()];
        words.extend(case.values("stdout", mode).first().map(|line| format!("`{line}`")));
        words.extend(case.values("rejects", mode).iter().map(|row| format!("rejects {row}")));
        words.extend(case.values("keeps", mode).iter().map(|path| format!("keeps {path}")));
        words.extend(case.values("lacks", mode).iter().map(|path| format!("lacks {path}")));
        words.join(", ")
    };
    let (system, user) = (of(CaseMode::System), of(CaseMode::User));
    if system == user { system } else { format!("{system}; user mode: {user}") }
}

impl CaseVerdict {
    /// Returns the text of a verdict for the table.
    #[must_use]
    pub fn table_text(&self, got: Option<&CaseRun>) -> String {
        let ending = got.map(|got| match got.outcome.as_str() {
            "signal" => format!("signal {}", got.exit_code - 128),
            "exit_nonzero" => format!("exit_nonzero {}", got.exit_code),
            outcome => outcome.to_owned(),
        });
        let ending = ending.unwrap_or_default();
        match self {
            Self::Expected => ending,
            Self::Known(why) => format!("KNOWN GAP: {ending}: {why}"),
            Self::Differs(wrong) => format!("DIFFERS: {ending}: {}", wrong.join("; ")),
            Self::Skipped(why) => format!("skipped: {why}"),
        }
        .replace('|', "/")
    }
}
