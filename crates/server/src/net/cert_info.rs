//! The validity and the names of a certificate. It reads certificates of the operator's own folder only; whether one can be
//! trusted is decided by rustls.

use std::collections::BTreeSet;
use std::net::IpAddr;

use time::OffsetDateTime;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct CertInfo {
    pub(super) not_before: OffsetDateTime,
    pub(super) not_after: OffsetDateTime,
    /// Host names and addresses, as text.
    pub(super) names: BTreeSet<String>,
}

impl CertInfo {
    /// None if the bytes are not an X.509 certificate.
    pub(super) fn parse(der: &[u8]) -> Option<CertInfo> {
        let (_, certificate) = parse_x509_certificate(der).ok()?;
        let alternative_names = certificate.subject_alternative_name().ok()?;
        let names = alternative_names.iter().flat_map(|extension| &extension.value.general_names);
        Some(CertInfo {
            not_before: certificate.validity().not_before.to_datetime(),
            not_after: certificate.validity().not_after.to_datetime(),
            names: names.filter_map(name_text).collect(),
        })
    }
}

fn name_text(name: &GeneralName<'_>) -> Option<String> {
    if let GeneralName::DNSName(name) = name {
        return Some((*name).to_owned());
    }
    let GeneralName::IPAddress(bytes) = name else {
        return None;
    };
    let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
    let v6 = <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
    v4.or(v6).ok().map(|address| address.to_string())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use time::macros::datetime;

    use super::*;

    fn certificate(names: &[&str], not_after: OffsetDateTime) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = datetime!(2026-01-02 03:04:05 UTC);
        params.not_after = not_after;
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn validity_and_names_are_read() {
        let der = certificate(&["desk.example.com", "127.0.0.1", "::1"], datetime!(2027-02-28 23:59:58 UTC));
        let info = CertInfo::parse(&der).unwrap();
        assert_eq!(info.not_before, datetime!(2026-01-02 03:04:05 UTC));
        assert_eq!(info.not_after, datetime!(2027-02-28 23:59:58 UTC));
        assert_eq!(Vec::from_iter(info.names), ["127.0.0.1", "::1", "desk.example.com"]);
    }

    #[test]
    fn years_after_2049_are_read() {
        let der = certificate(&[], datetime!(2051-01-02 03:04:05 UTC));
        assert_eq!(CertInfo::parse(&der).unwrap().not_after, datetime!(2051-01-02 03:04:05 UTC));
    }

    #[test]
    fn truncated_and_changed_certificates_do_not_panic() {
        let der = certificate(&["localhost"], datetime!(2027-01-01 00:00 UTC));
        for end in 0..der.len() {
            assert_eq!(CertInfo::parse(der.get(..end).unwrap()), None);
        }
        for at in 0..der.len() {
            let mut changed = der.clone();
            *changed.get_mut(at).unwrap() ^= 0xff;
            let _ = CertInfo::parse(&changed);
        }
    }
}
