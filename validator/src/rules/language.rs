//! The documentation of `language.*` and `runtime.*`.

use super::Example::{Front, Words};
use super::case::{bad, good};
use super::{By, POLICY, Rule, TEXT, Weight};
use crate::code::Code;

pub(super) static UNKNOWN: Rule = Rule {
    code: Code::LanguageUnknown,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Required Front Matter",
    why: "The language chooses the runtime that policy provides. A language outside the schema has \
          no runtime.",
    remedy: "Write python, node, ts, go or ruby, in lower case.",
    cases: &[
        bad("not in the schema", Front("language", "language: \"perl\"")),
        bad("a capital letter", Front("language", "language: \"Python\"")),
        good("python", Front("language", "language: \"python\"")),
        good("ruby", Front("language", "language: \"ruby\"")),
    ],
};

pub(super) static SHELL: Rule = Rule {
    code: Code::LanguageShell,
    severity: Weight::Error,
    decided: TEXT,
    source: "tool-request schema, Forbidden Content",
    why: "A shell turns one line into any number of programs, which a reader cannot see. \
          `shell_forbidden` in the schema states this rule and is not a choice.",
    remedy: "Write a script in one of the languages and declare it as an input.",
    cases: &[
        bad("a shell", Front("language", "language: \"bash\"")),
        bad("the schema's placeholder", Front("language", "language: \"shell_forbidden\"")),
        good("a language", Front("language", "language: \"python\"")),
        good("another language", Front("language", "language: \"go\"")),
    ],
};

pub(super) static MISMATCH: Rule = Rule {
    code: Code::LanguageMismatch,
    severity: Weight::Error,
    decided: POLICY,
    source: "design, Policy",
    why: "The approver reads `language` and expects that runtime with its limits. The first word \
          of the command must choose the same runtime.",
    remedy: "Make `language` and the first word of the command agree.",
    cases: &[
        bad("node for python", Words("`language: python`, and the command begins with `node`.")),
        bad("go for ruby", Words("`language: ruby`, and the command begins with `go run`.")),
        good("the same", Words("`language: python`, and the command begins with `python3`.")),
        good("ts by its runner", Words("`language: ts`, and policy lists the word `tsx` for it.")),
    ],
};

pub(super) static RUNTIME_MISSING: Rule = Rule {
    code: Code::RuntimeMissing,
    severity: Weight::Error,
    decided: &[By::Policy, By::Host],
    source: "design, Policy",
    why: "Policy names each runtime by an absolute path. If that program is missing, another of \
          the same name must not run in its place.",
    remedy: "Have the operator install the runtime or name its path in the policy; a request \
             cannot.",
    cases: &[
        bad("not in the policy", Words("`language: go`, and policy lists no runtime for go.")),
        bad("not on the host", Words("Policy names /usr/bin/ruby, which does not exist.")),
        good("installed", Words("Policy names /usr/bin/python3, which exists.")),
        good("found by search", Words("`auto`, and the first program of that name is taken.")),
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
