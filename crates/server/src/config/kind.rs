//! The kinds of values: how each is read from text or TOML, checked, written back and described.
//! A value that does not fit leaves the draft as it was.

use std::net::SocketAddr;
use std::path::PathBuf;

use frontdesk_store::{Address, AddressError};
use toml::Value;

use super::draft::Draft;
use super::finding::Wrong;
use super::gather::Outside;
use super::mount::{self, Mount};
use super::web::{self, PublicUrl};
use super::{Database, Endpoint, LogFormat, Ratio};

/// Each kind knows its place in the draft, so that a row of the table cannot pair a key with a field of another type.
pub(super) enum Kind {
    Folder(Place<PathBuf>),
    /// Empty text for none.
    File(Place<Option<PathBuf>>),
    Address(Place<SocketAddr>),
    Loopback(Place<SocketAddr>),
    Url(Place<Option<PublicUrl>>),
    Hosts(Place<Option<Vec<String>>>),
    Origins(Place<Option<Vec<String>>>),
    Number {
        least: u32,
        most: u32,
        at: Place<u32>,
    },
    LogFormat(Place<LogFormat>),
    /// Empty text for none.
    Endpoint(Place<Option<Endpoint>>),
    Ratio(Place<Ratio>),
    Database(Place<Database>),
    Mounts(Place<Option<Vec<Mount>>>),
}

type Place<T> = fn(&mut Draft) -> &mut T;

