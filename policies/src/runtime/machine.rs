//! The runtime of a virtual machine that is a backend: what QEMU and its wrapper see in the
//! sandbox. The tool sees nothing of it.

use model::Language;

use super::{BinaryRule, HeapRule, ProcRule, RuntimeRule, TmpRule};
use crate::aana::{RiskDomain, ToolCategory};

impl RuntimeRule {
    /// Makes the runtime of a root of the backend with this name. A root without a language gets
    /// the one whose system calls QEMU has.
    pub(crate) fn of_machine(name: &str, language: Option<Language>, words: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            language: language.unwrap_or(Language::Python),
            words,
            binary: BinaryRule::Auto { names: Vec::new() },
            root: None,
            mounts: Vec::new(),
            caches: Vec::new(),
            arguments: Vec::new(),
            tmp: TmpRule::Data,
            // QEMU looks for its own program and threads there.
            proc: ProcRule::Pid,
            env: Vec::new(),
            pids_min: 1,
            heap: HeapRule::Unset,
            // As the shipped policies have it for Python.
            tool_category: ToolCategory::Write,
            risk_domain: RiskDomain::Research,
        }
    }
}
