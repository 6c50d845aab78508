//! The forms that names and casts have: what is published and what is checked, and how a checked text is read.

use frontdesk_engine::model::schema::Pattern;
use frontdesk_engine::ports::site_db::Number;

/// Every database keeps the name of a template variable in 50 characters.
const LONGEST_NAME: usize = 50;

/// The mark that asks for the default where a page has no value.
const DEFAULT_MARK: &str = ":d";

pub(super) static NAME: Pattern = Pattern {
    pattern: "^[A-Za-z0-9_-]{1,50}$",
    fits: is_name,
    expected: "the name of a template variable is expected: letters, digits, _ and -",
};

/// A name, perhaps marked (E-13).
pub(super) static ENTRY: Pattern = Pattern {
    pattern: "^[A-Za-z0-9_-]{1,50}(:d)?$",
    fits: |text| is_name(marked(text).0),
    expected: "the name of a template variable is expected (letters, digits, _ and -), perhaps followed by :d",
};

/// Places beyond the digits are refused too, which a pattern cannot say (E-17).
pub(super) static CAST: Pattern = Pattern {
    pattern: "^(UNSIGNED|SIGNED|DECIMAL\\((0?[1-9]|[1-5][0-9]|6[0-5]),(0?[0-9]|[12][0-9]|30)\\))$",
    fits: |text| cast(text).is_some(),
    expected: "UNSIGNED, SIGNED or DECIMAL(p,s) is expected, with p from 1 to 65, s from 0 to 30 and s at most p",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Otherwise {
    Nothing,
    Default,
}

/// The bare name, and what stands for a value that is missing.
pub(super) fn marked(entry: &str) -> (&str, Otherwise) {
    match entry.strip_suffix(DEFAULT_MARK) {
        Some(name) => (name, Otherwise::Default),
        None => (entry, Otherwise::Nothing),
    }
}

pub(super) fn cast(text: &str) -> Option<Number> {
    match text {
        "UNSIGNED" => Some(Number::Unsigned),
        "SIGNED" => Some(Number::Signed),
        decimal => {
            let (digits, places) = decimal.strip_prefix("DECIMAL(")?.strip_suffix(')')?.split_once(',')?;
            let (digits, places) = (short(digits)?, short(places)?);
            ((1..=65).contains(&digits) && places <= 30 && places <= digits)
                .then_some(Number::Decimal { digits, places })
        }
    }
}

/// One or two digits.
fn short(text: &str) -> Option<u8> {
    let fits = (1..=2).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len())
        && text.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-')
}