/// A value before it is read.
#[derive(Clone, Copy)]
pub(super) enum Raw<'a> {
    /// From the environment, or a default of the table.
    Text(&'a str),
    Toml(&'a Value),
}

impl Kind {
    pub(super) fn accept(&self, draft: &mut Draft, raw: Raw<'_>, outside: &Outside<'_>) -> Result<(), Vec<Wrong>> {
        match self {
            Self::Folder(at) => {
                let text = text(raw)?;
                if text.is_empty() {
                    return Err(one("it is empty", "Name a folder, or leave the key out for the default"));
                }
                *at(draft) = PathBuf::from(text);
            }
            Self::File(at) => *at(draft) = Some(text(raw)?).filter(|text| !text.is_empty()).map(PathBuf::from),
            Self::Address(at) => *at(draft) = socket(raw)?,
            Self::Loopback(at) => {
                let address = socket(raw)?;
                if !address.ip().is_loopback() {
                    let wrong = format!("{} can be reached from other machines", address.ip());
                    return Err(one(wrong, format!("Use a loopback address, such as 127.0.0.1:{}", address.port())));
                }
                *at(draft) = address;
            }
            Self::Url(at) => *at(draft) = Some(PublicUrl::read(text(raw)?).map_err(|wrong| vec![wrong])?),
            Self::Hosts(at) => {
                let hosts = list(raw, web::host)?;
                if hosts.is_empty() {
                    return Err(one(
                        "an empty list would refuse every request",
                        "Name a host, or leave the key out for the default",
                    ));
                }
                *at(draft) = Some(hosts);
            }
            Self::Origins(at) => *at(draft) = Some(list(raw, web::origin)?),
            Self::Number { least, most, at } => *at(draft) = number(raw, *least, *most)?,
            Self::LogFormat(at) => {
                *at(draft) = match text(raw)? {
                    "auto" => LogFormat::Auto,
                    "pretty" => LogFormat::Pretty,
                    "json" => LogFormat::Json,
                    other => {
                        return Err(one(format!("{other:?} is not a log format"), "Use auto, pretty or json"));
                    }
                };
            }
            Self::Endpoint(at) => {
                *at(draft) = match text(raw)? {
                    "" => None,
                    given => Some(Endpoint::read(given).map_err(|wrong| vec![wrong])?),
                };
            }
            Self::Ratio(at) => *at(draft) = ratio(raw)?,
            Self::Database(at) => {
                *at(draft) = match text(raw)? {
                    "" => Database::Embedded,
                    // The value is not repeated in an error: the address of a database often holds its password.
                    given => Database::Postgres(Address::parse(given).map_err(|error| vec![not_a_database(error)])?),
                };
            }
            Self::Mounts(at) => {
                *at(draft) = Some(match raw {
                    Raw::Text(text) => mount::from_text(text, outside.offers)?,
                    Raw::Toml(value) => mount::from_toml(value, outside)?,
                });
            }
        }
        Ok(())
    }

    /// The value in the draft, as TOML. Takes the draft mutably only because places are mutable; it changes nothing.
    pub(super) fn value(&self, draft: &mut Draft) -> Value {
        match self {
            Self::Folder(at) => path(Some(at(draft))),
            Self::File(at) => path(at(draft).as_ref()),
            Self::Address(at) | Self::Loopback(at) => Value::String(at(draft).to_string()),
            Self::Url(at) => Value::String(at(draft).as_ref().map(ToString::to_string).unwrap_or_default()),
            Self::Hosts(at) | Self::Origins(at) => {
                Value::Array(at(draft).iter().flatten().cloned().map(Value::String).collect())
            }
            Self::Number { at, .. } => Value::Integer(i64::from(*at(draft))),
            Self::LogFormat(at) => Value::String(
                match at(draft) {
                    LogFormat::Auto => "auto",
                    LogFormat::Pretty => "pretty",
                    LogFormat::Json => "json",
                }
                .to_owned(),
            ),
            Self::Endpoint(at) => Value::String(at(draft).as_ref().map(ToString::to_string).unwrap_or_default()),
            Self::Ratio(at) => Value::Float(at(draft).value()),
            Self::Database(at) => match at(draft) {
                Database::Embedded => Value::String(String::new()),
                Database::Postgres(address) => Value::String(address.to_string()),
            },
            Self::Mounts(at) => {
                Value::Array(at(draft).iter().flatten().map(|mount| Value::Table(mount::shown(mount))).collect())
            }
        }
    }

    /// What may be written, for people.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Folder(_) => "folder".to_owned(),
            Self::File(_) => "file, or empty".to_owned(),
            Self::Address(_) => "address and port".to_owned(),
            Self::Loopback(_) => "loopback address and port".to_owned(),
            Self::Url(_) => "https URL without a path".to_owned(),
            Self::Hosts(_) => "list of hosts".to_owned(),
            Self::Origins(_) => "list of origins".to_owned(),
            Self::Number { least, most, .. } => format!("number, {least} to {most}"),
            Self::LogFormat(_) => "auto, pretty or json".to_owned(),
            Self::Endpoint(_) => "empty, or an http or https URL".to_owned(),
            Self::Ratio(_) => "number, 0.0 to 1.0".to_owned(),
            Self::Database(_) => "empty, or a postgres:// URL".to_owned(),
            Self::Mounts(_) => "list of tables".to_owned(),
        }
    }
}

/// Reads an address and a port; the error says what is wrong and what to write instead.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    parse(text).map_err(|Wrong { wrong, next, .. }| format!("{wrong}. {next}"))
}

