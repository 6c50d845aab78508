//! Telephone numbers in E.164 form, as far as what is written leaves no doubt.

/// Country calling codes of the countries where a national number is dialled with a 0 that is no part of it.
const WITH_TRUNK_ZERO: &[&str] = &[
    "27", "31", "32", "33", "40", "41", "43", "44", "46", "49", "61", "62", "63", "64", "66", "81", "82", "84", "86",
    "90", "91", "92", "353", "358", "359", "380", "381", "385", "386", "421", "972",
];

const WITHOUT_CODE: &str = "the country of this number is not clear: write it with + and the country calling code, or \
    set calling_code under [defaults]";
const NOT_A_NUMBER: &str = "a telephone number is expected, such as +15125550123";

/// The number with `+` and country calling code. `calling_code` is that of numbers which have none.
pub(crate) fn to_e164(text: &str, calling_code: Option<&str>) -> Result<String, String> {
    let text = text.trim();
    let is_mark =
        |letter: char| matches!(letter, ' ' | '-' | '.' | '(' | ')' | '/' | '\u{a0}' | '\u{2011}' | '\u{2013}');
    let (is_international, rest) = match text.strip_prefix('+').or_else(|| text.strip_prefix("00")) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if !rest.chars().all(|letter| letter.is_ascii_digit() || is_mark(letter)) {
        return Err(NOT_A_NUMBER.to_owned());
    }
    // (0) in an international number is the zero that is dialled inside the country only.
    let rest = if is_international { rest.replacen("(0)", "", 1) } else { rest.to_owned() };
    let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
    let number = match (is_international, calling_code) {
        (true, _) => digits,
        (false, None) => return Err(WITHOUT_CODE.to_owned()),
        (false, Some("1")) => north_american(&digits).ok_or(NOT_A_NUMBER)?,
        (false, Some(code)) => match digits.strip_prefix('0') {
            Some(national) if WITH_TRUNK_ZERO.contains(&code) && !national.starts_with('0') => {
                format!("{code}{national}")
            }
            Some(_) => return Err(WITHOUT_CODE.to_owned()),
            None => format!("{code}{digits}"),
        },
    };
    if (7..=15).contains(&number.len()) && !number.starts_with('0') {
        Ok(format!("+{number}"))
    } else {
        Err(NOT_A_NUMBER.to_owned())
    }
}

/// Ten digits, or eleven with the country's 1. Neither area code nor exchange begins with 0 or 1.
fn north_american(digits: &str) -> Option<String> {
    let national = if digits.len() == 11 { digits.strip_prefix('1')? } else { digits };
    let starts = [national.get(..1)?, national.get(3..4)?];
    let is_valid = national.len() == 10 && starts.into_iter().all(|digit| digit != "0" && digit != "1");
    is_valid.then(|| format!("1{national}"))
}
