//! Where the values of a record come from: the arguments of a create, a stored row, or the changes of an update.

use serde_json::{Map, Value};

use super::entity::NewRecord;
use super::field::FieldType;

/// The field whose value cannot be read. The value itself may be personal data and is never named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

/// Whether a caller sets a field of a new record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Argument,
    Ours,
}

pub enum FieldSource<'a> {
    /// Checked arguments of a create.
    Arguments { arguments: &'a Map<String, Value>, new: &'a NewRecord },
    /// The objects of a stored row. One that was stored before a field was declared has the field's default.
    Stored { objects: &'a [&'a Map<String, Value>], new: &'a NewRecord },
}

impl FieldSource<'_> {
    pub fn read<T: FieldType>(
        &self,
        name: &'static str,
        origin: Origin,
        default: Option<fn(&NewRecord) -> T>,
    ) -> Result<T, Unreadable> {
        let (given, new) = match self {
            FieldSource::Arguments { arguments, new } => match origin {
                Origin::Argument => (arguments.get(name), new),
                Origin::Ours => (None, new),
            },
            FieldSource::Stored { objects, new } => (objects.iter().find_map(|object| object.get(name)), new),
        };
        let value = match given {
            Some(value) => T::read(value),
            None => default.map(|default| default(new)).or_else(T::missing),
        };
        value.ok_or(Unreadable(name))
    }
}

/// Checked arguments of an update. `null` clears an optional field.
pub struct Changes<'a>(pub &'a Map<String, Value>);

impl Changes<'_> {
    pub fn apply<T: FieldType>(&self, name: &'static str, field: &mut T) -> Result<(), Unreadable> {
        if let Some(value) = self.0.get(name) {
            *field = T::read(value).ok_or(Unreadable(name))?;
        }
        Ok(())
    }
}
