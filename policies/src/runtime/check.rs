//! Checks one runtime entry of a policy file and makes its rule. It reports every problem. It must
//! never accept a path that shows a run more of the host than programs.

use std::collections::BTreeMap;

use model::Language;

use super::syntax::{is_long_option, is_slug, is_variable, is_word};
use super::{BinaryRule, CacheRule, HeapRule, ProcRule, RuntimeRule, TmpRule};
use crate::aana::{RiskDomain, ToolCategory};
use crate::problem::Problems;
use crate::raw::{RawProcRule, RawRuntime, RawTmpRule};

/// The most variables of one runtime. The launcher takes 256, and those of caches, an environment
/// and a network are among them.
const VARIABLES_MAX: usize = 128;
/// The most bytes of the names and values together. The command of a request has most of a message
/// to the launcher.
const VARIABLE_BYTES_MAX: usize = 4096;
/// The most arguments of one runtime, and their bytes together.
const ARGUMENTS_MAX: usize = 64;
const ARGUMENT_BYTES_MAX: usize = 4096;

impl RuntimeRule {
    pub(crate) fn check(
        name: String,
        form: RawRuntime,
        auto_allowed: bool,
        problems: &mut Problems<'_>,
    ) -> Self {
        let mut entry = RuntimeCheck { at: format!("runtimes.{name}"), problems };
        let language = entry.language(&form.language);
        entry.names(&name, &form);
        let binary = entry.binary(&form, auto_allowed);
        let root = entry.root(&form);
        let mounts = entry.mounts(&form.mounts);
        let heap = entry.heap(&form);
        let caches = entry.caches(&form.caches);
        entry.env(&form.env);
        entry.check_duplicate_variables(&form.env, &caches, &heap);
        entry.arguments(&form.arguments);
        Self {
            name,
            language,
            words: form.words,
            binary,
            root,
            mounts,
            caches,
            arguments: form.arguments.unwrap_or_default(),
            tmp: match form.tmp {
                RawTmpRule::Data => TmpRule::Data,
                RawTmpRule::Programs => TmpRule::Programs,
            },
            proc: match form.proc {
                RawProcRule::None => ProcRule::None,
                RawProcRule::Pid => ProcRule::Pid,
                RawProcRule::Full => ProcRule::Full,
            },
            env: form.env.into_iter().collect(),
            pids_min: form.pids_min.0,
            heap,
            // An unknown value was reported above, so no such policy is used.
            tool_category: ToolCategory::named(&form.tool_category)
                .unwrap_or(ToolCategory::Unknown),
            risk_domain: RiskDomain::named(&form.risk_domain).unwrap_or(RiskDomain::Unknown),
        }
    }
}

pub(super) struct RuntimeCheck<'a, 'b> {
    at: String,
    problems: &'a mut Problems<'b>,
}

impl RuntimeCheck<'_, '_> {
    pub(super) fn report(&mut self, key: &str, what: impl Into<String>, advice: &str) {
        self.problems.add(&format!("{}.{key}", self.at), what, advice);
    }

    fn names(&mut self, name: &str, form: &RawRuntime) {
        if !is_slug(name) {
            let at = self.at.clone();
            self.problems.add(&at, "not a valid name", "use 1 to 32 of a-z, 0-9, `-` and `_`");
        }
        self.one_of("tool_category", &form.tool_category, ToolCategory::TEXTS);
        self.one_of("risk_domain", &form.risk_domain, RiskDomain::TEXTS);
        if form.words.is_empty() {
            self.report("words", "is empty", "name at least one word that chooses this runtime");
        }
        for word in form.words.iter().filter(|word| !is_word(word)) {
            let advice = "use letters, digits, `.`, `_`, `+` and `-`, and no path";
            self.report("words", format!("`{word}` is not a command word"), advice);
        }
        if form.pids_min.0 == 0 {
            self.report("pids_min", "is 0", "write 1 or more");
        }
    }

    fn heap(&mut self, form: &RawRuntime) -> HeapRule {
        match (form.heap_flag.clone(), form.heap_variable.clone()) {
            (None, None) => HeapRule::Unset,
            (Some(flag), None) => {
                if !is_long_option(&flag) {
                    let advice = "write the option alone, such as --max-old-space-size";
                    self.report("heap_flag", format!("`{flag}` is not a long option"), advice);
                }
                HeapRule::Flag(flag)
            }
            (None, Some(name)) => {
                self.variable("heap_variable", &name);
                HeapRule::Variable(name)
            }
            (Some(_), Some(_)) => {
                let advice = "keep one of the two keys";
                self.report("heap_variable", "cannot be combined with heap_flag", advice);
                HeapRule::Unset
            }
        }
    }

