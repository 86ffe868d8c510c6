//! The risk class of a request: the stricter of what its text says and of what policy sees in it.
//! Words of the requester must never lower it.

use validator::{Request, RiskLevel, Sensitivity};

use crate::policy::RiskFloors;

/// The class, and why it is that one.
pub(crate) fn class(request: &Request, floors: &RiskFloors) -> (RiskLevel, String) {
    let risk = request.risk();
    let mut found = vec![(risk.level(), "its own words")];
    if !request.network().hosts().is_empty() {
        found.push((floors.hosts, "hosts are named"));
    }
    match risk.sensitivity() {
        Sensitivity::Public => {}
        Sensitivity::Internal => found.push((floors.internal, "internal data")),
        Sensitivity::Confidential => found.push((floors.confidential, "confidential data")),
    }
    if request.argv().iter().skip(1).any(|word| brings_code(word)) {
        found.push((floors.inline_code, "code on the command line"));
    }
    let class = found.iter().map(|(level, _)| *level).max().unwrap_or(RiskLevel::High);
    let reasons: Vec<&str> =
        found.iter().filter(|(level, _)| *level == class).map(|(_, why)| *why).collect();
    (class, format!("{} by {}", class.as_str(), reasons.join(", ")))
}

/// `-c`, `-e`, `-p` and whatever they are bundled or spelled with. A script's own option of that
/// name is taken for one too: that only makes the class stricter.
fn brings_code(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or_default();
            ["eval", "print", "command"].contains(&name)
        }
        None => word.strip_prefix('-').is_some_and(|short| short.contains(['c', 'e', 'p'])),
    }
}

#[cfg(test)]
mod tests {
    use super::brings_code;

    #[test]
    fn code_is_seen_in_every_spelling() {
        for word in ["-c", "-e", "-p", "-Ic", "-pe", "--eval", "--eval=1", "--print"] {
            assert!(brings_code(word), "{word}");
        }
        for word in ["c", "script.py", "-", "--", "-X", "--evaluate", "-O"] {
            assert!(!brings_code(word), "{word}");
        }
    }
}
