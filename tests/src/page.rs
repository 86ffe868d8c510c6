//! A page of the documentation, as those read it who type what it says. It must never change what stands
//! there: what a test has to leave out it names by its own words.

use std::fs;

use crate::programs::workspace;

/// One page, or one section of it.
pub struct Page {
    name: String,
    text: String,
}

impl Page {
    /// A page by its path in the workspace.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    #[track_caller]
    pub fn open(name: &str) -> Self {
        let text = fs::read_to_string(workspace().join(name));
        Self { name: name.to_owned(), text: text.unwrap_or_else(|error| panic!("{name}: {error}")) }
    }

    /// README and every page of docs/.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let names = crate::list(&workspace().join("docs"));
        let mut pages = vec![Self::open("README.md")];
        let pages_of_docs = names.iter().filter(|name| name.ends_with(".md"));
        pages.extend(pages_of_docs.map(|name| Self::open(&format!("docs/{name}"))));
        pages
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// From a heading of the second level to the next of them.
    ///
    /// # Panics
    /// There is no such heading.
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

    /// The blocks that are marked with a language; `sh` is what is meant to be typed.
    #[must_use]
    pub fn blocks(&self, language: &str) -> Vec<String> {
        let begin = format!("\n```{language}\n");
        let after = self.text.split(&begin).skip(1);
        after.filter_map(|rest| rest.split("\n```").next()).map(|it| format!("{it}\n")).collect()
    }

    /// Everything that is meant to be typed, in its order.
    #[must_use]
    pub fn script(&self) -> String {
        self.blocks("sh").join("\n")
    }
}
