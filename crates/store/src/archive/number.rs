//! Numbers in texts: how they are read, cut to a cast and compared. This is the meaning that the statements of every
//! database must have; SQLite, which has no such numbers, runs this very code.

use std::cmp::Ordering;

use frontdesk_engine::ports::site_db::Number;

/// No database here has more digits.
const MOST_DIGITS: u8 = 65;
const MOST_PLACES: u8 = 30;

/// A decimal number without needless zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    whole: Vec<u8>,
    fraction: Vec<u8>,
}

impl Decimal {
    /// What the text begins with: blanks, a sign, digits, a point, digits; each may be missing. An exponent does not
    /// count.
    pub(crate) fn leading(text: &str) -> Decimal {
        let text = text.trim_start_matches(|letter| matches!(letter, '\t'..='\r' | ' '));
        let (is_negative, text) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            Some(_) | None => (false, text),
        };
        let (whole, rest) = digits(text);
        let fraction = rest.strip_prefix('.').map(|rest| digits(rest).0).unwrap_or_default();
        Decimal::of(is_negative, whole.as_bytes().to_vec(), fraction.as_bytes().to_vec())
    }

    /// The number that the whole text is, if it is one; never more digits than can be compared.
    pub(crate) fn exactly(text: &str) -> Option<Decimal> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, rest) = digits(unsigned);
        let fraction = match rest.strip_prefix('.') {
            Some(rest) => rest,
            None if rest.is_empty() => "0",
            None => return None,
        };
        let is_number = !whole.is_empty() && !fraction.is_empty() && digits(fraction).1.is_empty();
        is_number.then(|| Decimal::leading(text).comparable())
    }

    pub(crate) fn of_integer(number: i64) -> Decimal {
        Decimal::leading(&number.to_string())
    }

    /// The same as 64 bits, if nothing is lost.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        if self.fraction.is_empty() { self.written(0).parse().ok() } else { None }
    }

    pub(crate) fn cast(self, number: Number) -> Decimal {
        match number {
            Number::Signed => self.between(i128::from(i64::MIN), i128::from(i64::MAX)),
            Number::Unsigned => {
                let cut = self.between(i128::from(i64::MIN), i128::from(u64::MAX));
                match cut.is_negative {
                    true => Decimal::leading(&(cut.saturated() + (1 << 64)).to_string()),
                    false => cut,
                }
            }
            Number::Decimal { digits, places } => {
                let (digits, places) = bounds(digits, places);
                self.rounded(usize::from(places)).within(usize::from(digits - places), usize::from(places))
            }
        }
    }

    /// With so many places behind the point.
    pub(crate) fn written(&self, places: usize) -> String {
        let mut text = String::new();
        if self.is_negative {
            text.push('-');
        }
        match self.whole.is_empty() {
            true => text.push('0'),
            false => text.extend(self.whole.iter().copied().map(char::from)),
        }
        let places = places.max(self.fraction.len());
        if places > 0 {
            text.push('.');
            let zeros = std::iter::repeat(b'0');
            text.extend(self.fraction.iter().copied().chain(zeros).take(places).map(char::from));
        }
        text
    }

    /// How many digits there are in all, and how many of them behind the point.
    pub(crate) fn shape(&self) -> (usize, usize) {
        ((self.whole.len() + self.fraction.len()).max(1), self.fraction.len())
    }

    /// Bytes whose order is the order of the numbers.
    pub(crate) fn key(&self) -> Vec<u8> {
        let length = u8::try_from(self.whole.len()).unwrap_or(u8::MAX);
        let mut key = vec![1, length];
        key.extend(&self.whole);
        key.extend(&self.fraction);
        if self.is_negative {
            // Everything is turned round; the end too, for of two that begin alike the longer one is smaller.
            key.push(0);
            key.iter_mut().for_each(|byte| *byte = u8::MAX - *byte);
            if let Some(first) = key.first_mut() {
                *first = 0;
            }
        }
        key
    }

    /// The number that the key was made of.
    pub(crate) fn of_key(key: &[u8]) -> Option<Decimal> {
        let (sign, rest) = key.split_first()?;
        let is_negative = *sign == 0;
        let mut bytes: Vec<u8> = rest.iter().map(|byte| if is_negative { u8::MAX - byte } else { *byte }).collect();
        if is_negative {
            bytes.pop();
        }
        let (length, digits) = bytes.split_first()?;
        let (whole, fraction) = digits.split_at_checked(usize::from(*length))?;
        Some(Decimal::of(is_negative, whole.to_vec(), fraction.to_vec()))
    }

    fn of(is_negative: bool, whole: Vec<u8>, mut fraction: Vec<u8>) -> Decimal {
        let whole: Vec<u8> = whole.into_iter().skip_while(|digit| *digit == b'0').collect();
        while fraction.last() == Some(&b'0') {
            fraction.pop();
        }
        let is_zero = whole.is_empty() && fraction.is_empty();
        Decimal { is_negative: is_negative && !is_zero, whole, fraction }
    }

    fn comparable(self) -> Decimal {
        let most = usize::from(MOST_DIGITS);
        let mut cut = self.within(most, 0);
        let places = usize::from(MOST_PLACES).min(most - cut.whole.len());
        cut.fraction.truncate(places);
        Decimal::of(cut.is_negative, cut.whole, cut.fraction)
    }

    fn between(self, least: i128, most: i128) -> Decimal {
        Decimal::leading(&self.saturated().clamp(least, most).to_string())
    }

    /// Without its fraction; what is far beyond 64 bits stays far beyond them.
    fn saturated(&self) -> i128 {
        let whole = self.whole.iter().take(30).fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
        if self.is_negative { -whole } else { whole }
    }

    fn rounded(self, places: usize) -> Decimal {
        let is_up = self.fraction.get(places).is_some_and(|digit| *digit >= b'5');
        let mut all = self.whole;
        let mut kept = self.fraction;
        kept.resize(places, b'0');
        all.extend(kept);
        if is_up {
            let mut carry = true;
            for digit in all.iter_mut().rev() {
                match (carry, *digit) {
                    (true, b'9') => *digit = b'0',
                    (true, _) => {
                        *digit += 1;
                        carry = false;
                    }
                    (false, _) => break,
                }
            }
            if carry {
                all.insert(0, b'1');
            }
        }
        let fraction = all.split_off(all.len() - places);
        Decimal::of(self.is_negative, all, fraction)
    }

    /// Itself, or the greatest of its sign with so many digits before the point and behind it.
    fn within(self, whole: usize, fraction: usize) -> Decimal {
        match self.whole.len().cmp(&whole) {
            Ordering::Greater => Decimal::of(self.is_negative, vec![b'9'; whole], vec![b'9'; fraction]),
            Ordering::Less | Ordering::Equal => self,
        }
    }
}

/// Digits and places as every database can have them.
pub(crate) fn bounds(digits: u8, places: u8) -> (u8, u8) {
    let digits = digits.clamp(1, MOST_DIGITS);
    (digits, places.min(MOST_PLACES).min(digits))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_is_the_order_of_numbers() {
        let rising = ["-100", "-10.5", "-10.25", "-10", "-9", "-0.5", "-0.25", "0", "0.05", "0.5", "9", "10", "10.01"];
        let keys: Vec<Vec<u8>> = rising.iter().map(|text| Decimal::leading(text).key()).collect();
        assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
        for (text, key) in rising.iter().zip(&keys) {
            assert_eq!(Decimal::of_key(key).unwrap().written(0), *text);
        }
    }

    #[test]
    fn only_a_whole_number_is_one() {
        for text in ["", "1e3", "1.", ".5", " 1", "1 ", "--1", "1.2.3", "NaN", "0x10"] {
            assert_eq!(Decimal::exactly(text), None, "{text}");
        }
        assert_eq!(Decimal::exactly("-007.50").unwrap().written(0), "-7.5");
        assert_eq!(Decimal::exactly(&"9".repeat(80)).unwrap().written(0), "9".repeat(65));
    }
}
