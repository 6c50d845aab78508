//! Field types that are personal data: they are found by keyed hash only, and mask themselves.

use std::ops::Deref;

use frontdesk_engine::model::schema::{Schema, TextFormat};
use frontdesk_engine::model::table::{Cell, ColumnType};
use frontdesk_wire::json::write_quoted;
use serde_json::Value;

use super::field::{FieldType, FieldValue};
use super::mask;
use super::text::add_word;

/// What stands where personal data was erased. It is shown to everybody, and nothing is found by it.
pub const ERASED: &str = "[erased]";

/// The paths of what a masked answer does not show.
#[derive(Debug, Default)]
pub struct Redacted {
    masked: Vec<String>,
    left_out: Vec<String>,
}

impl Redacted {
    /// Shown in part.
    pub fn mask(&mut self, path: &str) {
        add(&mut self.masked, path);
    }

    pub fn leave_out(&mut self, path: &str) {
        add(&mut self.left_out, path);
    }

    /// What is masked first, then what is left out.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.masked.iter().chain(&self.left_out).map(String::as_str)
    }
}

/// The items of a list share one path.
fn add(paths: &mut Vec<String>, path: &str) {
    if !paths.iter().any(|known| known == path) {
        paths.push(path.to_owned());
    }
}

macro_rules! personal_text {
    ($(#[$meta:meta])* $name:ident, $input:expr, $output:expr, $mask:path) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(text.to_owned())
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl FieldType for $name {
            const MASKABLE: bool = true;

            fn input() -> Schema {
                $input
            }

            fn output() -> Schema {
                $output
            }

            fn column_types() -> Vec<ColumnType> {
                vec![ColumnType::Digest]
            }

            fn read(value: &Value) -> Option<$name> {
                value.as_str().map($name::from)
            }
        }

        impl FieldValue for $name {
            fn write(&self, out: &mut String) {
                write_quoted(&self.0, out);
            }

            fn write_masked(&self, path: &str, out: &mut String, redacted: &mut Redacted) {
                if self.0 == ERASED {
                    return self.write(out);
                }
                redacted.mask(path);
                write_quoted(&$mask(&self.0), out);
            }

            fn cells(&self, cells: &mut Vec<Cell>) {
                cells.push(Cell::Digest(self.comparable()));
            }

            fn add_words(&self, words: &mut String) {
                if self.0 != ERASED {
                    add_word(&self.0, words);
                }
            }
        }
    };
}

personal_text!(
    /// A person's or a company's name.
    PersonName,
    Schema::text(200),
    Schema::text(200),
    mask::name
);
personal_text!(
    /// An e-mail address; case does not matter where it is compared.
    Email,
    Schema::Text(TextFormat::Email),
    Schema::text(254),
    mask::email
);
personal_text!(
    /// A telephone number in E.164 form.
    Phone,
    Schema::Text(TextFormat::Phone),
    Schema::text(20),
    mask::phone
);

impl PersonName {
    fn comparable(&self) -> String {
        self.0.clone()
    }
}

impl Email {
    fn comparable(&self) -> String {
        self.0.trim().to_lowercase()
    }
}

impl Phone {
    fn comparable(&self) -> String {
        self.0.clone()
    }
}
