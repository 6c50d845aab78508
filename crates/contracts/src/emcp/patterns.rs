//! Patterns of names and casts: the regular expression that is published, the check that runs, and the parser.

use frontdesk_engine::model::schema::Pattern;
use frontdesk_engine::ports::site_db::Number;

/// The length of the column `site_tmplvars.name`.
const MAX_NAME_LENGTH: usize = 50;

/// Appended to a name, it selects the default where a page has no value.
const DEFAULT_SUFFIX: &str = ":d";

pub(super) static NAME: Pattern = Pattern {
    pattern: "^[A-Za-z0-9_-]{1,50}$",
    fits: is_name,
    expected: "the name of a template variable is expected: letters, digits, _ and -",
};

/// A name with or without the suffix (E-13).
pub(super) static NAME_WITH_SUFFIX: Pattern = Pattern {
    pattern: "^[A-Za-z0-9_-]{1,50}(:d)?$",
    fits: |text| is_name(split_default_suffix(text).0),
    expected: "the name of a template variable is expected (letters, digits, _ and -), perhaps followed by :d",
};

/// `cast` also refuses a scale above the precision, which a regular expression cannot express (E-17).
pub(super) static CAST: Pattern = Pattern {
    pattern: "^(UNSIGNED|SIGNED|DECIMAL\\((0?[1-9]|[1-5][0-9]|6[0-5]),(0?[0-9]|[12][0-9]|30)\\))$",
    fits: |text| cast(text).is_some(),
    expected: "UNSIGNED, SIGNED or DECIMAL(p,s) is expected, with p from 1 to 65, s from 0 to 30 and s at most p",
};

/// What a page without a value of the variable shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum VariableFallback {
    Null,
    /// The default of the variable.
    Default,
}

pub(super) fn split_default_suffix(entry: &str) -> (&str, VariableFallback) {
    match entry.strip_suffix(DEFAULT_SUFFIX) {
        Some(name) => (name, VariableFallback::Default),
        None => (entry, VariableFallback::Null),
    }
}

pub(super) fn cast(text: &str) -> Option<Number> {
    match text {
        "UNSIGNED" => Some(Number::Unsigned),
        "SIGNED" => Some(Number::Signed),
        decimal => {
            let (digits, places) = decimal.strip_prefix("DECIMAL(")?.strip_suffix(')')?.split_once(',')?;
            let (digits, places) = (one_or_two_digits(digits)?, one_or_two_digits(places)?);
            ((1..=65).contains(&digits) && places <= 30 && places <= digits)
                .then_some(Number::Decimal { digits, places })
        }
    }
}

fn one_or_two_digits(text: &str) -> Option<u8> {
    let fits = (1..=2).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_LENGTH).contains(&text.len())
        && text.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-')
}
