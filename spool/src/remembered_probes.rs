//! The results of booting guests, remembered in the state directory: `backend-probes.json`. Losing
//! the file only costs new probes. A file that cannot be read remembers nothing, so that it never
//! proves anything.

use std::path::Path;

use model::Sha256;

use crate::error::SpoolError;
use crate::public::{publish_file, read_published};

const FILE: &str = "backend-probes.json";
const BYTES_MAX: usize = 256 * 1024;
/// The oldest results are forgotten.
const PROBES_MAX: usize = 64;

/// The result of one probe. The fields are public because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RememberedProbe {
    /// The backend, as requests name it.
    pub backend: String,
    /// The accelerator of the guest.
    pub accelerator: String,
    /// The digest of everything that the result depends on, as hexadecimal digits.
    pub key: String,
    /// The time of the probe.
    pub at_utc: String,
    /// The reason why no guest booted; `None` if one did.
    pub failure: Option<String>,
}

/// The remembered results, the oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RememberedProbes {
    probes: Vec<RememberedProbe>,
}

impl RememberedProbes {
    /// Reads the results in a state directory.
    #[must_use]
    pub fn read(state: &Path) -> Self {
        let bytes = read_published(&state.join(FILE), BYTES_MAX).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Returns the result with this key.
    #[must_use]
    pub fn get(&self, key: &Sha256) -> Option<&RememberedProbe> {
        let key = key.to_string();
        self.probes.iter().find(|probe| probe.key == key)
    }

    /// Replaces the result with this key.
    pub fn put(&mut self, probe: RememberedProbe) {
        self.probes.retain(|other| other.key != probe.key);
        self.probes.push(probe);
        let surplus = self.probes.len().saturating_sub(PROBES_MAX);
        self.probes.drain(..surplus);
    }

    /// Writes the results to a state directory, whole or not at all.
    ///
    /// # Errors
    /// An I/O error. The results are then probed again after a restart.
    pub fn write(&self, state: &Path) -> Result<(), SpoolError> {
        let path = state.join(FILE);
        let bytes = serde_json::to_vec(self)
            .map_err(|error| SpoolError::io(&path, "write")(std::io::Error::other(error)))?;
        publish_file(&path, &bytes)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of a test")]
mod tests {
    use super::*;

    fn probe(number: usize) -> RememberedProbe {
        RememberedProbe {
            backend: "ERA".to_owned(),
            accelerator: "kvm".to_owned(),
            key: Sha256::of(&number.to_le_bytes()).to_string(),
            at_utc: "2026-02-09T16:05:01Z".to_owned(),
            failure: (number % 2 == 1).then(|| "no-boot: \"quoted\"\n".to_owned()),
        }
    }

    fn key(number: usize) -> Sha256 {
        Sha256::of(&number.to_le_bytes())
    }

    #[test]
    fn the_newest_results_are_remembered() {
        let state = std::env::temp_dir().join(format!("toolexec-probes-{}", std::process::id()));
        std::fs::create_dir_all(&state).unwrap();
        let mut probes = RememberedProbes::read(&state);
        assert_eq!(probes, RememberedProbes::default());
        for number in 0..PROBES_MAX + 2 {
            probes.put(probe(number));
        }
        probes.put(RememberedProbe { failure: None, ..probe(5) });
        probes.write(&state).unwrap();
        let read = RememberedProbes::read(&state);
        assert_eq!(read, probes);
        assert_eq!(read.get(&key(1)), None);
        assert_eq!(read.get(&key(2)), Some(&probe(2)));
        assert_eq!(read.get(&key(5)).unwrap().failure, None);

        let path = state.join(FILE);
        let large = vec![b' '; BYTES_MAX + 1];
        let damaged: [&[u8]; 4] = [b"{", b"[]", b"{\"probes\":[{}]}", &large];
        for damaged in damaged {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(RememberedProbes::read(&state), RememberedProbes::default());
        }
        std::fs::remove_dir_all(&state).unwrap();
    }
}
