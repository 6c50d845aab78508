//! The number under which a business pays goods and services tax in India: its form and its check digit. Whether it was
//! ever issued is not known here.

use std::fmt::{self, Display, Formatter};

/// What the digits and letters of a GSTIN count, in this order.
const VALUES: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The fourth letter of a PAN: what kind of person has it.
const HOLDERS: &[u8] = b"ABCFGHJLPT";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GstinError {
    Length(usize),
    State,
    Pan,
    Suffix,
    CheckDigit(char),
}

impl Display for GstinError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            GstinError::Length(length) => write!(out, "a GSTIN has 15 characters, not {length}"),
            GstinError::State => write!(out, "a GSTIN begins with the code of a state, 01 to 38 or 97"),
            GstinError::Pan => write!(out, "characters 3 to 12 of a GSTIN are a PAN, such as AAPFU0939F"),
            GstinError::Suffix => {
                write!(out, "characters 13 and 14 of a GSTIN are a number of 1 to 9 or A to Z and a letter, such as 1Z")
            }
            GstinError::CheckDigit(right) => {
                write!(out, "the last character of the GSTIN does not match; for the others it is {right}")
            }
        }
    }
}

/// Checks a GSTIN as it is printed: digits and upper case letters.
pub(super) fn check(text: &str) -> Result<(), GstinError> {
    let bytes: [u8; 15] = text.as_bytes().try_into().map_err(|_| GstinError::Length(text.chars().count()))?;
    let [s1, s2, p1, p2, p3, p4, p5, n1, n2, n3, n4, p6, entity, kind, last] = bytes;
    let is_state = |code: u32| (1..=38).contains(&code) || code == 97;
    if !(s1.is_ascii_digit() && s2.is_ascii_digit() && is_state(u32::from(s1 - b'0') * 10 + u32::from(s2 - b'0'))) {
        return Err(GstinError::State);
    }
    let has_letters = [p1, p2, p3, p4, p5, p6].iter().all(u8::is_ascii_uppercase) && HOLDERS.contains(&p4);
    if !has_letters || ![n1, n2, n3, n4].iter().all(u8::is_ascii_digit) {
        return Err(GstinError::Pan);
    }
    let is_entity = entity.is_ascii_uppercase() || (b'1'..=b'9').contains(&entity);
    if !is_entity || !kind.is_ascii_uppercase() {
        return Err(GstinError::Suffix);
    }
    let right = check_digit(bytes.iter().take(14));
    if last == right { Ok(()) } else { Err(GstinError::CheckDigit(char::from(right))) }
}

/// Each value counts once or twice in turn; of each product both digits to the base 36 are added up.
fn check_digit<'a>(letters: impl Iterator<Item = &'a u8>) -> u8 {
    let value = |letter: &u8| VALUES.iter().position(|known| known == letter).unwrap_or_default();
    let sum: usize = letters
        .enumerate()
        .map(|(at, letter)| {
            let product = value(letter) * (at % 2 + 1);
            product / 36 + product % 36
        })
        .sum();
    VALUES.get((36 - sum % 36) % 36).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{GstinError, check};

    #[test]
    fn t_160_a_gstin_has_its_check_digit() {
        // As documentation of tax software prints them.
        for valid in ["27AAPFU0939F1ZV", "29AAGCB7383J1Z4", "24AAACC1206D1ZM"] {
            assert_eq!(check(valid), Ok(()), "{valid}");
        }
        assert_eq!(check("27AAPFU0939F1ZW"), Err(GstinError::CheckDigit('V')));
        assert_eq!(check("27AAPFU0993F1ZV"), Err(GstinError::CheckDigit('P')), "two digits are swapped");
    }

    #[test]
    fn every_part_has_its_form() {
        for (text, error) in [
            ("", GstinError::Length(0)),
            ("27AAPFU0939F1Z", GstinError::Length(14)),
            ("00AAPFU0939F1ZV", GstinError::State),
            ("39AAPFU0939F1ZV", GstinError::State),
            ("2XAAPFU0939F1ZV", GstinError::State),
            ("27AAPXU0939F1ZV", GstinError::Pan),
            ("27AAPFU093XF1ZV", GstinError::Pan),
            ("27aapfu0939f1zv", GstinError::Pan),
            ("27AAPFU0939F0ZV", GstinError::Suffix),
            ("27AAPFU0939F15V", GstinError::Suffix),
        ] {
            assert_eq!(check(text), Err(error), "{text}");
        }
    }
}
