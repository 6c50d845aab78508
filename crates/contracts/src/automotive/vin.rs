//! Vehicle identification numbers: validation, make and model year. It must never reject a number for a rule that does
//! not apply in its market.

use std::fmt;

/// Seventeen allowed characters in upper case; a North American number also has a valid check digit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vin(String);

/// Why a text is not a VIN. It never repeats the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VinError {
    Length { found: usize },
    Character { position: usize },
    CheckDigit,
}

impl Vin {
    pub const LENGTH: usize = 17;

    /// Accepts either case. The check digit is required only where the law demands it (49 CFR 565): a European or
    /// Indian number may be valid without one; see [`Vin::has_valid_check_digit`].
    pub fn parse(text: &str) -> Result<Self, VinError> {
        let found = text.chars().count();
        if found != Self::LENGTH {
            return Err(VinError::Length { found });
        }
        let upper = text.to_ascii_uppercase();
        if let Some(index) = upper.chars().position(|c| value(c).is_none()) {
            return Err(VinError::Character { position: index + 1 });
        }
        let vin = Self(upper);
        if vin.is_north_american() && !vin.has_valid_check_digit() {
            return Err(VinError::CheckDigit);
        }
        Ok(vin)
    }

    /// Builds a number from its parts (positions 1 to 8, 10, 11 and 12 to 17) and computes position 9.
    /// `None` if the result would not decode to that model year.
    pub fn assemble(descriptor: &str, model_year: u16, plant: char, serial: u32) -> Option<Self> {
        let code = year_code(model_year)?;
        let digit = check_digit(&format!("{descriptor}0{code}{plant}{serial:06}"))?;
        let vin = Self::parse(&format!("{descriptor}{digit}{code}{plant}{serial:06}")).ok()?;
        (vin.year() == Some(model_year)).then_some(vin)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether position 9 is the check digit of the others. Outside North America false is not an error.
    pub fn has_valid_check_digit(&self) -> bool {
        check_digit(&self.0) == self.at(9)
    }

    /// The make, where the manufacturer code alone or with position 5 determines it.
    pub fn make(&self) -> Option<&'static str> {
        if STELLANTIS.iter().any(|code| self.0.starts_with(code)) {
            return stellantis_make(self.at(5)?);
        }
        MAKES.iter().find(|(code, _)| self.0.starts_with(code)).map(|(_, make)| *make)
    }

    /// The model year of position 10. A letter at position 7 means the cycle from 2010, a digit the one
    /// before; a number whose check digit fails does not follow that rule, so its year is not known.
    pub fn year(&self) -> Option<u16> {
        if !self.has_valid_check_digit() {
            return None;
        }
        let code = self.at(10)?;
        let step = u16::try_from(YEAR_CODES.chars().position(|c| c == code)?).ok()?;
        let cycle = if self.at(7)?.is_ascii_digit() { 1980 } else { 2010 };
        Some(cycle + step)
    }

    fn is_north_american(&self) -> bool {
        self.at(1).is_some_and(|c| ('1'..='5').contains(&c))
    }

    /// The character at a position counted from 1, as the standard counts.
    fn at(&self, position: usize) -> Option<char> {
        self.0.chars().nth(position.checked_sub(1)?)
    }
}

impl fmt::Display for Vin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Vin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Vin({})", self.0)
    }
}

impl fmt::Display for VinError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { found } => write!(out, "a VIN has 17 characters, not {found}"),
            Self::Character { position } => write!(
                out,
                "the character at position {position} cannot be in a VIN (digits and letters except I, O and Q)"
            ),
            Self::CheckDigit => out.write_str("the check digit at position 9 does not match"),
        }
    }
}

impl std::error::Error for VinError {}

/// The check digit for position 9 of these seventeen characters; the current character there is ignored.
pub fn check_digit(text: &str) -> Option<char> {
    if text.chars().count() != Vin::LENGTH {
        return None;
    }
    let mut sum = 0;
    for (character, weight) in text.chars().zip(WEIGHTS) {
        sum += value(character.to_ascii_uppercase())? * weight;
    }
    match sum % 11 {
        10 => Some('X'),
        rest => char::from_digit(rest, 10),
    }
}

const WEIGHTS: [u32; Vin::LENGTH] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/// The value of a character in the check sum; `None` for a character that no VIN contains.
fn value(character: char) -> Option<u32> {
    match character {
        '0' => Some(0),
        '1' | 'A' | 'J' => Some(1),
        '2' | 'B' | 'K' | 'S' => Some(2),
        '3' | 'C' | 'L' | 'T' => Some(3),
        '4' | 'D' | 'M' | 'U' => Some(4),
        '5' | 'E' | 'N' | 'V' => Some(5),
        '6' | 'F' | 'W' => Some(6),
        '7' | 'G' | 'P' | 'X' => Some(7),
        '8' | 'H' | 'Y' => Some(8),
        '9' | 'R' | 'Z' => Some(9),
        _ => None,
    }
}

