//! Determines from the kernel's routes whether an address is this host's own (rtnetlink,
//! `RTM_GETROUTE`). The kernel is asked every time, because addresses change. Any failure is an
//! error, never "no". A list of the interfaces' addresses is not enough: whole networks can be
//! routed to the host itself.

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

const ERROR: u16 = 2;
const NEW_ROUTE: u16 = 24;
const GET_ROUTE: u16 = 26;
const REQUEST: u16 = 1;
const DESTINATION: u16 = 1;
/// The offset of the first field that depends on the kind of answer: the end of the message header.
const HEAD_BYTES: usize = 16;
const ROUTE_KIND: usize = HEAD_BYTES + 7;
/// Local, broadcast, anycast, multicast: these end on this host, or on more than one.
const OWN_KINDS: std::ops::RangeInclusive<u8> = 2..=5;
/// The errors for an unroutable packet, to which a connection would fail too.
const NO_ROUTE: [Errno; 6] = [
    Errno::NETUNREACH,
    Errno::HOSTUNREACH,
    Errno::ACCESS,
    Errno::INVAL,
    Errno::OPNOTSUPP,
    Errno::AFNOSUPPORT,
];

pub(super) struct Routes(OwnedFd);

impl Routes {
    /// Opens the rtnetlink socket.
    ///
    /// # Errors
    /// The kernel provides no such socket.
    pub(super) fn open() -> io::Result<Self> {
        // No protocol number is that of routes.
        Ok(Self(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?))
    }

    /// Returns whether packets to this address come back to this host.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub(super) fn is_own(&self, address: IpAddr) -> io::Result<bool> {
        send(&self.0, &route_request(address), SendFlags::empty())?;
        let mut answer = [0; 4096];
        // The kernel answers within the send call.
        let (length, _) = recv(&self.0, &mut answer, RecvFlags::DONTWAIT)?;
        parse_answer(answer.get(..length).unwrap_or_default())
    }
}

fn route_request(address: IpAddr) -> Vec<u8> {
    let (family, octets) = match address {
        IpAddr::V4(v4) => (AddressFamily::INET, v4.octets().to_vec()),
        IpAddr::V6(v6) => (AddressFamily::INET6, v6.octets().to_vec()),
    };
    let size = u8::try_from(octets.len()).unwrap_or_default();
    let family = u8::try_from(family.as_raw()).unwrap_or_default();
    let route = [family, size * 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let attribute = [u16::from(size + 4).to_ne_bytes(), DESTINATION.to_ne_bytes()].concat();
    let rest = [&route[..], &attribute, &octets].concat();
    let length = u32::try_from(HEAD_BYTES + rest.len()).unwrap_or_default();
    let kinds = [GET_ROUTE.to_ne_bytes(), REQUEST.to_ne_bytes()].concat();
    [&length.to_ne_bytes()[..], &kinds, &[0; 8], &rest].concat()
}

fn parse_answer(answer: &[u8]) -> io::Result<bool> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "routes: invalid kernel answer");
    let kind = answer.get(4..6).and_then(|it| it.try_into().ok()).map(u16::from_ne_bytes);
    match kind.ok_or_else(wrong)? {
        NEW_ROUTE => answer.get(ROUTE_KIND).map(|it| OWN_KINDS.contains(it)).ok_or_else(wrong),
        ERROR => {
            let code = answer.get(HEAD_BYTES..HEAD_BYTES + 4).and_then(|it| it.try_into().ok());
            let code = code.map(i32::from_ne_bytes).ok_or_else(wrong)?;
            let error = Errno::from_raw_os_error(code.saturating_neg());
            if NO_ROUTE.contains(&error) { Ok(false) } else { Err(error.into()) }
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead_back(text: &str) -> bool {
        let routes = Routes::open().expect("routes");
        routes.is_own(text.parse().expect("an address")).expect("an answer")
    }

    #[test]
    fn what_ends_on_this_host_is_its_own() {
        assert!(lead_back("127.0.0.1"));
        // The whole network is routed to loopback, and no interface has this address.
        assert!(lead_back("127.4.5.6"));
        assert!(lead_back("0.0.0.0"));
        assert!(!lead_back("9.9.9.9"));
        assert!(!lead_back("2620:fe::fe"));
    }

    #[test]
    fn what_is_no_answer_is_no_no() {
        assert!(parse_answer(&[]).is_err());
        assert!(parse_answer(&[0; 64]).is_err());
        assert!(parse_answer(&route_request(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST))).is_err());
    }
}
