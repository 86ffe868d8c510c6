//! Pages of the documentation. Must never change one: a test that leaves out a part quotes it.

use std::fs;

use crate::programs::workspace;

/// A page, or one section of it.
pub struct DocPage {
    name: String,
    text: String,
}

impl DocPage {
    /// Reads a page by its path in the workspace.
    ///
    /// # Panics
    /// Panics if the page does not exist.
    #[must_use]
    #[track_caller]
    pub fn open(name: &str) -> Self {
        let text = fs::read_to_string(workspace().join(name));
        Self { name: name.to_owned(), text: text.unwrap_or_else(|error| panic!("{name}: {error}")) }
    }

    /// Reads README.md and every page of docs/.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let names = crate::list(&workspace().join("docs"));
        let mut pages = vec![Self::open("README.md")];
        let pages_of_docs = names.iter().filter(|name| name.ends_with(".md"));
        pages.extend(pages_of_docs.map(|name| Self::open(&format!("docs/{name}"))));
        pages
    }

    /// The path of the page, and the heading for a section.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the section below a heading of the second level, up to the next such heading.
    ///
    /// # Panics
    /// Panics if the heading does not exist.
    #[must_use]
    #[track_caller]
    pub fn section(&self, heading: &str) -> Self {
        let name = format!("{}, {heading}", self.name);
        let (_, rest) = self
            .text
            .split_once(&format!("\n## {heading}\n"))
            .unwrap_or_else(|| panic!("{name}: there is no such section"));
        let text = rest.split("\n## ").next().unwrap_or(rest);
        Self { name, text: format!("\n{text}\n") }
    }

    /// Returns the code blocks of a language. Users type the `sh` blocks.
    #[must_use]
    pub fn blocks(&self, language: &str) -> Vec<String> {
        let begin = format!("\n```{language}\n");
        let after = self.text.split(&begin).skip(1);
        after.filter_map(|rest| rest.split("\n```").next()).map(|it| format!("{it}\n")).collect()
    }

    /// Joins all `sh` blocks in order.
    #[must_use]
    pub fn script(&self) -> String {
        self.blocks("sh").join("\n")
    }
}