/// Thirty codes, one for each year of a cycle; I, O, Q, U, Z and 0 are never used.
const YEAR_CODES: &str = "ABCDEFGHJKLMNPRSTVWXY123456789";

fn year_code(year: u16) -> Option<char> {
    YEAR_CODES.chars().nth(usize::from(year.checked_sub(1980)? % 30))
}

/// Codes of one manufacturer whose makes differ in position 5.
const STELLANTIS: [&str; 7] = ["1C3", "1C4", "1C6", "2C3", "2C4", "3C4", "3C6"];

fn stellantis_make(brand: char) -> Option<&'static str> {
    match brand {
        'C' => Some("Chrysler"),
        'D' => Some("Dodge"),
        'F' => Some("Fiat"),
        'J' => Some("Jeep"),
        'R' => Some("Ram"),
        _ => None,
    }
}

/// Manufacturer codes by make; a longer code precedes the shorter one it refines. Codes that several makes share without
/// a simple rule are omitted: no answer is better than a wrong one.
#[rustfmt::skip]
const MAKES: [(&str, &str); 102] = [
    ("19U", "Acura"), ("5J8", "Acura"), ("JH4", "Acura"),
    ("ZAR", "Alfa Romeo"),
    ("WA1", "Audi"), ("WAU", "Audi"),
    ("3MW", "BMW"), ("5UX", "BMW"), ("5YM", "BMW"), ("WBA", "BMW"), ("WBS", "BMW"), ("WBX", "BMW"), ("WBY", "BMW"),
    ("1G4", "Buick"), ("5GA", "Buick"),
    ("1G6", "Cadillac"), ("1GY", "Cadillac"),
    ("1G1", "Chevrolet"), ("1GC", "Chevrolet"), ("1GN", "Chevrolet"), ("2GN", "Chevrolet"), ("3GC", "Chevrolet"), ("3GN", "Chevrolet"),
    ("1FA", "Ford"), ("1FD", "Ford"), ("1FM", "Ford"), ("1FT", "Ford"), ("2FM", "Ford"), ("3FA", "Ford"), ("3FM", "Ford"),
    ("KMT", "Genesis"),
    ("1GK", "GMC"), ("1GT", "GMC"), ("3GT", "GMC"),
    ("19X", "Honda"), ("1HG", "Honda"), ("2HG", "Honda"), ("2HK", "Honda"), ("5FN", "Honda"), ("5FP", "Honda"), ("5J6", "Honda"),
    ("7FA", "Honda"), ("JHM", "Honda"), ("SHH", "Honda"),
    ("5NP", "Hyundai"), ("5XYZ", "Hyundai"), ("KM8", "Hyundai"),
    ("5N1AL", "Infiniti"), ("5N1DL", "Infiniti"),
    ("SAD", "Jaguar"), ("SAJ", "Jaguar"),
    ("5XY", "Kia"), ("KNA", "Kia"),
    ("SAL", "Land Rover"),
    ("2T2", "Lexus"), ("58A", "Lexus"), ("JTH", "Lexus"), ("JTJ", "Lexus"),
    ("1LN", "Lincoln"), ("2LM", "Lincoln"), ("3LN", "Lincoln"), ("5LM", "Lincoln"),
    ("3MZ", "Mazda"), ("JM1", "Mazda"), ("JM3", "Mazda"),
    ("4JG", "Mercedes-Benz"), ("55S", "Mercedes-Benz"), ("W1K", "Mercedes-Benz"), ("W1N", "Mercedes-Benz"), ("WDC", "Mercedes-Benz"), ("WDD", "Mercedes-Benz"),
    ("JA4", "Mitsubishi"),
    ("1N4", "Nissan"), ("5N1", "Nissan"),
    ("WP0", "Porsche"), ("WP1", "Porsche"),
    ("4S3", "Subaru"), ("4S4", "Subaru"), ("JF2", "Subaru"),
    ("5YJ", "Tesla"), ("7SA", "Tesla"),
    ("2T1", "Toyota"), ("2T3", "Toyota"), ("3TM", "Toyota"), ("3TY", "Toyota"), ("4T1", "Toyota"), ("4T3", "Toyota"), ("5TD", "Toyota"),
    ("5TF", "Toyota"), ("5YF", "Toyota"), ("JTD", "Toyota"), ("JTE", "Toyota"), ("JTN", "Toyota"),
    ("1V2", "Volkswagen"), ("1VW", "Volkswagen"), ("3VV", "Volkswagen"), ("3VW", "Volkswagen"), ("WVG", "Volkswagen"), ("WVW", "Volkswagen"),
    ("7JR", "Volvo"), ("YV1", "Volvo"), ("YV4", "Volvo"),
];
