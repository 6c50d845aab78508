//! Checking a value against a shape. All problems are found at once, each named by its place and the
//! rule it breaks; a value never stands in a problem, because it may be somebody's personal data.

use serde_json::{Map, Value};

use super::currency::is_currency;
use super::whole::exact_integer;
use super::{Extensions, Field, Presence, Schema, TextFormat};
use crate::model::fault::{Fault, Problem};
use crate::model::nearest::near;
use crate::model::timestamp::Millis;

/// More problems than this are not worth listing.
const MOST_PROBLEMS: usize = 32;

/// More wrong names than this are not guessed at.
const MOST_GUESSES: usize = 4;

/// How amounts of money are written.
const MINOR_UNITS: &str = "minor units of the currency: 2499999 is 24,999.99 USD";

/// Arguments of which every field is known, present where required, and of its shape. Integers are written as such.
pub type Checked = Map<String, Value>;

impl Schema {
    /// What is wrong with a value; nothing if it fits.
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        let mut problems = Problems::default();
        problems.visit(self, &mut value.clone(), Pointer::Root);
        problems.found
    }

    /// Whether a value fits. Integers that were written with a fraction become such.
    pub fn accepts(&self, value: &mut Value) -> bool {
        fits(self, value)
    }

    pub fn check(&self, arguments: Map<String, Value>) -> Result<Checked, Fault> {
        let mut problems = Problems::default();
        let mut value = Value::Object(arguments);
        problems.visit(self, &mut value, Pointer::Root);
        match (problems.found.is_empty(), value) {
            (true, Value::Object(arguments)) => Ok(arguments),
            _ => Err(Fault::invalid(problems.found)),
        }
    }
}

/// A place in the arguments; spelled only if something is wrong there.
#[derive(Clone, Copy)]
enum Pointer<'a> {
    Root,
    Name(&'a Pointer<'a>, &'static str),
    Number(&'a Pointer<'a>, usize),
}

impl Pointer<'_> {
    fn spelled(self) -> String {
        match self {
            Pointer::Root => String::new(),
            Pointer::Name(above, name) => format!("{}/{name}", above.spelled()),
            Pointer::Number(above, number) => format!("{}/{number}", above.spelled()),
        }
    }
}

#[derive(Default)]
struct Problems {
    found: Vec<Problem>,
}

impl Problems {
    fn add(&mut self, pointer: Pointer<'_>, keyword: &'static str, expected: impl Into<String>) {
        if self.found.len() < MOST_PROBLEMS {
            self.found.push(Problem { pointer: pointer.spelled(), keyword, expected: expected.into() });
        }
    }

    /// A whole number that was written with a fraction or an exponent becomes an integer.
    fn visit(&mut self, shape: &Schema, value: &mut Value, pointer: Pointer<'_>) {
        match shape {
            Schema::Object(fields) => self.object(fields, None, value, pointer),
            Schema::Extended { fields, extensions } => self.object(fields, Some(extensions), value, pointer),
            Schema::Map(of) => match value.as_object_mut() {
                // A name is the caller's, and never repeated.
                Some(object) => object.values_mut().for_each(|value| self.visit(of, value, pointer)),
                None => self.add(pointer, "type", "an object is expected"),
            },
            Schema::AnyObject => {
                if !value.is_object() {
                    self.add(pointer, "type", "an object is expected");
                }
            }
            Schema::List { of, min, max } => {
                let Some(items) = value.as_array_mut() else {
                    return self.add(pointer, "type", "an array is expected");
                };
                if items.len() < *min {
                    return self.add(pointer, "minItems", format!("at least {min} is expected"));
                }
                if items.len() > *max {
                    return self.add(pointer, "maxItems", format!("at most {max} items are allowed"));
                }
                for (position, item) in items.iter_mut().enumerate() {
                    self.visit(of, item, Pointer::Number(&pointer, position));
                }
            }
            Schema::Text(text) => match value.as_str() {
                Some(given) => {
                    if let Err((keyword, expected)) = text.check(given) {
                        self.add(pointer, keyword, expected);
                    }
                }
                None => self.add(pointer, "type", "a string is expected"),
            },
            Schema::Integer { min, max } => {
                if let Value::Number(number) = value
                    && let Some(whole) = exact_integer(number)
                {
                    *number = whole.into();
                }
                self.integer(*min, *max, value, pointer, "an integer is expected");
            }
            Schema::MinorUnits { max } => {
                self.integer(0, *max, value, pointer, format!("a whole number of {MINOR_UNITS}"));
            }
            Schema::Number { min, max } => match value.as_f64() {
                Some(given) if given < *min => self.add(pointer, "minimum", format!("it must be at least {min}")),
                Some(given) if given > *max => self.add(pointer, "maximum", format!("it must be at most {max}")),
                Some(_) => {}
                None => self.add(pointer, "type", "a number is expected"),
            },
            Schema::Boolean => {
                if !value.is_boolean() {
                    self.add(pointer, "type", "true or false is expected");
                }
            }
            Schema::Nullable(of) | Schema::Clearable(of) => {
                if !value.is_null() {
                    self.visit(of, value, pointer);
                }
            }
            Schema::AnyOf { shapes, expected } => {
                if !shapes.iter().any(|shape| fits(shape, value)) {
                    self.add(pointer, "anyOf", *expected);
                }
            }
        }
    }