    fn language(&mut self, written: &str) -> Language {
        self.one_of("language", written, Language::TEXTS);
        // The problem above discards the entry, so this placeholder is never used.
        Language::named(written).unwrap_or(Language::Python)
    }

    fn one_of(&mut self, key: &str, value: &str, known: &[&str]) {
        if !known.contains(&value) {
            let advice = format!("write one of {}", known.join(", "));
            self.report(key, format!("`{value}` is not a known value"), &advice);
        }
    }

    fn binary(&mut self, form: &RawRuntime, auto_allowed: bool) -> BinaryRule {
        if form.binary == "auto" {
            if !auto_allowed {
                let advice = "write the absolute path of the binary, or set approval.invoker: true";
                self.report("binary", "`auto` needs approval.invoker: true", advice);
            }
            return BinaryRule::Auto { names: self.auto_names(form) };
        }
        if form.names.is_some() {
            let advice = "remove the key, or write `binary: auto`";
            self.report("names", "is for `binary: auto` only", advice);
        }
        let path = self.absolute("binary", &form.binary);
        if path.file_name().is_none() {
            let what = format!("`{}` is not an absolute path", form.binary);
            self.report("binary", what, "write it from the root, without `..`");
        }
        BinaryRule::Path(path)
    }

    /// Returns the program names of `auto`. They may differ from `words`: node runs `tsx`.
    fn auto_names(&mut self, form: &RawRuntime) -> Vec<String> {
        let Some(names) = &form.names else { return form.words.clone() };
        if names.is_empty() {
            self.report("names", "is empty", "name a program, or remove the key");
        }
        for name in names.iter().filter(|name| !is_word(name)) {
            let advice = "write a file name, such as node";
            self.report("names", format!("`{name}` is not the name of a program"), advice);
        }
        names.clone()
    }

    fn arguments(&mut self, arguments: &Option<Vec<String>>) {
        let count = arguments.as_ref().map_or(0, Vec::len);
        let bytes: usize = arguments.iter().flatten().map(String::len).sum();
        if count > ARGUMENTS_MAX || bytes > ARGUMENT_BYTES_MAX {
            let what = format!("has {count} arguments of {bytes} bytes");
            let advice =
                format!("write at most {ARGUMENTS_MAX}, of {ARGUMENT_BYTES_MAX} bytes together");
            self.report("arguments", what, &advice);
        }
        for word in arguments.iter().flatten() {
            if word.is_empty() || word.chars().any(char::is_control) {
                let what = format!("`{}` is not an argument", word.escape_default());
                self.report("arguments", what, "write one line that is not empty");
            }
        }
    }

    fn env(&mut self, env: &BTreeMap<String, String>) {
        if env.len() > VARIABLES_MAX {
            let advice = format!("write {VARIABLES_MAX} or less");
            self.report("env", format!("has {} variables", env.len()), &advice);
        }
        for (name, value) in env {
            self.variable("env", name);
            if value.chars().any(char::is_control) {
                let what = format!("the value of `{name}` contains a control character");
                self.report("env", what, "write a value of one line");
            }
        }
        let bytes: usize = env.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > VARIABLE_BYTES_MAX {
            let advice = format!("write at most {VARIABLE_BYTES_MAX} bytes of names and values");
            self.report("env", format!("has {bytes} bytes"), &advice);
        }
    }

    pub(super) fn variable(&mut self, key: &str, name: &str) {
        if !is_variable(name) {
            let what = format!("`{name}` is not a variable name");
            self.report(key, what, "use letters, digits and `_`, not beginning with a digit");
        }
    }

    /// Reports a variable that is set twice; libc would decide which value counts.
    fn check_duplicate_variables(
        &mut self,
        env: &BTreeMap<String, String>,
        caches: &[CacheRule],
        heap: &HeapRule,
    ) {
        let mut seen: Vec<&str> = env.keys().map(String::as_str).collect();
        let of_caches = caches.iter().filter_map(|it| Some(("caches", it.variable.as_deref()?)));
        let of_heap = match heap {
            HeapRule::Variable(name) => Some(("heap_variable", name.as_str())),
            HeapRule::Unset | HeapRule::Flag(_) => None,
        };
        for (key, name) in of_caches.chain(of_heap) {
            if seen.contains(&name) {
                self.report(key, format!("`{name}` is set twice"), "set it in one place");
            }
            seen.push(name);
        }
    }
}
