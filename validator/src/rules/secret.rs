//! The documentation of the family `secret.*`. No example may be written in the form that it warns
//! about. Each is assembled from pieces, so that a secret scanner finds none in this repository.

use super::Example::{Command, Front, Prose};
use super::case::{bad, good, warned};
use super::{Member, Rule, TEXT, Weight};
use crate::code::Code;
use crate::secrets::secret_kinds;

pub(super) fn members() -> Vec<Member> {
    secret_kinds().iter().map(|kind| Member { name: kind.name, what: kind.what }).collect()
}

pub(super) static SECRET: Rule = Rule {
    code: Code::Secret("<kind>"),
    severity: Weight::Depends {
        error: "where the form or its context identifies it",
        warning: "where only words suggest it: a service's name, `the password is`",
    },
    decided: TEXT,
    source: "tool-request schema, Forbidden Content; tool-result schema, last section",
    why: "Requests and results are kept for years, signed and read by many. A secret in one of \
          them is disclosed, whatever happens to the file later.",
    remedy: "Replace the secret itself, since it counts as disclosed, and remove it from the text. \
             Policy provides the secrets that a tool may use.",
    cases: &[
        bad("a key in the text", Prose("Use the key AKIA«Z7QX × 4» for it.")),
        bad(
            "a password as an option",
            Command("python script.py /in/input.csv --password=r4b«k9T × 3»"),
        ),
        bad("behind an escape", Front("purpose", "purpose: \"With \\x41KIA«Z7QX × 4».\"")),
        bad("a private key", Prose("-----BEGIN «OPENSSH PRIVATE × 1» KEY-----")),
        bad("a token whose checksum is wrong", Prose("Use ghp_«aB3x × 9» for it.")),
        warned("a password in a sentence", Prose("The password is «Blau × 1»«7Wal × 1».")),
        warned("in another language", Prose("Passwort: «Blau × 1»«7Wal × 1»")),
        warned("a value by its service", Prose("Set ADAFRUIT_KEY=«a7c1e9f2 × 4» first.")),
        warned("an AWS key in base64", Prose("It is «QUtJQVo3 × 1»«UVhaN1FYWjdRWFo3UVg= × 1».")),
        good("the word alone", Prose("A password is not needed; the token is kept elsewhere.")),
        good("a file in place of the secret", Command("python script.py --password=/in/input.csv")),
    ],
};