    fn integer(&mut self, min: i64, max: i64, value: &Value, pointer: Pointer<'_>, expected: impl Into<String>) {
        match value.as_i64() {
            Some(given) if given < min => self.add(pointer, "minimum", format!("it must be at least {min}")),
            Some(given) if given > max => self.add(pointer, "maximum", format!("it must be at most {max}")),
            Some(_) => {}
            None if value.is_u64() => self.add(pointer, "maximum", format!("it must be at most {max}")),
            None => self.add(pointer, "type", expected),
        }
    }

    fn object(&mut self, fields: &[Field], extensions: Option<&Extensions>, value: &mut Value, pointer: Pointer<'_>) {
        let Some(object) = value.as_object_mut() else {
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let money = fields.iter().find(|field| matches!(field.schema, Schema::MinorUnits { .. }));
            let unit = money.map(|field| format!("; {} is in {MINOR_UNITS}", field.name)).unwrap_or_default();
            return self.add(pointer, "type", format!("an object with {} is expected{unit}", names.join(", ")));
        };
        for field in fields {
            let place = Pointer::Name(&pointer, field.name);
            match (object.get_mut(field.name), field.presence) {
                (Some(value), _) => self.visit(&field.schema, value, place),
                (None, Presence::Required) => self.add(place, "required", required(&field.schema)),
                (None, Presence::Optional) => {}
            }
        }
        let (mut unknown, mut extended) = (Vec::new(), 0_usize);
        let is_declared = |name: &str| fields.iter().any(|field| field.name == name);
        for (name, value) in object.iter_mut().filter(|(name, _)| !is_declared(name)) {
            match extensions {
                Some(extensions) if (extensions.names.fits)(name) => {
                    extended += 1;
                    self.visit(&extensions.of, value, pointer);
                }
                Some(_) | None => unknown.push(name.clone()),
            }
        }
        if let Some(extensions) = extensions.filter(|extensions| extended > extensions.max) {
            self.add(pointer, "maxProperties", format!("at most {} added fields are allowed", extensions.max));
        }
        if !unknown.is_empty() {
            let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let missing = known.iter().copied().filter(|name| !object.contains_key(*name)).collect();
            self.unknown(pointer, &known, missing, &unknown);
        }
    }

    /// An unknown name is not repeated, because a caller may have put personal data there; the one of ours that it
    /// resembles is.
    fn unknown(&mut self, pointer: Pointer<'_>, known: &[&str], mut missing: Vec<&str>, unknown: &[String]) {
        let mut meant = Vec::new();
        for name in unknown.iter().take(MOST_GUESSES) {
            if let Some(right) = near(name, missing.iter().copied()) {
                missing.retain(|name| *name != right);
                meant.push(right);
            }
        }
        let guess = if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(", ")) };
        self.add(pointer, "additionalProperties", format!("only these are known: {}{guess}", known.join(", ")));
    }
}

