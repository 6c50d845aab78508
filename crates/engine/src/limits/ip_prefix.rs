//! The part of an IP address that one subscriber cannot change at will. Rate limits, connection limits and counts of
//! refused requests use it as their key, so that a subscriber with 2^64 IPv6 addresses is limited as one.

use std::net::{IpAddr, Ipv6Addr};

/// An IPv4 address as a whole, also one mapped into IPv6; of an IPv6 address its /64 network.
pub fn ip_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> String {
        ip_prefix(text.parse().unwrap()).to_string()
    }

    #[test]
    fn an_ipv4_address_is_its_own_prefix() {
        assert_eq!(prefix("192.0.2.1"), "192.0.2.1");
        assert_eq!(prefix("::ffff:192.0.2.1"), "192.0.2.1");
    }

    #[test]
    fn ipv6_addresses_of_one_64_network_share_a_prefix() {
        assert_eq!(prefix("2001:db8:1:2::1"), "2001:db8:1:2::");
        assert_eq!(prefix("2001:db8:1:2:ffff::9"), "2001:db8:1:2::");
        assert_eq!(prefix("2001:db8:1:3::1"), "2001:db8:1:3::");
    }
}
