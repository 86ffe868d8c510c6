//! The number of the newest fleet list that this host has used: `fleet-list` in the state
//! directory. `policies` decides if a list is older.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use policies::{FLEET_LIST_SERIAL_BYTES_MAX, FleetList, FleetListSerial};
use spool::write_or_replace;

use crate::bounded_file::read_bytes;
use crate::model::ConfigError;

const FILE: &str = "fleet-list";

/// The file as it was read.
pub(crate) struct ListSerialFile {
    file: PathBuf,
    known: Option<FleetListSerial>,
}

impl ListSerialFile {
    /// Checks that no newer list of the same fleet was used before.
    ///
    /// # Errors
    /// A newer list was used, or the file with its number cannot be read.
    pub(super) fn check(state: &Path, path: &Path, list: &FleetList) -> Result<Self, ConfigError> {
        let file = state.join(FILE);
        let bytes = match read_bytes(&file, FLEET_LIST_SERIAL_BYTES_MAX) {
            Err(ConfigError::Read(_, error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { file, known: None });
            }
            read => read?,
        };
        let known = FleetListSerial::parse(&bytes)
            .map_err(|error| ConfigError::Value(file.clone(), error.to_string()))?;
        known
            .check(list)
            .map_err(|error| ConfigError::Value(path.to_owned(), error.to_string()))?;
        Ok(Self { file, known: Some(known) })
    }

    /// Remembers a list durably. If that fails, the next start checks against an earlier one.
    pub(super) fn note(self, list: &FleetList) {
        let now = FleetListSerial::of(list);
        if self.known.as_ref() == Some(&now) {
            return;
        }
        let known = self.known.map(|known| known.text());
        let known = known.as_deref().map(str::as_bytes);
        if let Err(error) = write_or_replace(&self.file, known, now.text().as_bytes()) {
            tracing::warn!("the serial of the fleet list is not remembered: {error}");
        }
    }
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
        fs::write(state.join(FILE), "0123abce 1").unwrap();
        let error = check("0123abce", 1).unwrap_err();
        assert!(error.contains("fleet-list: not readable; help: "), "{error}");
        fs::remove_dir_all(&state).unwrap();
    }
}
