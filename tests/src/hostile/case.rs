//! A case: a program and the keys of its opening comment.

use std::fs;
use std::path::{Path, PathBuf};

use crate::programs::workspace;

model::closed_set! {
    /// The user that starts the launcher.
    pub enum CaseMode {
        /// Root; the tool has a uid of its own.
        System = "system",
        /// An ordinary user, in user namespaces.
        User = "user",
    }
}

/// The keys that a case may use, each optionally followed by `.system` or `.user`.
const KEYS: [&str; 13] = [
    "attack",
    "expect",
    "stdout",
    "names",
    "rejects",
    "keeps",
    "lacks",
    "limits",
    "together",
    "hosts",
    "within",
    "needs",
    "elsewhere",
];

#[derive(Debug)]
pub struct HostileCase {
    /// The group and the name, such as `limits/fork_bomb`.
    pub name: String,
    pub path: PathBuf,
    entries: Vec<(String, String)>,
}

impl HostileCase {
    /// Reads every case, sorted by name.
    ///
    /// # Panics
    /// Panics if a case cannot be read or uses an unknown key.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let top = workspace().join("tests/hostile");
        let mut cases = Vec::new();
        for group in fs::read_dir(&top).unwrap().map(|entry| entry.unwrap().path()) {
            if group.is_dir() {
                let files = fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path());
                cases.extend(files.map(|path| Self::read(&top, path)));
            }
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    fn read(top: &Path, path: PathBuf) -> Self {
        let name = path.strip_prefix(top).unwrap().with_extension("").to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let mut words: Vec<(String, String)> = Vec::new();
        for line in opening_comment(&text) {
            let Some((key, value)) = line.split_once(": ") else { continue };
            let plain = key.trim_end_matches(".system").trim_end_matches(".user");
            if KEYS.contains(&plain) {
                words.push((key.to_owned(), value.trim().to_owned()));
            } else {
                let word = plain.chars().all(|c| c.is_ascii_lowercase());
                assert!(!word, "{}: no word of a case: {key}", path.display());
            }
        }
        let case = Self { name, path, entries: words };
        for mode in CaseMode::ALL.iter().copied() {
            assert_eq!(case.values("expect", mode).len(), 1, "{}: one `expect:`", case.name);
        }
        assert!(
            case.first_value("attack", CaseMode::System).is_some(),
            "{}: no `attack:`",
            case.name
        );
        case
    }

    /// Returns the values of a key. Values for this mode replace the values without a mode.
    #[must_use]
    pub fn values(&self, key: &str, mode: CaseMode) -> Vec<&str> {
        let values_of = |wanted: &str| -> Vec<&str> {
            let lines = self.entries.iter().filter(|(key, _)| key == wanted);
            lines.map(|(_, value)| value.as_str()).collect()
        };
        let special = values_of(&format!("{key}.{}", mode.as_str()));
        let special = if special.is_empty() { values_of(key) } else { special };
        special.into_iter().filter(|value| *value != "none").collect()
    }

    #[must_use]
    pub fn first_value(&self, key: &str, mode: CaseMode) -> Option<&str> {
        self.values(key, mode).first().copied()
    }

    /// Returns a number from the `name=number` pairs of the key `limits`.
    #[must_use]
    pub fn limit(&self, name: &str, mode: CaseMode) -> Option<u32> {
        let pairs = self.first_value("limits", mode)?.split(' ');
        let value = pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?.1;
        Some(value.parse().unwrap_or_else(|_| panic!("{}: {name}={value}", self.name)))
    }

    /// Returns the number of sandboxes that run this case at the same time.
    #[must_use]
    pub fn concurrent_runs(&self) -> usize {
        self.first_value("together", CaseMode::System).map_or(1, |number| number.parse().unwrap())
    }

    /// Returns the hosts that the request names. The port is that of the suite's echo server.
    #[must_use]
    pub fn hosts(&self) -> Vec<&str> {
        self.first_value("hosts", CaseMode::System)
            .map_or(Vec::new(), |hosts| hosts.split(' ').collect())
    }

    #[must_use]
    pub fn is_python(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "py")
    }
}

/// Returns the lines of the comment at the start of a file, without comment marks.
fn opening_comment(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let ended = line.contains("*/");
        let line = line.split("*/").next().unwrap_or_default();
        let Some(line) = line.strip_prefix(['/', ' ', '#']) else { break };
        lines.push(line.trim_start_matches('*').trim());
        if ended {
            break;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_opening_comment_is_parsed() {
        let c = "/* attack: a\n * expect: ok\n */\nint main(void) { /* stdout: no */ }\n";
        assert_eq!(opening_comment(c), ["attack: a", "expect: ok", ""]);
        let python = "# attack: a\n# expect: ok\n\n# stdout: no\n";
        assert_eq!(opening_comment(python), ["attack: a", "expect: ok"]);
    }

    #[test]
    fn mode_specific_values_take_precedence() {
        let words = [("expect", "memory_limit"), ("expect.user", "ok"), ("stdout.user", "none")];
        let words = words.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        let case = HostileCase { name: String::new(), path: PathBuf::new(), entries: words };
        assert_eq!(case.first_value("expect", CaseMode::System), Some("memory_limit"));
        assert_eq!(case.first_value("expect", CaseMode::User), Some("ok"));
        assert_eq!(case.values("stdout", CaseMode::User), Vec::<&str>::new());
    }
}
