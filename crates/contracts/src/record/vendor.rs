//! Fields of vendors: members named `x_<vendor>_<name>` that a contract lets callers add to a record. They are kept and
//! answered as they were sent; no rule looks at them.

use std::collections::BTreeMap;

use frontdesk_engine::Fault;
use frontdesk_engine::model::schema::{Extensions, Pattern, Publication, Schema};
use serde_json::{Map, Value};

/// How many a record can have.
pub const MAX_FIELDS: usize = 20;
const MAX_NAME: usize = 64;
const MAX_TEXT: usize = 500;
/// 2^53 - 1, the largest integer that every JSON parser keeps exactly.
const MAX_INTEGER: i64 = 9_007_199_254_740_991;

pub static NAME: Pattern = Pattern {
    pattern: "^x_[a-z0-9]+_[a-z0-9_]+$",
    fits: is_vendor_name,
    expected: "a field of a vendor is named x_<vendor>_<name>, with at most 64 lower-case letters, digits and _",
};

pub fn is_vendor_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let Some((vendor, rest)) = name.strip_prefix("x_").and_then(|name| name.split_once('_')) else {
        return false;
    };
    name.len() <= MAX_NAME
        && !vendor.is_empty()
        && !rest.is_empty()
        && vendor.bytes().all(plain)
        && rest.bytes().all(|byte| plain(byte) || byte == b'_')
}

/// What a caller may send: a text, a whole number or a truth value.
pub fn arguments() -> Extensions {
    extensions(value(), Publication::Unpublished)
}

/// As `arguments`; `null` removes one.
pub fn changes() -> Extensions {
    extensions(Schema::clearable(value()), Publication::Unpublished)
}

/// What answers contain.
pub fn answers() -> Extensions {
    extensions(value(), Publication::Published)
}

fn extensions(of: Schema, publication: Publication) -> Extensions {
    Extensions { names: &NAME, of: Box::new(of), max: MAX_FIELDS, publication }
}

fn value() -> Schema {
    Schema::AnyOf {
        shapes: vec![Schema::text(MAX_TEXT), Schema::integer(-MAX_INTEGER, MAX_INTEGER), Schema::Boolean],
        expected: "a field of a vendor holds a text of 1 to 500 characters, a whole number, true or false",
    }
}

/// The vendors' fields of one record, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VendorFields(BTreeMap<String, Value>);

impl VendorFields {
    pub(super) fn from_stored(objects: [&Map<String, Value>; 2]) -> VendorFields {
        let members = objects.into_iter().flatten().filter(|(name, _)| is_vendor_name(name));
        VendorFields(members.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Takes over what checked arguments name, and removes what they name as `null`.
    pub fn apply(&mut self, arguments: &Map<String, Value>) -> Result<(), Fault> {
        for (name, value) in arguments.iter().filter(|(name, _)| is_vendor_name(name)) {
            if value.is_null() {
                self.0.remove(name);
            } else {
                self.0.insert(name.clone(), value.clone());
            }
        }
        if self.0.len() > MAX_FIELDS {
            let expected = format!("at most {MAX_FIELDS} fields of vendors are kept; remove others with null first");
            return Err(Fault::invalid_argument("", "maxProperties", &expected));
        }
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// Whether arguments name a field of a vendor.
pub fn names_any(arguments: &Map<String, Value>) -> bool {
    arguments.keys().any(|name| is_vendor_name(name))
}
