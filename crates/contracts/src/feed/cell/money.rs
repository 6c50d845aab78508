//! Amounts of money as people write them, in minor units of their currency. A sign that several currencies share does
//! not say which one is meant.

use frontdesk_engine::model::schema::{Schema, TextFormat, required};
use serde_json::{Map, Value};

use super::CellContext;
use super::number::{self, ScaleError};

/// The amount in minor units, and the currency.
pub(super) fn parse(text: &str, context: CellContext<'_>) -> Result<(i64, String), String> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let start = text.find(is_digit).ok_or("an amount is expected, such as 24,999.00 USD")?;
    let end = text.rfind(is_digit).map_or(start, |at| at + 1);
    let (before, rest) = text.split_at(start);
    let (digits, after) = rest.split_at(end - start);
    let (is_negative, before) = match before.trim().strip_prefix('-') {
        Some(before) => (true, before.trim()),
        None => (false, before.trim()),
    };
    if is_negative || before.ends_with('-') {
        return Err("an amount must not be negative".to_owned());
    }
    let currency = currency([before, after.trim()], context)?;
    let decimal = number::parse(digits, context.defaults.numbers)?;
    let exponent = exponent(&currency);
    let minor = decimal.scaled(exponent).map_err(|error| match error {
        ScaleError::Fraction => format!("{currency} has {exponent} decimals, and this amount has more"),
        ScaleError::TooLarge => "this amount is too large".to_owned(),
    })?;
    Ok((minor, currency))
}

/// The currency of what stands around the digits, or of what is known otherwise.
fn currency(marks: [&str; 2], context: CellContext<'_>) -> Result<String, String> {
    let known = [context.column_unit, context.header_unit, context.defaults.currency.as_deref()];
    let known = known.into_iter().flatten().next().map(str::to_ascii_uppercase);
    let (mut code, mut sign) = (None, None);
    for mark in marks.into_iter().filter(|mark| !mark.is_empty()) {
        let upper = mark.to_uppercase();
        if is_currency(&upper) {
            code = Some(upper);
        } else if let Some((_, currencies)) = SIGNS.iter().find(|(sign, _)| sign.to_uppercase() == upper) {
            sign = Some(*currencies);
        } else {
            return Err("an amount with a currency is expected, such as 24,999.00 USD".to_owned());
        }
    }
    if let (Some(code), Some(column)) = (&code, context.column_unit)
        && !code.eq_ignore_ascii_case(column)
    {
        return Err("the currency here is another than that of the column for it".to_owned());
    }
    let single = sign.filter(|currencies| currencies.len() == 3).map(str::to_owned);
    let Some(currency) = code.or(known).or(single) else {
        return Err(match sign {
            Some(_) => "this currency sign is that of several currencies: set currency under [defaults]".to_owned(),
            None => "the currency is missing: write it behind the amount, or set currency under [defaults]".to_owned(),
        });
    };
    match sign {
        Some(currencies) if !currencies.split(' ').any(|code| code == currency) => {
            Err(format!("this currency sign is not that of {currency}"))
        }
        Some(_) | None => Ok(currency),
    }
}

pub(in crate::feed) fn is_currency(code: &str) -> bool {
    let schema = Schema::object([required("currency", Schema::Text(TextFormat::Currency), "")]);
    code.len() == 3 && schema.check(Map::from_iter([("currency".to_owned(), Value::from(code))])).is_ok()
}

/// Signs, and the currencies that have them.
const SIGNS: &[(&str, &str)] = &[
    (
        "$",
        "USD CAD AUD NZD SGD HKD MXN TWD ARS CLP COP BSD BBD BMD BND BZD FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD DOP UYU",
    ),
    ("US$", "USD"),
    ("C$", "CAD"),
    ("CA$", "CAD"),
    ("A$", "AUD"),
    ("AU$", "AUD"),
    ("R$", "BRL"),
    ("€", "EUR"),
    ("£", "GBP EGP FKP GIP LBP SDG SHP SSP SYP"),
    ("¥", "JPY CNY"),
    ("₹", "INR"),
    ("kr", "SEK NOK DKK ISK"),
    ("kr.", "SEK NOK DKK ISK"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("Ft", "HUF"),
    ("₩", "KRW KPW"),
    ("₺", "TRY"),
    ("₽", "RUB"),
    ("₴", "UAH"),
];

/// How many decimals the currency has (ISO 4217).
fn exponent(currency: &str) -> usize {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI" | "VND"
        | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    }
}
