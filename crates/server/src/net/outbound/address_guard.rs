//! Which addresses this server may connect to by itself: public ones, and those that the operator has allowed. An IPv6
//! address that stands for an IPv4 one is judged as that one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::config::IpNetwork;

/// Where clouds answer with the credentials of a machine. They are refused even in a range that is allowed.
const METADATA: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
];

#[derive(Debug, Clone, Default)]
pub(super) struct AddressGuard {
    allowed: Vec<IpNetwork>,
}

impl AddressGuard {
    pub(super) fn new(allowed: Vec<IpNetwork>) -> AddressGuard {
        AddressGuard { allowed }
    }

    pub(super) fn allows(&self, address: IpAddr) -> bool {
        // A form that stands for another address counts as both.
        let meant = meant(address);
        let is_allowed = |address: IpAddr| self.allowed.iter().any(|range| range.contains(address));
        let is_metadata = METADATA.contains(&address) || METADATA.contains(&meant);
        !is_metadata && (is_public(meant) || is_allowed(meant))
    }
}

/// The IPv4 address that an IPv6 one stands for: mapped, compatible, NAT64 or 6to4. Others are as they are.
fn meant(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else { return address };
    let bits = six.to_bits();
    let low = Ipv4Addr::from_bits(bits as u32);
    match six.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] => IpAddr::V4(low),
        // The well-known prefix of NAT64, and those of translation (SIIT).
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] => IpAddr::V4(low),
        // IPv4-compatible, which has no use any more; :: and ::1 are not of them.
        [0, 0, 0, 0, 0, 0, _, _] if bits > 0xffff => IpAddr::V4(low),
        [0x2002, ..] => IpAddr::V4(Ipv4Addr::from_bits((bits >> 80) as u32)),
        _ => address,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Everything that the registry of special-purpose addresses does not call globally reachable is out.
fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        [0 | 10 | 127, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 0, 0 | 2, _]
            | [192, 31, 196, _]
            | [192, 52, 193, _]
            | [192, 88, 99, _]
            | [192, 168, ..]
            | [192, 175, 48, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            | [224..=255, ..]
    )
}

/// Of global unicast, what is for documentation, benchmarks, tunnels and the like is out.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let is_special = matches!(
        address.segments(),
        // 2001::/23 has Teredo, benchmarks and ORCHID; 2001:db8::/32 and 3fff::/20 are for documentation.
        [0x2001, 0x0000..=0x01ff, ..]
            | [0x2001, 0x0db8, ..]
            | [0x3fff, 0x0000..=0x0fff, ..]
            | [0x2620, 0x4f, 0x8000, ..]
    );
    matches!(address.segments(), [0x2000..=0x3fff, ..]) && !is_special
}

#[cfg(test)]
mod tests {
    use super::{AddressGuard, IpNetwork};

    /// Each kind of address that must not be reached, with its IPv6 forms.
    const REFUSED: &[&str] = &[
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "192.168.255.255",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::10.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "::ffff:0:10.0.0.1",
        "2002:7f00:1::1",
        "2002:a00:1::1",
        "2002:a9fe:a9fe::1",
        "2001::1",
        "2001:db8::1",
        "2001:1ff::1",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254",
        "fdff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "4000::1",
        "5f00::1",
    ];
    const ALLOWED: &[&str] = &[
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "126.0.0.1",
        "128.0.0.1",
        "169.253.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.0.1",
        "192.169.0.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:200::1",
        "2a00::1",
        "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1",
        "2002:101:101::1",
    ];

    #[test]
    fn only_public_addresses_are_allowed() {
        let guard = AddressGuard::default();
        for address in REFUSED {
            assert!(!guard.allows(address.parse().unwrap()), "{address} must be refused");
        }
        for address in ALLOWED {
            assert!(guard.allows(address.parse().unwrap()), "{address} must be allowed");
        }
    }

    #[test]
    fn a_range_allows_its_addresses_and_never_metadata() {
        let guard = AddressGuard::new(
            ["127.0.0.0/8", "169.254.0.0/16", "fd00::/8"].map(|text| IpNetwork::parse(text).unwrap()).to_vec(),
        );
        for (address, is_allowed) in [
            ("127.0.0.1", true),
            ("::ffff:127.0.0.1", true),
            ("::1", false),
            ("10.0.0.1", false),
            ("169.254.1.1", true),
            ("169.254.169.254", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("fd00::1", true),
            ("fd00:ec2::254", false),
        ] {
            assert_eq!(guard.allows(address.parse().unwrap()), is_allowed, "{address}");
        }
    }
}