/// What a TOML value is, with its article.
pub(super) fn named(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a fraction",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

fn one(wrong: impl Into<String>, next: impl Into<String>) -> Vec<Wrong> {
    vec![Wrong::new(wrong, next)]
}

fn text(raw: Raw<'_>) -> Result<&str, Vec<Wrong>> {
    match raw {
        Raw::Text(text) => Ok(text),
        Raw::Toml(Value::String(text)) => Ok(text),
        Raw::Toml(value) => Err(one(format!("it is {} instead of text", named(value)), "Write it in quotes")),
    }
}

fn not_a_database(error: AddressError) -> Wrong {
    let example = "such as postgres://desk:PASSWORD@localhost/desk or postgres://desk@/desk?host=/run/postgresql";
    match error {
        AddressError::NotPostgres => Wrong::new(
            "it is not a postgres:// URL",
            format!("Leave it empty for the embedded database, or name one, {example}"),
        ),
        AddressError::Unreadable => Wrong::new(
            "it cannot be read as a postgres:// URL",
            format!("Write a user, a host and a database, {example}"),
        ),
        AddressError::Unencrypted => Wrong::new(
            "the database is on another machine, and its rows would cross the network in clear",
            "Use sslmode=verify-full and name its authority in `database_ca`",
        ),
        AddressError::Unverified => {
            Wrong::new("its sslmode does not check whose certificate the server shows", "Use sslmode=verify-full")
        }
        AddressError::TlsOnSocket => {
            Wrong::new("it asks for TLS on a socket of this machine, where there is none", "Leave sslmode out")
        }
    }
}

fn socket(raw: Raw<'_>) -> Result<SocketAddr, Vec<Wrong>> {
    parse(text(raw)?).map_err(|wrong| vec![wrong])
}

fn parse(text: &str) -> Result<SocketAddr, Wrong> {
    text.parse().map_err(|_| {
        // The commonest slips are a name for an address and a port alone; both still tell us the port.
        let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).unwrap_or(8443);
        let next = format!("Write an IP address and a port, such as 127.0.0.1:{port} or 0.0.0.0:{port}");
        Wrong::new(format!("{text:?} is not an address and a port"), next)
    })
}

fn number(raw: Raw<'_>, least: u32, most: u32) -> Result<u32, Vec<Wrong>> {
    let next = format!("Use a number from {least} to {most}");
    let given = match raw {
        Raw::Text(text) => {
            text.trim().parse::<i64>().map_err(|_| one(format!("{text:?} is not a number"), next.as_str()))?
        }
        Raw::Toml(Value::Integer(number)) => *number,
        Raw::Toml(value) => {
            return Err(one(format!("it is {} instead of a number", named(value)), next));
        }
    };
    u32::try_from(given).ok().filter(|given| (least..=most).contains(given)).ok_or_else(|| {
        let wrong = if given < i64::from(least) { "too small" } else { "too large" };
        one(format!("{given} is {wrong}"), next)
    })
}

fn ratio(raw: Raw<'_>) -> Result<Ratio, Vec<Wrong>> {
    let next = "Use a number from 0.0 to 1.0, such as 0.1 for one call in ten";
    let given = match raw {
        Raw::Text(text) => text.trim().parse::<f64>().map_err(|_| one(format!("{text:?} is not a number"), next))?,
        Raw::Toml(Value::Float(number)) => *number,
        Raw::Toml(Value::Integer(0)) => 0.0,
        Raw::Toml(Value::Integer(1)) => 1.0,
        Raw::Toml(value) => return Err(one(format!("it is {} instead of such a part", named(value)), next)),
    };
    Ratio::read(given).ok_or_else(|| one(format!("{given} is no part of a whole"), next))
}

/// Reads every entry, so that all wrong ones are reported; a repeated entry counts once.
fn list(raw: Raw<'_>, entry: fn(&str) -> Result<String, Wrong>) -> Result<Vec<String>, Vec<Wrong>> {
    let texts: Vec<&str> = match raw {
        Raw::Text(text) => text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
        Raw::Toml(Value::Array(values)) => {
            values.iter().map(|value| text(Raw::Toml(value))).collect::<Result<_, _>>()?
        }
        Raw::Toml(value) => {
            return Err(one(
                format!("it is {} instead of a list", named(value)),
                "Write it in brackets, such as [\"…\"]",
            ));
        }
    };
    let mut entries = Vec::new();
    let mut wrongs = Vec::new();
    for (index, text) in texts.into_iter().enumerate() {
        match entry(text) {
            Ok(entry) if entries.contains(&entry) => {}
            Ok(entry) => entries.push(entry),
            Err(wrong) => wrongs.push(wrong.at(format!("[{index}]"))),
        }
    }
    if wrongs.is_empty() { Ok(entries) } else { Err(wrongs) }
}

fn path(path: Option<&PathBuf>) -> Value {
    Value::String(path.map(|path| path.display().to_string()).unwrap_or_default())
}
