//! The runtime of an interpreter that is a backend. It sees none of the host's programs, no
//! processes and no variables of a policy, and only its temporary data can be written.

use model::Language;

use super::{BinaryRule, HeapRule, ProcRule, RuntimeRule, TmpRule};
use crate::aana::{RiskDomain, ToolCategory};

/// The first words of commands that the interpreter runs.
const WORDS: [&str; 2] = ["python", "python3"];

impl RuntimeRule {
    /// Makes the runtime of the backend with this name.
    pub(crate) fn of_interpreter(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            language: Language::Python,
            words: WORDS.map(str::to_owned).to_vec(),
            binary: BinaryRule::Auto { names: Vec::new() },
            root: None,
            mounts: Vec::new(),
            caches: Vec::new(),
            arguments: Vec::new(),
            tmp: TmpRule::Data,
            proc: ProcRule::None,
            env: Vec::new(),
            pids_min: 1,
            heap: HeapRule::Unset,
            // As the shipped policies have it for Python.
            tool_category: ToolCategory::Write,
            risk_domain: RiskDomain::Research,
        }
    }
}
