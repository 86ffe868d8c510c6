//! The order that declares a host of a fleet lost. It is signed like a fleet list, and names the
//! fleet and its time, so that another fleet and a later time cannot use it.

use std::fmt;

use model::{UtcTime, escape_line, is_host_name};
use validator::CLOCK_SKEW_SEC;

use super::check::is_fleet_id;
use super::signature::{FleetSignatureError, signer_of};
use crate::approval::{AllowedSigners, FLEET_NAMESPACE};

/// The first line of the text.
const TITLE: &str = "toolexec-fleet-lost v1";

/// An order that an operator may sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FleetLostOrder {
    host: String,
    fleet_id: String,
    at: UtcTime,
}

/// An order whose signature counts. Only [`FleetLostOrder::check`] makes one.
#[must_use]
#[derive(Clone, Debug)]
pub struct CountedFleetLostOrder {
    order: FleetLostOrder,
    signer: String,
}

/// The reason why a text is not an order, or why it does not count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FleetLostOrderError {
    /// A line has another form.
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The form that it must have.
        form: &'static str,
    },
    /// It is about another host.
    Host {
        /// The host in the order.
        found: String,
    },
    /// It is about another fleet.
    Fleet {
        /// The id in the order.
        found: String,
    },
    /// Its time is still to come.
    Time(UtcTime),
    /// Its signature does not count.
    Signature(FleetSignatureError),
}

impl fmt::Display for FleetLostOrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let help = "help: sign a new one with `toolexec fleet lost`";
        match self {
            Self::Line { line, form } => {
                write!(f, "order of a lost host: line {line} is not `{form}`; {help}")
            }
            Self::Host { found } => {
                let found = escape_line(found);
                write!(f, "order of a lost host: is for host {found}, not for this one; {help}")
            }
            Self::Fleet { found } => {
                let found = escape_line(found);
                write!(f, "order of a lost host: is for fleet {found}, not for this one; {help}")
            }
            Self::Time(at) => {
                write!(f, "order of a lost host: {at} is in the future; help: correct the clocks")
            }
            Self::Signature(error) => {
                f.write_str("order of a lost host: ")?;
                error.fmt_problem(f)?;
                write!(
                    f,
                    "; {help} and a key that allowed_signers lists for namespace \
                     {FLEET_NAMESPACE}"
                )
            }
        }
    }
}

impl std::error::Error for FleetLostOrderError {}

impl FleetLostOrder {
    /// Makes an order.
    ///
    /// # Errors
    /// [`FleetLostOrderError::Line`]: the name or the id has another form.
    pub fn new(host: &str, fleet_id: &str, at: UtcTime) -> Result<Self, FleetLostOrderError> {
        Self::parse(&text(host, fleet_id, at))
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the id of the fleet.
    #[must_use]
    pub fn fleet_id(&self) -> &str {
        &self.fleet_id
    }

    /// Returns the time at which it was signed.
    #[must_use]
    pub fn at(&self) -> UtcTime {
        self.at
    }

    /// Returns the exact text that is signed.
    #[must_use]
    pub fn text(&self) -> String {
        text(&self.host, &self.fleet_id, self.at)
    }

    /// Reads an order, exactly as [`Self::text`] prints it.
    ///
    /// # Errors
    /// [`FleetLostOrderError::Line`]: the first line with another form.
    pub fn parse(text: &str) -> Result<Self, FleetLostOrderError> {
        let mut lines = text.split_inclusive('\n');
        let mut next = |line, key: &str, form| {
            let value = lines.next().and_then(|it| it.strip_suffix('\n')?.strip_prefix(key));
            value.ok_or(FleetLostOrderError::Line { line, form })
        };
        let wrong = |line, form| FleetLostOrderError::Line { line, form };
        if !next(1, TITLE, TITLE)?.is_empty() {
            return Err(wrong(1, TITLE));
        }
        let (host_form, fleet_form, time_form) =
            ("host NAME", "fleet ID", "at YYYY-MM-DDTHH:MM:SSZ");
        let host = next(2, "host ", host_form)?;
        let fleet_id = next(3, "fleet ", fleet_form)?;
        let at = next(4, "at ", time_form)?;
        if !is_host_name(host) {
            return Err(wrong(2, host_form));
        }
        if !is_fleet_id(fleet_id) {
            return Err(wrong(3, fleet_form));
        }
        let at = at.parse().map_err(|_| wrong(4, time_form))?;
        match lines.next() {
            None => Ok(Self { host: host.to_owned(), fleet_id: fleet_id.to_owned(), at }),
            Some(_) => Err(wrong(5, "the end")),
        }
    }

    /// Reads an order and checks that it counts for this host of this fleet: signed by an operator,
    /// and not in the future. Its age is not limited, because the lost host may read it much later.
    ///
    /// # Errors
    /// [`FleetLostOrderError`]: the first reason why it does not count.
    pub fn check(
        text: &str,
        signature: &[u8],
        host: &str,
        fleet_id: &str,
        signers: &AllowedSigners,
        now: UtcTime,
    ) -> Result<CountedFleetLostOrder, FleetLostOrderError> {
        let order = Self::parse(text)?;
        if order.host != host {
            return Err(FleetLostOrderError::Host { found: order.host });
        }
        if order.fleet_id != fleet_id {
            return Err(FleetLostOrderError::Fleet { found: order.fleet_id });
        }
        if order.at.unix() > now.unix().saturating_add(CLOCK_SKEW_SEC) {
            return Err(FleetLostOrderError::Time(order.at));
        }
        let signer = signer_of(text.as_bytes(), signature, signers, now)
            .map_err(FleetLostOrderError::Signature)?;
        Ok(CountedFleetLostOrder { order, signer })
    }
}

impl CountedFleetLostOrder {
    /// Returns the order.
    #[must_use]
    pub fn order(&self) -> &FleetLostOrder {
        &self.order
    }

    /// Returns the names and the key of the operator who signed it, for messages.
    #[must_use]
    pub fn signer(&self) -> &str {
        &self.signer
    }
}

fn text(host: &str, fleet_id: &str, at: UtcTime) -> String {
    format!("{TITLE}\nhost {host}\nfleet {fleet_id}\nat {at}\n")
}
