//! The documentation of `language.*` and `runtime.*`.

use super::ExampleChange::{Front, Situation};
use super::example::{accepted, rejected};
use super::{DecidedBy, POLICY, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;

pub(super) static UNKNOWN: RuleDoc = RuleDoc {
    code: Code::LanguageUnknown,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "The language chooses the runtime that policy provides. A language outside the schema has \
          no runtime.",
    remedy: "Write python, node, ts, go or ruby, in lower case.",
    examples: &[
        rejected("not in the schema", Front("language", "language: \"perl\"")),
        rejected("a capital letter", Front("language", "language: \"Python\"")),
        accepted("python", Front("language", "language: \"python\"")),
        accepted("ruby", Front("language", "language: \"ruby\"")),
    ],
};

pub(super) static SHELL: RuleDoc = RuleDoc {
    code: Code::LanguageShell,
    severity: RuleSeverity::Error,
    decided_by: TEXT,
    source: "tool-request schema, Forbidden Content",
    why: "A shell turns one line into any number of programs, which a reader cannot see. \
          `shell_forbidden` in the schema states this rule and is not a choice.",
    remedy: "Write a script in one of the languages and declare it as an input.",
    examples: &[
        rejected("a shell", Front("language", "language: \"bash\"")),
        rejected("the schema's placeholder", Front("language", "language: \"shell_forbidden\"")),
        accepted("a language", Front("language", "language: \"python\"")),
        accepted("another language", Front("language", "language: \"go\"")),
    ],
};

pub(super) static MISMATCH: RuleDoc = RuleDoc {
    code: Code::LanguageMismatch,
    severity: RuleSeverity::Error,
    decided_by: POLICY,
    source: "docs/policy.md",
    why: "The approver reads `language` and expects that runtime with its limits. The first word \
          of the command must choose the same runtime.",
    remedy: "Make `language` and the first word of the command agree.",
    examples: &[
        rejected(
            "node for python",
            Situation("`language: python`, and the command begins with `node`."),
        ),
        rejected(
            "go for ruby",
            Situation("`language: ruby`, and the command begins with `go run`."),
        ),
        accepted(
            "the same",
            Situation("`language: python`, and the command begins with `python3`."),
        ),
        accepted(
            "ts by its runner",
            Situation("`language: ts`, and policy lists the word `tsx` for it."),
        ),
    ],
};

pub(super) static RUNTIME_MISSING: RuleDoc = RuleDoc {
    code: Code::RuntimeMissing,
    severity: RuleSeverity::Error,
    decided_by: &[DecidedBy::Policy, DecidedBy::Host],
    source: "docs/policy.md",
    why: "Policy names each runtime by an absolute path. If that program is missing, another of \
          the same name must not run in its place.",
    remedy: "Have the operator install the runtime or name its path in the policy; a request \
             cannot.",
    examples: &[
        rejected(
            "not in the policy",
            Situation("`language: go`, and policy lists no runtime for go."),
        ),
        rejected("not on the host", Situation("Policy names /usr/bin/ruby, which does not exist.")),
        accepted("installed", Situation("Policy names /usr/bin/python3, which exists.")),
        accepted(
            "found by search",
            Situation("`auto`, and the first program of that name is taken."),
        ),
    ],
};

#[cfg(test)]
mod tests {
    use model::Language;

    use super::UNKNOWN;

    #[test]
    fn the_texts_on_languages_name_each() {
        for text in [UNKNOWN.meaning(), UNKNOWN.remedy()] {
            let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
            for language in Language::TEXTS {
                assert!(words.contains(language), "{text:?} does not name {language}");
            }
        }
    }
}
