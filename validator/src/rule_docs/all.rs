//! Maps a code to its documentation. A code without documentation must not compile.

use super::RuleDoc;
use super::{
    approval, backend, command_form, command_shell, environment, external_codes, frontmatter,
    inputs, language, limits, monty, network, outputs, path, result, risk, schema, secret, section,
    standing, text,
};
use crate::code::{Code, each_code};

/// Returns every rule in the order of the codes; the families come last.
pub fn all() -> impl Iterator<Item = &'static RuleDoc> {
    let families =
        [&secret::SECRET, &external_codes::LAYER, &external_codes::GATE, &external_codes::AIS];
    Code::ALL.iter().map(|code| RuleDoc::of(*code)).chain(families)
}

macro_rules! rule_of_code {
    ($($variant:ident $code:literal $rule:path, $meaning:literal;)*) => {
        impl RuleDoc {
            /// The documentation of this code, or of its family.
            #[must_use]
            pub fn of(code: Code) -> &'static Self {
                match code {
                    $(Code::$variant => &$rule,)*
                    Code::Secret(_) => &secret::SECRET,
                    Code::Layer(_) => &external_codes::LAYER,
                    Code::Gate(_) => &external_codes::GATE,
                    Code::Ais(_) => &external_codes::AIS,
                }
            }
        }
    };
}

each_code!(rule_of_code);
