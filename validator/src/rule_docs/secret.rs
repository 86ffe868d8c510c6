//! The documentation of the family `secret.*`. No example may be written in the form that it warns
//! about. Each is assembled from pieces, so that a secret scanner finds none in this repository.

use super::ExampleChange::{Command, Front, Prose};
use super::example::{accepted, rejected, rejected_with_warning};
use super::{Member, RuleDoc, RuleSeverity, TEXT};
use crate::code::Code;
use crate::secrets::secret_kinds;

pub(super) fn members() -> Vec<Member> {
    secret_kinds().iter().map(|kind| Member { name: kind.name, what: kind.what }).collect()
}

pub(super) static SECRET: RuleDoc = RuleDoc {
    code: Code::Secret("<kind>"),
    severity: RuleSeverity::Depends {
        error: "where the form or its context identifies it",
        warning: "where only words suggest it: a service's name, `the password is`",
    },
    decided_by: TEXT,
    source: "tool-request schema, Forbidden Content; tool-result schema, last section",
    why: "Requests and results are kept for years, signed and read by many. A secret in one of \
          them is disclosed, even if the file is removed later.",
    remedy: "Replace the secret itself, since it counts as disclosed, and remove it from the text. \
             Policy provides the secrets that a tool may use.",
    examples: &[
        rejected("a key in the text", Prose("Use the key AKIA«Z7QX × 4» for it.")),
        rejected(
            "a password as an option",
            Command("python script.py /in/input.csv --password=r4b«k9T × 3»"),
        ),
        rejected("behind an escape", Front("purpose", "purpose: \"With \\x41KIA«Z7QX × 4».\"")),
        rejected("a private key", Prose("-----BEGIN «OPENSSH PRIVATE × 1» KEY-----")),
        rejected("a token whose checksum is wrong", Prose("Use ghp_«aB3x × 9» for it.")),
        rejected_with_warning(
            "a password in a sentence",
            Prose("The password is «Blau × 1»«7Wal × 1»."),
        ),
        rejected_with_warning("in another language", Prose("Passwort: «Blau × 1»«7Wal × 1»")),
        rejected_with_warning(
            "a value by its service",
            Prose("Set ADAFRUIT_KEY=«a7c1e9f2 × 4» first."),
        ),
        rejected_with_warning(
            "an AWS key in base64",
            Prose("It is «QUtJQVo3 × 1»«UVhaN1FYWjdRWFo3UVg= × 1»."),
        ),
        accepted("the word alone", Prose("A password is not needed; the token is kept elsewhere.")),
        accepted(
            "a file in place of the secret",
            Command("python script.py --password=/in/input.csv"),
        ),
    ],
};