/// What is said of a required value that is absent. The words of a vocabulary are named, because a caller that left it
/// out has not seen them.
fn required(shape: &Schema) -> String {
    match shape {
        Schema::Text(TextFormat::OneOf(words)) => format!("it is required, as one of these: {}", words.join(", ")),
        Schema::Nullable(of) | Schema::Clearable(of) => required(of),
        Schema::Object(_)
        | Schema::Extended { .. }
        | Schema::Map(_)
        | Schema::AnyObject
        | Schema::List { .. }
        | Schema::Text(_)
        | Schema::Integer { .. }
        | Schema::MinorUnits { .. }
        | Schema::Number { .. }
        | Schema::Boolean
        | Schema::AnyOf { .. } => "it is required".to_owned(),
    }
}

fn fits(shape: &Schema, value: &mut Value) -> bool {
    let mut problems = Problems::default();
    problems.visit(shape, value, Pointer::Root);
    problems.found.is_empty()
}

impl TextFormat {
    fn check(&self, given: &str) -> Result<(), (&'static str, String)> {
        match self {
            TextFormat::Free { min, max } => {
                let length = given.chars().count();
                if length < *min {
                    Err(("minLength", format!("at least {min} characters are expected")))
                } else if length > *max {
                    Err(("maxLength", format!("at most {max} characters are allowed")))
                } else if given.chars().any(|letter| letter == '\0') {
                    Err(("pattern", "a NUL character is not allowed".to_owned()))
                } else {
                    Ok(())
                }
            }
            TextFormat::OneOf(words) if words.contains(&given) => Ok(()),
            TextFormat::OneOf(words) => Err(("enum", format!("one of these is expected: {}", words.join(", ")))),
            TextFormat::Timestamp if Millis::parse(given).is_some() => Ok(()),
            TextFormat::Timestamp => Err((
                "format",
                "an RFC 3339 date and time with an offset is expected, such as 2026-01-31T09:30:00Z".to_owned(),
            )),
            TextFormat::Email if is_email(given) => Ok(()),
            TextFormat::Email => Err(("format", "an e-mail address is expected".to_owned())),
            TextFormat::Phone if is_phone(given) => Ok(()),
            TextFormat::Phone => {
                Err(("pattern", "a telephone number in E.164 form is expected, such as +15125550123".to_owned()))
            }
            TextFormat::Currency if is_currency(given) => Ok(()),
            TextFormat::Currency => Err(("pattern", "an ISO 4217 currency code is expected, such as USD".to_owned())),
            TextFormat::Date if is_date(given) => Ok(()),
            TextFormat::Date => Err(("format", "a date is expected, such as 2026-01-31".to_owned())),
            TextFormat::HttpsUrl if is_https_url(given) => Ok(()),
            TextFormat::HttpsUrl => Err(("format", "an https URL is expected".to_owned())),
            TextFormat::Matching(pattern) if pattern.fits(given) => Ok(()),
            TextFormat::Matching(pattern) => Err(("pattern", format!("it must match {}", pattern.as_str()))),
            TextFormat::Pattern(form) if (form.fits)(given) => Ok(()),
            TextFormat::Pattern(form) => Err(("pattern", form.expected.to_owned())),
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && Millis::parse(&format!("{text}T00:00:00Z")).is_some()
}

fn is_https_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").unwrap_or_default();
    text.len() <= 2_000
        && !rest.is_empty()
        && !rest.starts_with('/')
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_email(text: &str) -> bool {
    let plain = text.len() <= 254 && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    match text.rsplit_once('@') {
        Some((local, host)) => {
            plain
                && !local.is_empty()
                && local.len() <= 64
                && !local.contains('@')
                && host.contains('.')
                && !host.starts_with('.')
                && !host.ends_with('.')
                && !host.contains("..")
        }
        None => false,
    }
}

fn is_phone(text: &str) -> bool {
    match text.strip_prefix('+') {
        Some(digits) => {
            (7..=15).contains(&digits.len())
                && !digits.starts_with('0')
                && digits.bytes().all(|digit| digit.is_ascii_digit())
        }
        None => false,
    }
}
