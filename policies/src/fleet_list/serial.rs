//! The number of the newest fleet list that a program has used, as its state directory keeps it. A
//! list with a lower number is an older one, which an operator has replaced. No program may use it,
//! although its signature still counts.

use std::fmt;

use super::check::is_fleet_id;
use super::model::FleetList;

/// The maximum size of a kept number in bytes: a fleet's id, a blank, 20 digits and a line feed.
pub const FLEET_LIST_SERIAL_BYTES_MAX: usize = 128;

/// The number of a list, with the fleet to which it belongs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FleetListSerial {
    fleet_id: String,
    serial: u64,
}

/// The reason why a kept number forbids the use of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FleetListSerialError {
    /// The kept bytes are not a number with its fleet.
    Unreadable,
    /// A newer list was used.
    Older {
        /// The number of the list.
        found: u64,
        /// The number that was used.
        seen: u64,
    },
}

impl fmt::Display for FleetListSerialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => {
                f.write_str("not readable; help: remove it, if the fleet list is the newest")
            }
            Self::Older { found, seen } => write!(
                f,
                "serial {found} is lower than {seen}, which this host has used before; help: \
                 install the newest list of the fleet with its signature"
            ),
        }
    }
}

impl std::error::Error for FleetListSerialError {}

impl FleetListSerial {
    /// Returns the number of a list.
    #[must_use]
    pub fn of(list: &FleetList) -> Self {
        Self { fleet_id: list.fleet_id().to_owned(), serial: list.serial() }
    }

    /// Reads a number, exactly as [`Self::text`] prints it.
    ///
    /// # Errors
    /// [`FleetListSerialError::Unreadable`].
    pub fn parse(bytes: &[u8]) -> Result<Self, FleetListSerialError> {
        let read = || {
            let text = std::str::from_utf8(bytes).ok()?;
            let (fleet_id, serial) = text.strip_suffix('\n')?.split_once(' ')?;
            let found = Self { fleet_id: fleet_id.to_owned(), serial: serial.parse().ok()? };
            (is_fleet_id(fleet_id) && found.text() == text).then_some(found)
        };
        read().ok_or(FleetListSerialError::Unreadable)
    }

    /// Returns the text to keep: the id of the fleet and the number, on one line.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} {}\n", self.fleet_id, self.serial)
    }

    /// Checks that a list is not older than this one. Another fleet has numbers of its own.
    ///
    /// # Errors
    /// [`FleetListSerialError::Older`].
    pub fn check(&self, list: &FleetList) -> Result<(), FleetListSerialError> {
        let (found, seen) = (list.serial(), self.serial);
        match list.fleet_id() == self.fleet_id && found < seen {
            true => Err(FleetListSerialError::Older { found, seen }),
            false => Ok(()),
        }
    }
}
