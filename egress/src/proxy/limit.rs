//! The program's own limit on the non-public addresses that a run may name. Pure.

use std::net::IpAddr;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PrivateAddressLimit {
    /// No limit: the program serves one run for the user who started it.
    Unlimited,
    /// These networks only: the client of a service is another user.
    Only(Vec<AddressRange>),
}

impl PrivateAddressLimit {
    pub(super) fn allows(&self, address: IpAddr) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Only(networks) => networks.iter().any(|network| network.contains(address)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AddressRange {
    address: IpAddr,
    length: u32,
}

impl AddressRange {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.length
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.length
            }
            _ => false,
        }
    }
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "not an address; help: write 10.0.0.5, 10.0.0.0/8 or fd00::/8".to_owned();
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        if address.to_canonical() != address {
            return Err(wrong());
        }
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(length) if length.bytes().all(|it| it.is_ascii_digit()) => {
                length.parse().ok().filter(|it| *it <= whole).ok_or_else(wrong)?
            }
            Some(_) => return Err(wrong()),
            None => whole,
        };
        Ok(Self { address, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(network: &str, address: &str) -> bool {
        let network: AddressRange = network.parse().expect("a network");
        network.contains(address.parse().expect("an address"))
    }

    #[test]
    fn a_network_has_its_addresses_and_no_others() {
        assert!(has("10.0.0.5", "10.0.0.5") && !has("10.0.0.5", "10.0.0.4"));
        assert!(has("10.0.0.5", "::ffff:10.0.0.5"));
        assert!(has("10.0.0.0/8", "10.255.0.1") && !has("10.0.0.0/8", "11.0.0.0"));
        assert!(has("fd00::/8", "fdff::1") && !has("fd00::/8", "fc00::1"));
        assert!(has("0.0.0.0/0", "127.0.0.1") && !has("0.0.0.0/0", "::1"));
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "a", "::/129", "::ffff:1.2.3.4"]
        {
            assert!(text.parse::<AddressRange>().is_err(), "{text}");
        }
    }
}
