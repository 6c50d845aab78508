//! Instants as the contracts write them: RFC 3339 with an explicit offset, always UTC on the way out.

use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// Milliseconds since 1970, the form in which instants are stored and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub i64);

/// Milliseconds since some moment before the process began. Unlike [`Millis`] it is never set back or forward, so caches,
/// rate budgets and waits are measured by it. It means nothing to another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicMillis(pub i64);

impl Millis {
    /// Years outside 1 to 9999 cannot be written in RFC 3339 and clamp to its ends.
    pub fn to_rfc3339(self) -> String {
        let nanos = i128::from(self.0) * 1_000_000;
        OffsetDateTime::from_unix_timestamp_nanos(nanos)
            .ok()
            .and_then(|at| at.format(&Rfc3339).ok())
            .unwrap_or_else(|| "9999-12-31T23:59:59Z".to_owned())
    }

    /// Refuses naive times: the offset must be written. Also refuses what could not be written
    /// back the same: a leap second, and in UTC a year outside 1 to 9999.
    pub fn parse(text: &str) -> Option<Millis> {
        let at = OffsetDateTime::parse(text, &Rfc3339).ok()?.checked_to_offset(UtcOffset::UTC)?;
        if text.get(17..19) == Some("60") || !(1..=9999).contains(&at.year()) {
            return None;
        }
        i64::try_from(at.unix_timestamp_nanos() / 1_000_000).ok().map(Millis)
    }

    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    pub fn plus_seconds(self, seconds: i64) -> Millis {
        Millis(self.0.saturating_add(seconds.saturating_mul(1000)))
    }
}
