//! The number of the newest fleet list that this host has used: `fleet-list` in the state
//! directory. A list with a lower number is an older one, which an operator has replaced. The
//! daemon must never use it, although its signature still counts.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use policies::FleetList;
use spool::write_or_replace;

use crate::bounded_file::read_bytes;
use crate::model::ConfigError;

const FILE: &str = "fleet-list";
/// A fleet's id, a number of 20 digits, a blank and a line feed.
const BYTES_MAX: usize = 128;

/// The file as it was read.
pub(crate) struct ListSerialFile {
    file: PathBuf,
    known: Option<Vec<u8>>,
}

impl ListSerialFile {
    /// Checks that no newer list of the same fleet was used before.
    ///
    /// # Errors
    /// A newer list was used, or the file with its number cannot be read.
    pub(super) fn check(state: &Path, path: &Path, list: &FleetList) -> Result<Self, ConfigError> {
        let file = state.join(FILE);
        let known = match read_bytes(&file, BYTES_MAX) {
            Err(ConfigError::Read(_, error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { file, known: None });
            }
            read => read?,
        };
        let Some((fleet_id, serial)) = parse(&known) else {
            let what = "not readable; help: remove it, if the fleet list is the newest";
            return Err(ConfigError::Value(file, what.to_owned()));
        };
        // Another fleet has numbers of its own.
        if fleet_id == list.fleet_id() && serial > list.serial() {
            let what = format!(
                "serial {} is lower than {serial}, which this host has used before; help: install \
                 the newest list of the fleet",
                list.serial()
            );
            return Err(ConfigError::Value(path.to_owned(), what));
        }
        Ok(Self { file, known: Some(known) })
    }

    /// Remembers a list durably. If that fails, the next start checks against an earlier one.
    pub(super) fn note(self, list: &FleetList) {
        let now = format!("{} {}\n", list.fleet_id(), list.serial()).into_bytes();
        let written = match &self.known {
            Some(known) if *known == now => Ok(()),
            known => write_or_replace(&self.file, known.as_deref(), &now),
        };
        if let Err(error) = written {
            tracing::warn!("the serial of the fleet list is not remembered: {error}");
        }
    }
}

fn parse(bytes: &[u8]) -> Option<(String, u64)> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let (fleet_id, serial) = text.split_once(' ')?;
    Some((fleet_id.to_owned(), serial.parse().ok()?))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of a test")]
mod tests {
    use std::fs;

    use super::*;

    const KEY: &str = "ssh-ed25519 \
                       AAAAC3NzaC1lZDI1NTE5AAAAIBF+x5bzcpkEwb8KPoL03Tu5rhaHQ5iWNiDztWVIMdMd";

    fn list(fleet_id: &str, serial: u64) -> FleetList {
        let text = format!(
            "fleet: farm\nfleet_id: {fleet_id}\nserial: {serial}\nhosts:\n  - name: host-a\n    \
             record_keys: ['host-a namespaces=\"result.tool-exec@threegate\" {KEY}']\n    log_key: \
             host-a+01234567+AAAA\n    witness_key: host-a-witness+01234567+BBBB\n"
        );
        FleetList::parse(text.as_bytes(), "fleet.yaml").unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn an_older_list_is_refused() {
        let state = std::env::temp_dir().join(format!("toolexec-serial-{}", std::process::id()));
        fs::create_dir_all(&state).unwrap();
        let path = Path::new("/etc/toolexec/fleet.yaml");
        let check = |fleet_id: &str, serial: u64| {
            let list = list(fleet_id, serial);
            let checked = ListSerialFile::check(&state, path, &list);
            checked.map(|file| file.note(&list)).map_err(|error| error.to_string())
        };
        for serial in [3, 3, 7] {
            assert_eq!(check("0123abcd", serial), Ok(()));
        }
        // A check alone remembers nothing.
        assert!(ListSerialFile::check(&state, path, &list("0123abcd", 9)).is_ok());
        assert_eq!(check("0123abcd", 7), Ok(()));
        let error = check("0123abcd", 6).unwrap_err();
        assert!(error.starts_with("/etc/toolexec/fleet.yaml: serial 6 is lower than 7"), "{error}");
        assert_eq!(check("0123abce", 1), Ok(()));
        for damaged in ["", "0123abce 1", "0123abce x\n", "1\n"] {
            fs::write(state.join(FILE), damaged).unwrap();
            assert!(check("0123abce", 1).unwrap_err().contains("not readable"), "{damaged:?}");
        }
        fs::remove_dir_all(&state).unwrap();
    }

    #[test]
    fn the_longest_note_fits() {
        let longest = format!("{} {}\n", "a".repeat(64), u64::MAX);
        assert!(longest.len() <= BYTES_MAX);
        assert_eq!(parse(longest.as_bytes()), Some(("a".repeat(64), u64::MAX)));
    }
}
