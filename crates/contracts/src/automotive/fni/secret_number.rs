//! Numbers that are taken in and never shown again: their form is checked, and at most their last four signs are kept to
//! recognise them by.

use frontdesk_engine::model::schema::{Pattern, Schema, TextFormat};
use frontdesk_wire::json::write_quoted;
use serde_json::Value;

use crate::record::{FieldType, FieldValue, Text};

/// A US social security number, or the taxpayer number of somebody who has none, as nine digits. It prints `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct SocialSecurityNumber(String);

/// The number of a bank account, as capital letters and digits. It prints `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct BankAccountNumber(String);

static SOCIAL_SECURITY_NUMBER: Pattern = Pattern {
    pattern: "^\\d{3}-?\\d{2}-?\\d{4}$",
    fits: is_social_security_number,
    expected: "nine digits such as 900-12-3456 are expected",
};

static BANK_ACCOUNT_NUMBER: Pattern = Pattern {
    pattern: "^[A-Z0-9]{6,34}$",
    fits: |text| (6..=34).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()),
    expected: "6 to 34 capital letters and digits without spaces are expected",
};

/// The parts 000 and 666, 00 and 0000 are never issued. A number from 900 on is a taxpayer number.
fn is_social_security_number(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let hyphens: Vec<usize> = text.match_indices('-').map(|(place, _)| place).collect();
    let has_form = digits.len() + hyphens.len() == text.len()
        && digits.len() == 9
        && [&[][..], &[3], &[5], &[3, 6]].contains(&hyphens.as_slice());
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    has_form && !["000", "666"].contains(&part(0, 3)) && part(3, 5) != "00" && part(5, 9) != "0000"
}

fn bare(number: &str) -> String {
    number.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

macro_rules! secret_number {
    ($name:ident, $pattern:path) => {
        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(text.replace('-', ""))
            }
        }

        impl $name {
            /// Whether another number is this one, however it is written.
            pub(super) fn is_same(&self, number: &str) -> bool {
                bare(&self.0) == bare(number)
            }

            /// What it is recognised by. A short number has nothing that could be shown: more must stay hidden than is
            /// said.
            pub fn last4(&self) -> Option<Text<4>> {
                let start = self.0.len().checked_sub(4).filter(|hidden| *hidden > 4)?;
                self.0.get(start..).map(Text::from)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("***")
            }
        }

        impl FieldType for $name {
            fn input() -> Schema {
                Schema::Text(TextFormat::Pattern(&$pattern))
            }

            fn read(value: &Value) -> Option<$name> {
                value.as_str().map($name::from)
            }
        }

        impl FieldValue for $name {
            fn write(&self, out: &mut String) {
                write_quoted(&self.0, out);
            }
        }
    };
}

secret_number!(SocialSecurityNumber, SOCIAL_SECURITY_NUMBER);
secret_number!(BankAccountNumber, BANK_ACCOUNT_NUMBER);

#[cfg(test)]
mod tests {
    use super::{BankAccountNumber, SocialSecurityNumber, is_social_security_number};

    #[test]
    fn numbers_that_nobody_can_have_are_refused() {
        for right in ["900-12-3456", "900123456", "123-456789", "12345-6789", "999-99-9999"] {
            assert!(is_social_security_number(right), "{right}");
        }
        for wrong in [
            "",
            "000-12-3456",
            "666-12-3456",
            "900-00-3456",
            "900-12-0000",
            "90012345",
            "9001234567",
            "9-00123456",
            "900-12-345-6",
            "90O-12-3456",
            "٩٠٠123456",
            "900 12 3456",
        ] {
            assert!(!is_social_security_number(wrong), "{wrong}");
        }
    }

    #[test]
    fn four_signs_are_shown_if_more_stay_hidden() {
        let last4 = |text: &str| BankAccountNumber::from(text).last4().map(|text| text.to_string());
        assert_eq!(last4("123456789").as_deref(), Some("6789"));
        assert_eq!([last4("12345678"), last4("123456")], [None, None]);
        assert_eq!(SocialSecurityNumber::from("900-12-3456").last4().as_deref(), Some("3456"));
        assert_eq!(format!("{:?}", SocialSecurityNumber::from("900-12-3456")), "***");
    }
}
