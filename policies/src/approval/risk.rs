//! The risk class of a request: the stricter of the class in its text and the class that policy
//! derives. The text of the requester must never lower it.

use validator::{Network, Request, RiskLevel, Sensitivity, StandingTerms, TemplateWord};

use crate::model::RiskFloors;

pub(crate) fn class(request: &Request, floors: &RiskFloors) -> (RiskLevel, String) {
    let risk = request.risk();
    let guessed = request.argv().iter().skip(1).any(|word| carries_code(word));
    highest(
        floors,
        &RiskFeatures {
            stated: risk.level(),
            hosts: !request.network().hosts().is_empty(),
            sensitivity: risk.sensitivity(),
            inline_code: guessed || request.has_inline_code(),
            any_program: false,
        },
    )
}

/// Returns the class of the widest run that a standing approval admits.
pub(super) fn widest_class(terms: &StandingTerms, floors: &RiskFloors) -> (RiskLevel, String) {
    let carries_code = |word: &TemplateWord| match word {
        TemplateWord::Literal(text) => carries_code(text),
        TemplateWord::Value { beginning, .. } => carries_code(beginning),
    };
    highest(
        floors,
        &RiskFeatures {
            stated: terms.risk,
            hosts: matches!(&terms.network, Network::Allowlist(hosts) if !hosts.is_empty()),
            sensitivity: terms.sensitivity,
            inline_code: terms.words.iter().skip(1).any(carries_code),
            any_program: terms.runs_code_of_inputs,
        },
    )
}

/// The properties from which the class follows.
struct RiskFeatures {
    stated: RiskLevel,
    hosts: bool,
    sensitivity: Sensitivity,
    inline_code: bool,
    any_program: bool,
}

fn highest(floors: &RiskFloors, of: &RiskFeatures) -> (RiskLevel, String) {
    let mut found = vec![(of.stated, "its own words")];
    if of.hosts {
        found.push((floors.hosts, "hosts are named"));
    }
    match of.sensitivity {
        Sensitivity::Public => {}
        Sensitivity::Internal => found.push((floors.internal, "internal data")),
        Sensitivity::Confidential => found.push((floors.confidential, "confidential data")),
    }
    if of.inline_code {
        found.push((floors.inline_code, "code on the command line"));
    }
    if of.any_program {
        found.push((RiskLevel::Medium, "any program may run"));
    }
    let class = found.iter().map(|(level, _)| *level).max().unwrap_or(RiskLevel::High);
    let reasons: Vec<&str> =
        found.iter().filter(|(level, _)| *level == class).map(|(_, why)| *why).collect();
    (class, format!("{} by {}", class.as_str(), reasons.join(", ")))
}

/// Returns whether a word carries code: `-c`, `-e`, `-p` in any spelling or bundle, a `data:` URL,
/// or the module `timeit`. A script's own option of that name counts too, which only makes the
/// class stricter.
fn carries_code(word: &str) -> bool {
    if word.contains("timeit") || has_data_url(word) {
        return true;
    }
    match word.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or_default();
            ["eval", "print", "command", "exec", "toolexec"].contains(&name)
        }
        None => word.strip_prefix('-').is_some_and(|short| short.contains(['c', 'e', 'p'])),
    }
}

/// Returns whether the word contains a module as a URL. By the URL Standard a scheme is
/// case-insensitive, and tabs and line breaks are ignored.
fn has_data_url(word: &str) -> bool {
    let read: String = word.chars().filter(|c| !c.is_ascii_control()).collect();
    read.to_ascii_lowercase().contains("data:")
}

#[cfg(test)]
mod tests {
    use super::carries_code;

    #[test]
    fn code_is_seen_in_every_spelling() {
        for word in [
            "-c",
            "-e",
            "-p",
            "-Ic",
            "-pe",
            "--eval",
            "--eval=1",
            "--print",
            "--exec=sh",
            "--import=data:text/javascript,f()",
            "--loader=DATA:text/javascript,f()",
            "data:text/javascript,f()",
            "da\tta:text/javascript,f()",
            "timeit",
            "-mtimeit",
            "-Bmtimeit",
        ] {
            assert!(carries_code(word), "{word}");
        }
        for word in ["c", "script.py", "-", "--", "-X", "--evaluate", "-O", "data.csv", "/in/data"]
        {
            assert!(!carries_code(word), "{word}");
        }
    }
}
