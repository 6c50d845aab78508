//! Decimal numbers in texts: how they are parsed, cast and compared. The SQL for every database must give the same
//! results; SQLite has no decimal type and runs this code.

use frontdesk_engine::ports::site_db::Number;

/// The limits of MariaDB and MySQL, which are the smallest.
const MAX_PRECISION: u8 = 65;
const MAX_SCALE: u8 = 30;

/// A decimal number without leading and trailing zeros; its digits are ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    integer: Vec<u8>,
    fraction: Vec<u8>,
}

impl Decimal {
    /// The number at the beginning of the text: blanks, a sign, digits, a point, digits, all of them optional. An
    /// exponent is ignored.
    pub(super) fn parse_prefix(text: &str) -> Decimal {
        let text = text.trim_start_matches(|letter| matches!(letter, '\t'..='\r' | ' '));
        let (is_negative, text) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            Some(_) | None => (false, text),
        };
        let (integer, rest) = split_digits(text);
        let fraction = rest.strip_prefix('.').map(|rest| split_digits(rest).0).unwrap_or_default();
        Decimal::new(is_negative, integer.as_bytes().to_vec(), fraction.as_bytes().to_vec())
    }

    /// The number that the whole text is, truncated to the precision that can be compared.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (integer, rest) = split_digits(unsigned);
        let fraction = match rest.strip_prefix('.') {
            Some(rest) => rest,
            None if rest.is_empty() => "0",
            None => return None,
        };
        let is_number = !integer.is_empty() && !fraction.is_empty() && split_digits(fraction).1.is_empty();
        is_number.then(|| Decimal::parse_prefix(text).truncated_to_limits())
    }

    /// As 64 bits, if that is exact.
    pub(super) fn as_integer(&self) -> Option<i64> {
        if self.fraction.is_empty() { self.to_text(0).parse().ok() } else { None }
    }

    pub(super) fn cast(self, number: Number) -> Decimal {
        match number {
            Number::Signed => self.clamped(i128::from(i64::MIN), i128::from(i64::MAX)),
            Number::Unsigned => {
                let cut = self.clamped(i128::from(i64::MIN), i128::from(u64::MAX));
                if cut.is_negative { Decimal::parse_prefix(&(cut.integer_part() + (1 << 64)).to_string()) } else { cut }
            }
            Number::Decimal { digits, places } => {
                let (precision, scale) = clamp_precision(digits, places);
                self.rounded(usize::from(scale)).saturated_to(usize::from(precision - scale), usize::from(scale))
            }
        }
    }

    /// With at least `scale` decimal places.
    pub(super) fn to_text(&self, scale: usize) -> String {
        let mut text = String::new();
        if self.is_negative {
            text.push('-');
        }
        if self.integer.is_empty() {
            text.push('0');
        }
        text.extend(self.integer.iter().copied().map(char::from));
        let scale = scale.max(self.fraction.len());
        if scale > 0 {
            text.push('.');
            let zeros = std::iter::repeat(b'0');
            text.extend(self.fraction.iter().copied().chain(zeros).take(scale).map(char::from));
        }
        text
    }

    /// The number of digits, and of those after the point.
    pub(super) fn precision_and_scale(&self) -> (usize, usize) {
        ((self.integer.len() + self.fraction.len()).max(1), self.fraction.len())
    }

    /// Bytes that sort as the numbers do.
    pub(super) fn sort_key(&self) -> Vec<u8> {
        let length = u8::try_from(self.integer.len()).unwrap_or(u8::MAX);
        let mut key = vec![1, length];
        key.extend(&self.integer);
        key.extend(&self.fraction);
        if self.is_negative {
            // All bytes are inverted, with an end mark, so that of two with a common prefix the longer one is smaller.
            key.push(0);
            key.iter_mut().for_each(|byte| *byte = u8::MAX - *byte);
            if let Some(first) = key.first_mut() {
                *first = 0;
            }
        }
        key
    }

    /// The number of a sort key.
    pub(super) fn from_sort_key(key: &[u8]) -> Option<Decimal> {
        let (sign, rest) = key.split_first()?;
        let is_negative = *sign == 0;
        let mut bytes: Vec<u8> = rest.iter().map(|byte| if is_negative { u8::MAX - byte } else { *byte }).collect();
        if is_negative {
            bytes.pop();
        }
        let (length, digits) = bytes.split_first()?;
        let (integer, fraction) = digits.split_at_checked(usize::from(*length))?;
        Some(Decimal::new(is_negative, integer.to_vec(), fraction.to_vec()))
    }

    fn new(is_negative: bool, integer: Vec<u8>, mut fraction: Vec<u8>) -> Decimal {
        let integer: Vec<u8> = integer.into_iter().skip_while(|digit| *digit == b'0').collect();
        while fraction.last() == Some(&b'0') {
            fraction.pop();
        }
        let is_zero = integer.is_empty() && fraction.is_empty();
        Decimal { is_negative: is_negative && !is_zero, integer, fraction }
    }

    fn truncated_to_limits(self) -> Decimal {
        let precision = usize::from(MAX_PRECISION);
        let mut cut = self.saturated_to(precision, 0);
        let scale = usize::from(MAX_SCALE).min(precision - cut.integer.len());
        cut.fraction.truncate(scale);
        Decimal::new(cut.is_negative, cut.integer, cut.fraction)
    }

    fn clamped(self, min: i128, max: i128) -> Decimal {
        Decimal::parse_prefix(&self.integer_part().clamp(min, max).to_string())
    }

    /// Without its fraction. What exceeds 64 bits by far is truncated, but still exceeds them.
    fn integer_part(&self) -> i128 {
        let integer = self.integer.iter().take(30).fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
        if self.is_negative { -integer } else { integer }
    }

    fn rounded(self, scale: usize) -> Decimal {
        let is_up = self.fraction.get(scale).is_some_and(|digit| *digit >= b'5');
        let mut all = self.integer;
        let mut kept = self.fraction;
        kept.resize(scale, b'0');
        all.extend(kept);
        if is_up {
            let trailing_nines = all.iter().rev().take_while(|digit| **digit == b'9').count();
            let unchanged = all.len() - trailing_nines;
            let (kept, nines) = all.split_at_mut(unchanged);
            nines.fill(b'0');
            match kept.last_mut() {
                Some(digit) => *digit += 1,
                None => all.insert(0, b'1'),
            }
        }
        let fraction = all.split_off(all.len() - scale);
        Decimal::new(self.is_negative, all, fraction)
    }

    /// Itself, or the largest number of its sign with these numbers of digits before and after the point.
    fn saturated_to(self, integer: usize, fraction: usize) -> Decimal {
        if self.integer.len() > integer {
            Decimal::new(self.is_negative, vec![b'9'; integer], vec![b'9'; fraction])
        } else {
            self
        }
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Decimal {
        Decimal::parse_prefix(&number.to_string())
    }
}

/// Precision and scale within the limits of every database.
pub(super) fn clamp_precision(precision: u8, scale: u8) -> (u8, u8) {
    let precision = precision.clamp(1, MAX_PRECISION);
    (precision, scale.min(MAX_SCALE).min(precision))
}

/// The leading digits, and the rest.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_keys_sort_as_the_numbers_do() {
        let ascending =
            ["-100", "-10.5", "-10.25", "-10", "-9", "-0.5", "-0.25", "0", "0.05", "0.5", "9", "10", "10.01"];
        let keys: Vec<Vec<u8>> = ascending.iter().map(|text| Decimal::parse_prefix(text).sort_key()).collect();
        assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
        for (text, key) in ascending.iter().zip(&keys) {
            assert_eq!(Decimal::from_sort_key(key).unwrap().to_text(0), *text);
        }
    }

    #[test]
    fn only_a_complete_number_is_parsed() {
        for text in ["", "1e3", "1.", ".5", " 1", "1 ", "--1", "1.2.3", "NaN", "0x10"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse("-007.50").unwrap().to_text(0), "-7.5");
        assert_eq!(Decimal::parse(&"9".repeat(80)).unwrap().to_text(0), "9".repeat(65));
    }
}
