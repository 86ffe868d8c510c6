//! The client data: the text in which a browser states the page that asked and its challenge
//! (WebAuthn level 3, section 5.8.1). OpenSSH compares only its beginning. Here the whole text must
//! state the same, because other readers of a record parse it.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::Value;

use super::model::WebauthnProblem;

/// The maximum size of the text in bytes. Browsers write a few hundred.
const CLIENT_DATA_BYTES_MAX: usize = 4 * 1024;

/// The type of an assertion; `webauthn.create` is that of a new key.
const ASSERTION_TYPE: &str = "webauthn.get";

/// Returns whether the text begins as OpenSSH requires for these signed bytes and this origin.
pub(super) fn begins_with(text: &[u8], signed: &[u8], origin: &str) -> bool {
    let challenge = Base64UrlUnpadded::encode_string(signed);
    let beginning =
        format!(r#"{{"type":"{ASSERTION_TYPE}","challenge":"{challenge}","origin":"{origin}""#);
    // A quote in the origin could end the member early.
    !origin.contains('"') && text.starts_with(beginning.as_bytes())
}

/// Checks the whole text, whose beginning has been compared. Unknown members are allowed: browsers
/// add one at times, so that no program compares the text with a template.
pub(super) fn check(text: &[u8], origin: &str) -> Result<(), WebauthnProblem> {
    let read = validator::read_json(text, CLIENT_DATA_BYTES_MAX);
    let read = read.map_err(|_| WebauthnProblem::ClientData)?;
    let Value::Object(members) = read else { return Err(WebauthnProblem::ClientData) };
    for (name, expected) in [("type", ASSERTION_TYPE), ("origin", origin)] {
        if members.get(name).and_then(Value::as_str) != Some(expected) {
            return Err(WebauthnProblem::Member(name));
        }
    }
    let is_embedded = members.get("crossOrigin").is_some_and(|it| *it != Value::Bool(false))
        || members.contains_key("topOrigin");
    if is_embedded { Err(WebauthnProblem::Embedded) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: &str = "https://approve.example";

    fn checked(members: &str) -> Result<(), WebauthnProblem> {
        let text =
            format!(r#"{{"type":"webauthn.get","challenge":"x","origin":"{ORIGIN}"{members}"#);
        check(text.as_bytes(), ORIGIN)
    }

    #[test]
    fn members_beyond_the_known_are_allowed_and_second_ones_are_not() {
        for members in ["}", ",\"crossOrigin\":false}", ",\"later\":{\"a\":[1]}}", "}\n"] {
            assert_eq!(checked(members), Ok(()), "{members}");
        }
        for members in ["", "}x", "}{}", ",\"origin\":\"https://a.example\"}", ",\"a\":1,\"a\":1}"]
        {
            assert_eq!(checked(members), Err(WebauthnProblem::ClientData), "{members}");
        }
        let long = format!(",\"a\":\"{}\"}}", "a".repeat(CLIENT_DATA_BYTES_MAX));
        assert_eq!(checked(&long), Err(WebauthnProblem::ClientData));
        for members in [
            ",\"crossOrigin\":true}",
            ",\"crossOrigin\":null}",
            ",\"crossOrigin\":\"false\"}",
            ",\"topOrigin\":\"https://a.example\"}",
            ",\"topOrigin\":null}",
        ] {
            assert_eq!(checked(members), Err(WebauthnProblem::Embedded), "{members}");
        }
    }

    #[test]
    fn the_members_must_be_those_that_were_compared() {
        assert_eq!(check(b"[]", ORIGIN), Err(WebauthnProblem::ClientData));
        assert_eq!(check(b"{}", ORIGIN), Err(WebauthnProblem::Member("type")));
        let text = br#"{"type":"webauthn.get","challenge":"","origin":"https:\/\/a.example"}"#;
        assert_eq!(check(text, r"https:\/\/a.example"), Err(WebauthnProblem::Member("origin")));
    }
}
