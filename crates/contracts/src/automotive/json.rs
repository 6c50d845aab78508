//! JSON serialization. An error is reported by its category and position only: the messages of serde_json quote values,
//! which may be personal data, and the cause of a fault is logged.

use frontdesk_engine::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Error, Map, Value};

/// `what` names the value in the cause of a fault, such as "a stored lead".
pub(super) fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::internal(format!("{what} cannot be read: {}", describe(&error))))
}

/// The arguments have passed their schema, so a failure is an internal error.
pub(super) fn from_arguments<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, Fault> {
    T::deserialize(arguments)
        .map_err(|error| Fault::internal(format!("checked arguments cannot be parsed: {}", describe(&error))))
}

pub(super) fn write<T: Serialize>(what: &str, value: &T) -> Result<String, Fault> {
    serde_json::to_string(value)
        .map_err(|error| Fault::internal(format!("{what} cannot be written: {}", describe(&error))))
}

fn describe(error: &Error) -> String {
    let kind = match error.classify() {
        Category::Io => "input or output error",
        Category::Syntax => "syntax error",
        Category::Data => "data error",
        Category::Eof => "end of text",
    };
    format!("{kind} at line {}, column {}", error.line(), error.column())
}
