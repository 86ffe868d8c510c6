//! Finds a rule by a typed name: a code, a family's member, a similar code. Never echoes it.

use super::{Member, RuleDoc, all};
use crate::code::Code;
use crate::edit_distance::edit_distance;

/// More than the length of any code; a typed name may have any length.
const NAME_CHARS_MAX: usize = 64;

impl RuleDoc {
    /// Returns the rule of this code, or of the family to which it belongs.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        all().find(|rule| match rule.family() {
            None => rule.code.as_str() == name,
            Some(family) => name.strip_prefix(family).is_some_and(|member| rule.has_member(member)),
        })
    }

    /// Returns the common prefix of a family's codes, with its dot.
    fn family(&self) -> Option<&'static str> {
        match self.code {
            Code::Secret(_) => Some("secret."),
            Code::Layer(_) => Some("layer."),
            Code::Gate(_) => Some("gate."),
            Code::Ais(_) => Some("ais."),
            _ => None,
        }
    }

    /// Returns true if this name is the code of the member.
    pub(super) fn is_code_of(&self, member: &Member, name: &str) -> bool {
        self.family().and_then(|family| name.strip_prefix(family)) == Some(member.name)
    }

    fn has_member(&self, member: &str) -> bool {
        let byte = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.".contains(&b);
        let known = self.members();
        let word = !member.is_empty() && member.len() <= NAME_CHARS_MAX && member.bytes().all(byte);
        known.iter().any(|it| it.name == member) || (known.is_empty() && word)
    }
}

/// Returns at most six similar codes, the nearest first.
#[must_use]
pub fn similar_codes(name: &str) -> Vec<String> {
    const MOST: usize = 6;
    let name: String = name.chars().take(NAME_CHARS_MAX).collect::<String>().to_lowercase();
    let codes: Vec<String> = all().flat_map(codes_of).collect();
    let part = |code: &String| name.len() >= 3 && code.contains(&name);
    // A part of a code matches at any distance from the whole.
    let mut ranked: Vec<(usize, &String)> = codes
        .iter()
        .map(|code| (if part(code) { 0 } else { edit_distance(&name, code) }, code))
        .filter(|(far, _)| *far <= 3)
        .collect();
    ranked.sort();
    if ranked.is_empty() {
        let family = name.split('.').next().unwrap_or_default();
        let same = |code: &&String| code.split('.').next() == Some(family);
        ranked = codes.iter().filter(same).map(|code| (edit_distance(&name, code), code)).collect();
        ranked.sort();
    }
    ranked.into_iter().take(MOST).map(|(_, code)| code.clone()).collect()
}

/// Returns the code of a rule, or the codes of all known members of a family.
fn codes_of(rule: &'static RuleDoc) -> Vec<String> {
    match (rule.family(), rule.members()) {
        (Some(family), members) if !members.is_empty() => {
            members.iter().map(|member| format!("{family}{}", member.name)).collect()
        }
        _ => vec![rule.code.as_str().into_owned()],
    }
}
