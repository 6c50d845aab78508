//! To JSON and back. What fails is told by its kind and place alone: the library's own words quote
//! values, which may be somebody's personal data, and a fault's cause goes to the log.

use frontdesk_engine::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Error, Map, Value};

/// `what` is a kept thing, such as "a kept lead".
pub(super) fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::internal(format!("{what} cannot be read: {}", place(&error))))
}

/// Arguments that their schema has accepted, so a failure is ours.
pub(super) fn fit<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, Fault> {
    T::deserialize(arguments)
        .map_err(|error| Fault::internal(format!("checked arguments do not fit: {}", place(&error))))
}

pub(super) fn write<T: Serialize>(what: &str, value: &T) -> Result<String, Fault> {
    serde_json::to_string(value)
        .map_err(|error| Fault::internal(format!("{what} cannot be written: {}", place(&error))))
}

fn place(error: &Error) -> String {
    let kind = match error.classify() {
        Category::Io => "input or output error",
        Category::Syntax => "syntax error",
        Category::Data => "data error",
        Category::Eof => "end of text",
    };
    format!("{kind} at line {}, column {}", error.line(), error.column())
}
