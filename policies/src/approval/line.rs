//! One line of `allowed_signers`: `principals [options] key-type key [comment]`. It must never
//! interpret a word differently from OpenSSH. A line that it cannot read is refused.

use super::key::SignerKey;
use super::model::{AllowedSigner, AllowedSignersError};
use super::pattern::PatternList;
use super::validity::{StandardTime, ValidityWindow, read_time};

pub(super) fn read(
    line: &str,
    number: usize,
    zone: StandardTime,
) -> Result<AllowedSigner, AllowedSignersError> {
    let wrong = |what: String, advice| AllowedSignersError::new(number, what, advice);
    let short = || wrong("has no key".to_owned(), "write `principal [options] key-type key`");
    let (names, rest) = names(line).ok_or_else(short)?;
    if is_key_type(names) {
        // A `.pub` file, copied unchanged.
        return Err(wrong("has no principal before its key".to_owned(), "write the name first"));
    }
    let principals = PatternList::read(names)
        .map_err(|what| wrong(what, "write names or patterns, separated by commas"))?;
    let (options, key) = if is_key_type(rest) {
        (Options::default(), rest)
    } else {
        let (options, key) = past_quotes(rest).ok_or_else(short)?;
        let options = Options::read(options, zone)
            .map_err(|what| wrong(what, "use namespaces=\"…\", valid-after or valid-before"))?;
        (options, key)
    };
    let key = SignerKey::read(key).map_err(|error| {
        wrong(error.to_string(), "use an ssh-ed25519 or ecdsa-sha2-nistp256 key, or its sk- form")
    })?;
    let Options { namespaces, validity } = options;
    Ok(AllowedSigner {
        principals,
        principals_text: names.to_owned(),
        namespaces,
        validity,
        key,
        person: 0,
    })
}

/// Splits off the names, which may be quoted as a whole.
fn names(text: &str) -> Option<(&str, &str)> {
    let Some(quoted) = text.strip_prefix('"') else { return word(text) };
    let (names, rest) = quoted.split_once('"')?;
    rest.starts_with(BLANKS).then(|| (names, rest.trim_start_matches(BLANKS)))
}

const BLANKS: [char; 2] = [' ', '\t'];

fn word(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once(BLANKS)?;
    Some((first, rest.trim_start_matches(BLANKS)))
}

/// Splits off the first word, in which quoted blanks do not end the word.
fn past_quotes(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let end = text.find(|c: char| {
        quoted ^= c == '"';
        !quoted && BLANKS.contains(&c)
    })?;
    let (first, rest) = text.split_at(end);
    Some((first, rest.trim_start_matches(BLANKS)))
}

/// Returns whether the text begins with a key type, accepted or not. Options never begin like a key
/// type, so the error can name a refused type.
fn is_key_type(text: &str) -> bool {
    let first = word(text).map_or(text, |(first, _)| first);
    ["ssh-", "ecdsa-", "sk-"].iter().any(|prefix| first.starts_with(prefix))
}

#[derive(Default)]
struct Options {
    namespaces: Option<PatternList>,
    validity: ValidityWindow,
}

impl Options {
    fn read(text: &str, zone: StandardTime) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = text;
        loop {
            // As in OpenSSH, option names are case-insensitive.
            let name_end = rest.find(['=', ',']).unwrap_or(rest.len());
            let name = rest[..name_end].to_ascii_lowercase();
            let shown = model::escape_line(&name);
            if !["namespaces", "valid-after", "valid-before"].contains(&name.as_str()) {
                return Err(format!("option `{shown}` is not accepted"));
            }
            let (value, after) = rest[name_end..]
                .strip_prefix("=\"")
                .and_then(|quoted| quoted.split_once('"'))
                .ok_or_else(|| format!("option `{shown}` has no value in double quotes"))?;
            options.set(&name, value, zone)?;
            match after.strip_prefix(',') {
                Some(more) => rest = more,
                None if after.is_empty() => break,
                None => return Err(format!("text follows the value of option `{shown}`")),
            }
        }
        if options.validity.is_empty() {
            return Err("valid-before is not later than valid-after".to_owned());
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str, zone: StandardTime) -> Result<(), String> {
        let time = || {
            let shown = model::escape_line(value);
            read_time(value, zone)
                .ok_or_else(|| format!("{name} \"{shown}\" is not YYYYMMDD[HHMM[SS]][Z]"))
        };
        let twice = match name {
            // OpenSSH reads a quote after a backslash as a part of the value.
            "namespaces" if value.contains('\\') => {
                return Err("`namespaces` contains a backslash".to_owned());
            }
            "namespaces" => self.namespaces.replace(PatternList::read(value)?).is_some(),
            "valid-after" => self.validity.after.replace(time()?).is_some(),
            _ => self.validity.before.replace(time()?).is_some(),
        };
        if twice { Err(format!("option `{name}` appears twice")) } else { Ok(()) }
    }
}
