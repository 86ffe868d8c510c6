//! What may be executed: the runtimes of a policy. A word of a command chooses one of these; it
//! must never become a path, and a binary must never be named by anything but the policy.

use std::path::{Component, Path, PathBuf};

use validator::Language;

use crate::form::{ProcForm, RuntimeForm};
use crate::problem::Problems;

/// The values of the AANA event schema (reference contract 0.1).
const TOOL_CATEGORIES: [&str; 4] = ["public_read", "private_read", "write", "unknown"];
const RISK_DOMAINS: [&str; 14] = [
    "devops",
    "finance",
    "education",
    "hr",
    "legal",
    "pharma",
    "healthcare",
    "commerce",
    "customer_support",
    "security",
    "research",
    "personal_productivity",
    "public_information",
    "unknown",
];

/// Top directories that the cell makes itself, or that are no files at all.
const NOT_MOUNTABLE: [&str; 6] = ["proc", "sys", "dev", "in", "out", "tmp"];

/// Where the binary of a runtime comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BinaryRule {
    /// The first real program of one of these names that the host offers.
    Auto {
        /// Plain file names, in the order to look for them.
        names: Vec<String>,
    },
    /// This file, links in it followed by the daemon.
    Path(PathBuf),
}

/// What of `/proc` a run sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcView {
    /// Nothing.
    None,
    /// Its own processes.
    Pid,
}

/// One runtime that a policy offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Runtime {
    name: String,
    language: Language,
    words: Vec<String>,
    binary: BinaryRule,
    mounts: Vec<PathBuf>,
    proc: ProcView,
    env: Vec<(String, String)>,
    pids_min: u64,
    heap_flag: Option<String>,
    tool_category: String,
    risk_domain: String,
}

impl Runtime {
    /// The name of the entry, unique in its policy.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The language of requests that may use it.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// The first words of commands that choose it.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Where its binary comes from.
    #[must_use]
    pub fn binary(&self) -> &BinaryRule {
        &self.binary
    }

    /// Host directories that the cell sees, read-only.
    #[must_use]
    pub fn mounts(&self) -> &[PathBuf] {
        &self.mounts
    }

    /// What of `/proc` the cell sees.
    #[must_use]
    pub fn proc(&self) -> ProcView {
        self.proc
    }

    /// Environment variables beside those of every cell.
    #[must_use]
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// The option that tells the runtime its heap size in MiB, where it must be told.
    #[must_use]
    pub fn heap_flag(&self) -> Option<&str> {
        self.heap_flag.as_deref()
    }

    /// The kind of act that a run is, in the words of the AANA contract.
    #[must_use]
    pub fn tool_category(&self) -> &str {
        &self.tool_category
    }

    /// The domain of risk of a run, in the words of the AANA contract.
    #[must_use]
    pub fn risk_domain(&self) -> &str {
        &self.risk_domain
    }

    /// Processes and threads without which the runtime hangs or aborts.
    pub(crate) fn pids_min(&self) -> u64 {
        self.pids_min
    }

    pub(crate) fn check(
        name: String,
        form: RuntimeForm,
        auto_allowed: bool,
        problems: &mut Problems<'_>,
    ) -> Self {
        let mut entry = Entry { at: format!("runtimes.{name}"), problems };
        let language = entry.language(&form.language);
        entry.names(&name, &form);
        let binary = entry.binary(&form, auto_allowed);
        let mounts = entry.mounts(&form.mounts);
        entry.env(&form);
        Self {
            name,
            language,
            words: form.words,
            binary,
            mounts,
            proc: match form.proc {
                ProcForm::None => ProcView::None,
                ProcForm::Pid => ProcView::Pid,
            },
            env: form.env.into_iter().collect(),
            pids_min: form.pids_min.0,
            heap_flag: form.heap_flag,
            tool_category: form.tool_category,
            risk_domain: form.risk_domain,
        }
    }
}

/// One entry while it is checked.
struct Entry<'a, 'b> {
    at: String,
    problems: &'a mut Problems<'b>,
}

impl Entry<'_, '_> {
    fn wrong(&mut self, key: &str, what: impl Into<String>, advice: &str) {
        self.problems.add(&format!("{}.{key}", self.at), what, advice);
    }

