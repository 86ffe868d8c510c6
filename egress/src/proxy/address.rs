//! Classifies addresses as public or not, by the IANA special-purpose address registries. Pure; an
//! address in doubt is not public. An IPv6 address that represents an IPv4 address has its class. A
//! site's own NAT64 prefix cannot be distinguished from other addresses: a resolver with such a
//! prefix must not use it for private IPv4 addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an address that no rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressKind {
    Public,
    /// A metadata service, which gives the host's credentials to any client.
    Metadata,
    Private,
}

const METADATA_V4: [Ipv4Addr; 7] = [
    // Nearly all clouds.
    Ipv4Addr::new(169, 254, 169, 254),
    // Tasks and pods of AWS.
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    // Tencent, Alibaba, Oracle.
    Ipv4Addr::new(169, 254, 0, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    // Azure's WireServer: in a public range, but served by the machine's own host.
    Ipv4Addr::new(168, 63, 129, 16),
];
const METADATA_V6: [Ipv6Addr; 4] = [
    // AWS, and its pods; Google; Scaleway.
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Networks, each with the length of its prefix.
const NOT_PUBLIC_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared between a provider and its customers (CGNAT).
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // 6to4 relays, deprecated.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks between networks.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Documentation of multicast, then multicast, then reserved with broadcast.
    (Ipv4Addr::new(233, 252, 0, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Networks within 2000::/3, the only range that was ever allocated.
const NOT_PUBLIC_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments, including Teredo, which can represent any IPv4 address.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4, deprecated; it can represent any IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

pub(super) fn kind(address: IpAddr) -> AddressKind {
    match address.to_canonical() {
        IpAddr::V4(v4) => kind_v4(v4),
        IpAddr::V6(v6) => kind_v6(v6),
    }
}

fn kind_v4(address: Ipv4Addr) -> AddressKind {
    if METADATA_V4.contains(&address) {
        return AddressKind::Metadata;
    }
    let inside = |(network, length): &(Ipv4Addr, u32)| {
        (address.to_bits() ^ network.to_bits()) >> (32 - length) == 0
    };
    if NOT_PUBLIC_V4.iter().any(inside) { AddressKind::Private } else { AddressKind::Public }
}

fn kind_v6(address: Ipv6Addr) -> AddressKind {
    if METADATA_V6.contains(&address) {
        return AddressKind::Metadata;
    }
    // NAT64 by the well-known prefix: an IPv6-only host dials every IPv4 host this way.
    if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = address.segments() {
        return kind_v4(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)));
    }
    let given_out = address.segments()[0] >> 13 == 1;
    let inside = |(network, length): &(Ipv6Addr, u32)| {
        (address.to_bits() ^ network.to_bits()) >> (128 - length) == 0
    };
    if given_out && !NOT_PUBLIC_V6.iter().any(inside) {
        AddressKind::Public
    } else {
        AddressKind::Private
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> AddressKind {
        kind(text.parse().expect("an address"))
    }

    #[test]
    fn public_addresses_are_public() {
        let public = "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 \
            128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 \
            192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 \
            2606:4700::1111 2a00:1450:4001::1 2001:200::1 2001:4860:4860::8888 2003::1 \
            64:ff9b::8.8.8.8 ::ffff:8.8.8.8 3ffe::1";
        for text in public.split_whitespace() {
            assert_eq!(of(text), AddressKind::Public, "{text}");
        }
    }

    #[test]
    fn what_is_not_public_is_private_in_every_form() {
        let private = "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 \
            127.255.255.255 169.254.0.1 172.16.0.0 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 \
            192.168.0.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 \
            233.252.0.1 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 \
            64:ff9b::10.0.0.1 64:ff9b::127.0.0.1 64:ff9b:1::1.1.1.1 64:ff9b:0:0:0:1:808:808 100::1 \
            2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:db8::1 2002:7f00:1::1 \
            2002:808:808::1 3fff::1 5f00::1 fc00::1 fd12::1 fe80::1 fec0::1 ff02::1 4000::1 1fff::1";
        for text in private.split_whitespace() {
            assert_eq!(of(text), AddressKind::Private, "{text}");
        }
    }

    #[test]
    fn metadata_services_are_known_in_every_form() {
        let metadata = "169.254.169.254 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe fd00:ec2::254 \
            169.254.170.2 169.254.170.23 169.254.0.23 100.100.100.200 192.0.0.192 168.63.129.16 \
            64:ff9b::168.63.129.16 ::ffff:168.63.129.16 fd00:ec2::23 fd20:ce::254 fd00:42::42";
        for text in metadata.split_whitespace() {
            assert_eq!(of(text), AddressKind::Metadata, "{text}");
        }
    }
}
