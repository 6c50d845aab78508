//! Ranges of IP addresses, as `10.1.0.0/16` or one address.

use std::fmt;
use std::net::IpAddr;

use super::finding::ConfigError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpNetwork {
    address: IpAddr,
    prefix: u32,
}

impl IpNetwork {
    pub(super) fn read(text: &str) -> Result<IpNetwork, ConfigError> {
        let advice = "Write a range such as 10.1.0.0/16, or one address";
        IpNetwork::parse(text)
            .ok_or_else(|| ConfigError::new(format!("{text:?} is not a range of IP addresses"), advice))
    }

    pub fn parse(text: &str) -> Option<IpNetwork> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) if prefix.bytes().all(|byte| byte.is_ascii_digit()) => prefix.parse().ok()?,
            Some(_) => return None,
            None => bits,
        };
        (prefix <= bits).then_some(IpNetwork { address, prefix })
    }

    /// Only addresses of the same family are in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - self.prefix).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::IpNetwork;

    #[test]
    fn a_range_has_the_addresses_with_its_prefix() {
        for (range, address, is_in) in [
            ("10.1.0.0/16", "10.1.255.255", true),
            ("10.1.0.0/16", "10.2.0.0", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "::1", false),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false),
            ("::/0", "2001:db8::1", true),
        ] {
            let range = IpNetwork::parse(range).unwrap();
            assert_eq!(range.contains(address.parse().unwrap()), is_in, "{address} in {range}");
        }
        for wrong in ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "::/129", "localhost", "10.0.0/8"] {
            assert_eq!(IpNetwork::parse(wrong), None, "{wrong}");
        }
    }
}