    fn names(&mut self, name: &str, form: &RuntimeForm) {
        if !is_slug(name) {
            let at = self.at.clone();
            self.problems.add(&at, "not a name", "use 1 to 32 of a-z, 0-9, `-` and `_`");
        }
        self.one_of("tool_category", &form.tool_category, &TOOL_CATEGORIES);
        self.one_of("risk_domain", &form.risk_domain, &RISK_DOMAINS);
        if form.words.is_empty() {
            self.wrong("words", "empty", "name at least one word that chooses this runtime");
        }
        for word in form.words.iter().filter(|word| !is_word(word)) {
            let advice = "use letters, digits, `.`, `_`, `+`, `-`; a word is never a path";
            self.wrong("words", format!("`{word}` is not a command word"), advice);
        }
        if form.pids_min.0 == 0 {
            self.wrong("pids_min", "is 0", "every runtime needs at least 1");
        }
        if let Some(flag) = form.heap_flag.as_deref().filter(|flag| !is_long_option(flag)) {
            let advice = "write the option alone, such as --max-old-space-size";
            self.wrong("heap_flag", format!("`{flag}` is not a long option"), advice);
        }
    }

    fn language(&mut self, written: &str) -> Language {
        let known = Language::ALL.map(Language::as_str);
        self.one_of("language", written, &known);
        // After the problem above the entry is thrown away, so the stand-in is never used.
        Language::ALL.into_iter().find(|it| it.as_str() == written).unwrap_or(Language::Python)
    }

    fn one_of(&mut self, key: &str, value: &str, known: &[&str]) {
        if !known.contains(&value) {
            let advice = format!("write one of {}", known.join(", "));
            self.wrong(key, format!("`{value}` is not known"), &advice);
        }
    }

    fn binary(&mut self, form: &RuntimeForm, auto_allowed: bool) -> BinaryRule {
        if form.binary == "auto" {
            if !auto_allowed {
                let advice = "name the binary by absolute path, or set approval.invoker: true";
                self.wrong("binary", "`auto` is for the person's own run only", advice);
            }
            return BinaryRule::Auto { names: form.words.clone() };
        }
        let path = PathBuf::from(&form.binary);
        if !is_plain_absolute(&path) || path.file_name().is_none() {
            let what = format!("`{}` is not an absolute path", form.binary);
            self.wrong("binary", what, "write it from the root and without `..`");
        }
        BinaryRule::Path(path)
    }

    fn mounts(&mut self, written: &[String]) -> Vec<PathBuf> {
        let mut mounts: Vec<PathBuf> = Vec::new();
        for text in written {
            let path = PathBuf::from(text);
            if !is_plain_absolute(&path) {
                let what = format!("`{text}` is not an absolute path");
                self.wrong("mounts", what, "write it from the root and without `..`");
            } else if !is_mountable(&path) {
                let advice = "name a directory of programs, such as /usr";
                self.wrong("mounts", format!("`{text}` must not be shown to a run"), advice);
            } else if mounts.contains(&path) {
                self.wrong("mounts", format!("`{text}` appears twice"), "keep one of them");
            } else {
                mounts.push(path);
            }
        }
        mounts
    }

    fn env(&mut self, form: &RuntimeForm) {
        for (name, value) in &form.env {
            if !is_variable(name) {
                let what = format!("`{name}` is not a variable name");
                self.wrong("env", what, "use letters, digits and `_`, not beginning with a digit");
            }
            if value.chars().any(char::is_control) {
                let what = format!("`{name}` holds a control character");
                self.wrong("env", what, "write a value of one line");
            }
        }
    }
}

/// The name of a runtime or policy.
pub(crate) fn is_slug(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    (1..=32).contains(&name.len()) && name.bytes().all(allowed)
}

fn is_word(word: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._+-".contains(&b);
    (1..=64).contains(&word.len())
        && word.bytes().all(allowed)
        && word.starts_with(|first: char| first.is_ascii_alphanumeric())
}

fn is_variable(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

fn is_long_option(flag: &str) -> bool {
    flag.strip_prefix("--").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
    })
}

fn is_plain_absolute(path: &Path) -> bool {
    let text = path.to_str().unwrap_or("");
    path.is_absolute()
        && !text.chars().any(char::is_control)
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// The root itself would show the whole host.
fn is_mountable(path: &Path) -> bool {
    match path.components().nth(1) {
        Some(Component::Normal(top)) => !NOT_MOUNTABLE.iter().any(|name| top == *name),
        _ => false,
    }
}
