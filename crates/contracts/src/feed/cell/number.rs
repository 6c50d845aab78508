//! Numbers as people write them, exactly and never through a float. One separator with three digits behind it can be
//! read in two ways, and the setting for numbers decides only the likelier one.

use super::CellContext;
use crate::feed::mapping::NumberStyle;
use crate::feed::target::folded;

/// A number in decimal digits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrittenNumber {
    is_negative: bool,
    whole: String,
    fraction: String,
}

const AMBIGUOUS_POINT: &str = "this can mean thousands or decimals: write it without separators, or set numbers = \
    \"decimal_comma\" under [defaults] if the dot separates thousands";
const AMBIGUOUS_COMMA: &str = "this can mean thousands or decimals: write it without separators, or set numbers = \
    \"decimal_point\" under [defaults] if the comma separates thousands";
const NOT_A_NUMBER: &str = "a number is expected, such as 32000 or 32,000";
const TOO_LARGE: &str = "this number is too large";

impl WrittenNumber {
    /// The number if it has no fraction.
    pub(super) fn whole(&self) -> Result<i64, String> {
        self.scaled(0).map_err(|reason| match reason {
            ScaleError::Fraction => "a whole number is expected".to_owned(),
            ScaleError::TooLarge => TOO_LARGE.to_owned(),
        })
    }

    /// The number times ten to this power, if that is whole.
    pub(super) fn scaled(&self, power: usize) -> Result<i64, ScaleError> {
        let fraction = self.fraction.trim_end_matches('0');
        if fraction.len() > power {
            return Err(ScaleError::Fraction);
        }
        let digits = format!("{}{fraction:0<power$}", self.whole);
        let value: i64 = digits.parse().map_err(|_| ScaleError::TooLarge)?;
        Ok(if self.is_negative { -value } else { value })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScaleError {
    /// More decimals than there is room for.
    Fraction,
    TooLarge,
}

pub(super) fn parse(text: &str, style: NumberStyle) -> Result<WrittenNumber, String> {
    let (is_negative, text) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let is_digit = |letter: char| letter.is_ascii_digit();
    if text.contains(['e', 'E']) && text.starts_with(is_digit) {
        return Err(
            "this number is written with an exponent: format the column as text or number and export again".into()
        );
    }
    if !text.starts_with(is_digit) || !text.ends_with(is_digit) || !text.chars().all(|l| is_digit(l) || is_mark(l)) {
        return Err(NOT_A_NUMBER.to_owned());
    }
    let (whole, fraction) = split(text, style)?;
    let whole = ungrouped(whole).ok_or_else(|| NOT_A_NUMBER.to_owned())?;
    if !fraction.chars().all(is_digit) {
        return Err(NOT_A_NUMBER.to_owned());
    }
    Ok(WrittenNumber { is_negative, whole, fraction: fraction.to_owned() })
}

fn is_mark(letter: char) -> bool {
    matches!(letter, '.' | ',') || is_space(letter)
}

/// What only ever separates thousands.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '\u{2019}')
}

/// The parts before and behind the decimal mark, the second empty if there is none.
fn split(text: &str, style: NumberStyle) -> Result<(&str, &str), String> {
    let (points, commas) = (text.matches('.').count(), text.matches(',').count());
    let at = |mark: char| text.rsplit_once(mark).unwrap_or((text, ""));
    let (decimal, reason) = match style {
        NumberStyle::DecimalPoint => ('.', AMBIGUOUS_POINT),
        NumberStyle::DecimalComma => (',', AMBIGUOUS_COMMA),
    };
    match (points, commas) {
        (0, 0) => Ok((text, "")),
        (1, 0) | (0, 1) => {
            let mark = if points == 1 { '.' } else { ',' };
            let (whole, fraction) = at(mark);
            let could_group = fraction.len() == 3 && whole.len() <= 3 && whole != "0";
            if whole.contains(is_space) || !could_group {
                Ok((whole, fraction))
            } else if mark == decimal {
                Err(reason.to_owned())
            } else {
                Ok((text, ""))
            }
        }
        (_, 0) | (0, _) => Ok((text, "")),
        // The last of both is the decimal mark.
        _ => Ok(if text.rfind('.') > text.rfind(',') { at('.') } else { at(',') }),
    }
}

/// The digits of a whole number whose thousands may be separated, all by the same mark.
fn ungrouped(text: &str) -> Option<String> {
    let Some(mark) = text.chars().find(|letter| is_mark(*letter)) else {
        return Some(text.to_owned());
    };
    let mut groups = text.split(mark);
    let first = groups.next().filter(|group| (1..=3).contains(&group.len()))?;
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        digits.push_str(group);
    }
    digits.bytes().all(|digit| digit.is_ascii_digit()).then_some(digits)
}

/// A whole number and its unit, which may stand behind it: `32,000 miles`.
pub(super) fn parse_quantity(
    text: &str,
    units: &[&'static str],
    context: CellContext<'_>,
) -> Result<(i64, &'static str), String> {
    let end = text.rfind(|letter: char| letter.is_ascii_digit()).map_or(0, |at| at + 1);
    let (digits, written) = text.split_at(end);
    let known = |unit: &str| units.iter().copied().find(|word| Some(*word) == unit_word(unit) || *word == unit);
    let unit = match written.trim() {
        "" => [context.column_unit, context.header_unit, context.defaults.distance.as_deref()]
            .into_iter()
            .flatten()
            .next(),
        written => Some(written),
    };
    let Some(unit) = unit else {
        let units = units.join(" or ");
        return Err(format!("the unit is missing: write {units} behind it, or set distance under [defaults]"));
    };
    let unit = known(unit).ok_or_else(|| format!("the unit must be one of these: {}", units.join(", ")))?;
    let whole = parse(digits.trim(), context.defaults.numbers)?.whole()?;
    Ok((whole, unit))
}

/// The short word for a unit of distance.
pub(in crate::feed) fn unit_word(unit: &str) -> Option<&'static str> {
    match folded(unit).as_str() {
        "mi" | "mile" | "miles" | "mls" => Some("mi"),
        "km" | "kms" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => Some("km"),
        _ => None,
    }
}
