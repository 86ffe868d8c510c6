//! A published record, read as plain text like any reader would.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::CliOutput;

/// A result directory and its Markdown page.
#[derive(Debug)]
pub struct Record {
    pub path: PathBuf,
    pub text: String,
}

impl Record {
    /// Reads the record that `run --format json` names, and asserts that the JSON matches it.
    #[must_use]
    #[track_caller]
    pub fn of(output: &CliOutput) -> Self {
        let json = output.json();
        let record = Self::at(Path::new(json["record"].as_str().unwrap()));
        assert_eq!(json["verified"], true, "{output:#?}");
        assert_eq!(json["outcome"].as_str(), Some(record.outcome()), "{output:#?}");
        assert_eq!(
            json["exit_code"].to_string(),
            record.front_matter_value("exit_code"),
            "{output:#?}"
        );
        assert_eq!(json["result_id"].as_str(), Some(record.id()), "{output:#?}");
        record
    }

    /// Reads the record in a result directory.
    #[must_use]
    #[track_caller]
    pub fn at(path: &Path) -> Self {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(path.join(format!("{name}.md")));
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path: path.to_owned(), text }
    }

    /// Returns a value of the front matter, without its quotes.
    #[must_use]
    #[track_caller]
    pub fn front_matter_value(&self, key: &str) -> &str {
        let front = self.text.split("\n---\n").next().unwrap();
        let find = |line: &'_ str| line.starts_with(&format!("{key}: "));
        let line = front.lines().find(|line| find(line.trim_start()));
        let line = line.unwrap_or_else(|| panic!("no {key} in {}", self.text)).trim_start();
        line[key.len() + 2..].trim_matches('"')
    }

    #[must_use]
    pub fn outcome(&self) -> &str {
        self.front_matter_value("outcome")
    }

    /// The result id, which is the name of the directory.
    #[must_use]
    pub fn id(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    #[must_use]
    #[track_caller]
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.path.join("stdout")).unwrap()).into_owned()
    }

    #[must_use]
    #[track_caller]
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.path.join("stderr")).unwrap()).into_owned()
    }

    #[track_caller]
    pub fn assert_outcome(&self, outcome: &str) {
        assert_eq!(
            self.outcome(),
            outcome,
            "stdout: {}\nstderr: {}\n{}",
            self.stdout(),
            self.stderr(),
            self.text
        );
    }

    /// Asserts that the front matter lists a violation with this code.
    #[track_caller]
    pub fn assert_violation(&self, code: &str) {
        let front = self.text.split("\n---\n").next().unwrap();
        let listed = front.split_once("\nviolations:").map(|(_, rest)| rest).unwrap_or_default();
        assert!(listed.contains(code), "{code} is not in\n{listed}");
    }
}
