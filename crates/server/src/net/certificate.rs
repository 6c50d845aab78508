//! The two facts that decide whether a certificate is still good: its end and its names. It reads certificates from the
//! operator's own folder only; whether one can be trusted is for rustls to say, never for this reader.

use std::collections::BTreeSet;
use std::net::IpAddr;

use time::{Date, Month, OffsetDateTime, Time};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) not_after: OffsetDateTime,
    /// Host names and addresses, as text.
    pub(super) names: BTreeSet<String>,
}

const SEQUENCE: u8 = 0x30;
const OCTETS: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// None when the bytes are not a certificate of RFC 5280.
pub(super) fn facts(der: &[u8]) -> Option<Facts> {
    let mut body = Der(Der(Der(der).expect(SEQUENCE)?).expect(SEQUENCE)?);
    let (first, _) = body.next()?;
    // The version is left out of a first-version certificate; then what came first was the serial number.
    if first == VERSION {
        body.next()?;
    }
    let _signature_algorithm = body.next()?;
    let _issuer = body.next()?;
    let mut validity = Der(body.expect(SEQUENCE)?);
    let _not_before = validity.next()?;
    let (kind, text) = validity.next()?;
    let not_after = moment(kind, text)?;
    let mut names = BTreeSet::new();
    while let Some((tag, content)) = body.next() {
        if tag == EXTENSIONS {
            names = alternative_names(content)?;
        }
    }
    Some(Facts { not_after, names })
}

fn alternative_names(extensions: &[u8]) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut extensions = Der(Der(extensions).expect(SEQUENCE)?);
    while let Some((_, extension)) = extensions.next() {
        let mut extension = Der(extension);
        let (_, identifier) = extension.next()?;
        if identifier != SUBJECT_ALT_NAME {
            continue;
        }
        // A criticality flag may stand before the value.
        while let Some((tag, value)) = extension.next() {
            if tag == OCTETS {
                let mut list = Der(Der(value).expect(SEQUENCE)?);
                while let Some((tag, name)) = list.next() {
                    names.extend(name_text(tag, name));
                }
            }
        }
    }
    Some(names)
}

fn name_text(tag: u8, name: &[u8]) -> Option<String> {
    match tag {
        DNS_NAME => String::from_utf8(name.to_vec()).ok(),
        IP_ADDRESS => {
            let v4 = <[u8; 4]>::try_from(name).map(IpAddr::from);
            let v6 = <[u8; 16]>::try_from(name).map(IpAddr::from);
            v4.or(v6).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`; RFC 5280 puts the two-digit years between 1950 and 2049.
fn moment(kind: u8, text: &[u8]) -> Option<OffsetDateTime> {
    let digits = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match kind {
        UTC_TIME => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year: i32 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let pair = |at: usize| rest.get(at..at + 2)?.parse::<u8>().ok();
    let date = Date::from_calendar_date(year, Month::try_from(pair(0)?).ok()?, pair(2)?).ok()?;
    let time = Time::from_hms(pair(4)?, pair(6)?, pair(8)?).ok()?;
    Some(OffsetDateTime::new_utc(date, time))
}

/// Tag, length, content; one after another.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            // Four bytes of length are more than any file here; more would overflow.
            if bytes.len() > 4 {
                return None;
            }
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    fn expect(&mut self, wanted: u8) -> Option<&'a [u8]> {
        self.next().filter(|(tag, _)| *tag == wanted).map(|(_, content)| content)
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use time::macros::datetime;

    use super::*;

    fn certificate(names: &[&str], not_after: OffsetDateTime) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_after = not_after;
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_and_the_names_are_read() {
        let der = certificate(&["desk.example.com", "127.0.0.1", "::1"], datetime!(2027-02-28 23:59:58 UTC));
        let facts = facts(&der).unwrap();
        assert_eq!(facts.not_after, datetime!(2027-02-28 23:59:58 UTC));
        assert_eq!(Vec::from_iter(facts.names), ["127.0.0.1", "::1", "desk.example.com"]);
    }

    #[test]
    fn years_after_2049_are_read() {
        let der = certificate(&[], datetime!(2051-01-02 03:04:05 UTC));
        assert_eq!(facts(&der).unwrap().not_after, datetime!(2051-01-02 03:04:05 UTC));
    }

    #[test]
    fn no_cut_or_changed_certificate_makes_the_reader_panic() {
        let der = certificate(&["localhost"], datetime!(2027-01-01 00:00 UTC));
        for end in 0..der.len() {
            assert_eq!(facts(der.get(..end).unwrap()), None);
        }
        for at in 0..der.len() {
            let mut changed = der.clone();
            *changed.get_mut(at).unwrap() ^= 0xff;
            let _ = facts(&changed);
        }
    }
}
