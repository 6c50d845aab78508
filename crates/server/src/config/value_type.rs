//! The types of values: how each is parsed from text or TOML, checked, written and described. An invalid value leaves the
//! configuration unchanged.

use std::net::SocketAddr;
use std::path::PathBuf;

use frontdesk_identity::{ClientDocuments, Registration};
use frontdesk_store::{Address, AddressError};
use toml::Value;

use super::finding::ConfigError;
use super::layers::Env;
use super::mount::{self, MountConfig};
use super::raw::RawConfig;
use super::url::{self, PublicUrl};
use super::{CollectorUrl, DatabaseConfig, IpNetwork, LogFormat, SampleRatio};

/// Each type has an accessor of its field, so that a key cannot be paired with a field of another type.
pub(super) enum ValueType {
    Dir(FieldOf<PathBuf>),
    /// Empty text for none.
    File(FieldOf<Option<PathBuf>>),
    Address(FieldOf<SocketAddr>),
    Loopback(FieldOf<SocketAddr>),
    Url(FieldOf<Option<PublicUrl>>),
    Hosts(FieldOf<Option<Vec<String>>>),
    Origins(FieldOf<Option<Vec<String>>>),
    Number {
        min: u32,
        max: u32,
        at: FieldOf<u32>,
    },
    /// One whose default is the value of another key.
    OptionalNumber {
        min: u32,
        max: u32,
        at: FieldOf<Option<u32>>,
    },
    LogFormat(FieldOf<LogFormat>),
    /// Empty text for none.
    CollectorUrl(FieldOf<Option<CollectorUrl>>),
    SampleRatio(FieldOf<SampleRatio>),
    Networks(FieldOf<Vec<IpNetwork>>),
    Registration(FieldOf<Registration>),
    ClientDocuments(FieldOf<ClientDocuments>),
    Database(FieldOf<DatabaseConfig>),
    Mounts(FieldOf<Option<Vec<MountConfig>>>),
}

type FieldOf<T> = fn(&mut RawConfig) -> &mut T;

/// A value before it is parsed.
#[derive(Clone, Copy)]
pub(super) enum RawValue<'a> {
    /// From the environment, or a default of the table.
    Text(&'a str),
    Toml(&'a Value),
}

impl ValueType {
    pub(super) fn accept(
        &self,
        config: &mut RawConfig,
        value: RawValue<'_>,
        env: &Env<'_>,
    ) -> Result<(), Vec<ConfigError>> {
        match self {
            Self::Dir(at) => {
                let text = text(value)?;
                if text.is_empty() {
                    return Err(one("it is empty", "Name a folder, or leave the key out for the default"));
                }
                *at(config) = PathBuf::from(text);
            }
            Self::File(at) => *at(config) = Some(text(value)?).filter(|text| !text.is_empty()).map(PathBuf::from),
            Self::Address(at) => *at(config) = socket(value)?,
            Self::Loopback(at) => {
                let address = socket(value)?;
                if !address.ip().is_loopback() {
                    let problem = format!("{} can be reached from other machines", address.ip());
                    return Err(one(problem, format!("Use a loopback address, such as 127.0.0.1:{}", address.port())));
                }
                *at(config) = address;
            }
            Self::Url(at) => *at(config) = Some(PublicUrl::read(text(value)?).map_err(|problem| vec![problem])?),
            Self::Hosts(at) => {
                let hosts = list(value, url::host)?;
                if hosts.is_empty() {
                    return Err(one(
                        "an empty list would refuse every request",
                        "Name a host, or leave the key out for the default",
                    ));
                }
                *at(config) = Some(hosts);
            }
            Self::Origins(at) => *at(config) = Some(list(value, url::origin)?),
            Self::Number { min, max, at } => *at(config) = number(value, *min, *max)?,
            Self::OptionalNumber { min, max, at } => *at(config) = Some(number(value, *min, *max)?),
            Self::LogFormat(at) => {
                *at(config) = match text(value)? {
                    "auto" => LogFormat::Auto,
                    "pretty" => LogFormat::Pretty,
                    "json" => LogFormat::Json,
                    other => {
                        return Err(one(format!("{other:?} is not a log format"), "Use auto, pretty or json"));
                    }
                };
            }
            Self::CollectorUrl(at) => {
                *at(config) = match text(value)? {
                    "" => None,
                    given => Some(CollectorUrl::read(given).map_err(|problem| vec![problem])?),
                };
            }
            Self::SampleRatio(at) => *at(config) = ratio(value)?,
            Self::Networks(at) => *at(config) = list(value, IpNetwork::read)?,
            Self::Registration(at) => {
                *at(config) = match text(value)? {
                    "on" => Registration::On,
                    "off" => Registration::Off,
                    other => return Err(one(format!("{other:?} is neither on nor off"), "Use on or off")),
                };
            }
            Self::ClientDocuments(at) => {
                *at(config) = match text(value)? {
                    "any" => ClientDocuments::Any,
                    "off" => ClientDocuments::Off,
                    hosts => ClientDocuments::Hosts(list(RawValue::Text(hosts), url::host)?),
                };
            }
            Self::Database(at) => {
                *at(config) = match text(value)? {
                    "" => DatabaseConfig::Embedded,
                    // The value is not repeated in an error: the address of a database often holds its password.
                    given => {
                        DatabaseConfig::Postgres(Address::parse(given).map_err(|error| vec![not_a_database(error)])?)
                    }
                };
            }
            Self::Mounts(at) => {
                *at(config) = Some(match value {
                    RawValue::Text(text) => mount::parse_text(text, env.entries)?,
                    RawValue::Toml(value) => mount::parse_toml(value, env)?,
                });
            }
        }
        Ok(())
    }

    /// The value in the configuration, as TOML. Mutable only because the field accessors are; nothing is changed.
    pub(super) fn value(&self, config: &mut RawConfig) -> Value {
        match self {
            Self::Dir(at) => path(Some(at(config))),
            Self::File(at) => path(at(config).as_ref()),
            Self::Address(at) | Self::Loopback(at) => Value::String(at(config).to_string()),
            Self::Url(at) => Value::String(at(config).as_ref().map(ToString::to_string).unwrap_or_default()),
            Self::Hosts(at) | Self::Origins(at) => {
                Value::Array(at(config).iter().flatten().cloned().map(Value::String).collect())
            }
            Self::Number { at, .. } => Value::Integer(i64::from(*at(config))),
            Self::OptionalNumber { at, .. } => Value::Integer(i64::from(at(config).unwrap_or_default())),
            Self::LogFormat(at) => Value::String(
                match at(config) {
                    LogFormat::Auto => "auto",
                    LogFormat::Pretty => "pretty",
                    LogFormat::Json => "json",
                }
                .to_owned(),
            ),
            Self::CollectorUrl(at) => Value::String(at(config).as_ref().map(ToString::to_string).unwrap_or_default()),
            Self::SampleRatio(at) => Value::Float(at(config).value()),
            Self::Networks(at) => {
                Value::Array(at(config).iter().map(|network| Value::String(network.to_string())).collect())
            }
            Self::Registration(at) => Value::String(
                match at(config) {
                    Registration::On => "on",
                    Registration::Off => "off",
                }
                .to_owned(),
            ),
            Self::ClientDocuments(at) => Value::String(match at(config) {
                ClientDocuments::Any => "any".to_owned(),
                ClientDocuments::Off => "off".to_owned(),
                ClientDocuments::Hosts(hosts) => hosts.join(","),
            }),
            Self::Database(at) => match at(config) {
                DatabaseConfig::Embedded => Value::String(String::new()),
                DatabaseConfig::Postgres(address) => Value::String(address.to_string()),
            },
            Self::Mounts(at) => {
                Value::Array(at(config).iter().flatten().map(|mount| Value::Table(mount::shown(mount))).collect())
            }
        }
    }

    /// The accepted values, for people.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Dir(_) => "folder".to_owned(),
            Self::File(_) => "file, or empty".to_owned(),
            Self::Address(_) => "address and port".to_owned(),
            Self::Loopback(_) => "loopback address and port".to_owned(),
            Self::Url(_) => "https URL without a path".to_owned(),
            Self::Hosts(_) => "list of hosts".to_owned(),
            Self::Origins(_) => "list of origins".to_owned(),
            Self::Number { min, max, .. } | Self::OptionalNumber { min, max, .. } => format!("number, {min} to {max}"),
            Self::LogFormat(_) => "auto, pretty or json".to_owned(),
            Self::CollectorUrl(_) => "empty, or an http or https URL".to_owned(),
            Self::SampleRatio(_) => "number, 0.0 to 1.0".to_owned(),
            Self::Networks(_) => "list of ranges".to_owned(),
            Self::Registration(_) => "on or off".to_owned(),
            Self::ClientDocuments(_) => "any, off or hosts".to_owned(),
            Self::Database(_) => "empty, or a postgres:// URL".to_owned(),
            Self::Mounts(_) => "list of tables".to_owned(),
        }
    }
}

/// Reads an address and a port; the error says what is wrong and what to write instead.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    parse(text).map_err(|ConfigError { problem, advice, .. }| format!("{problem}. {advice}"))
}

/// What a TOML value is, with its article.
pub(super) fn type_name(value: &Value) -> &'static str {
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

fn one(problem: impl Into<String>, advice: impl Into<String>) -> Vec<ConfigError> {
    vec![ConfigError::new(problem, advice)]
}

fn text(value: RawValue<'_>) -> Result<&str, Vec<ConfigError>> {
    match value {
        RawValue::Text(text) => Ok(text),
        RawValue::Toml(Value::String(text)) => Ok(text),
        RawValue::Toml(value) => Err(one(format!("it is {} instead of text", type_name(value)), "Write it in quotes")),
    }
}

fn not_a_database(error: AddressError) -> ConfigError {
    let example = "such as postgres://desk:PASSWORD@localhost/desk or postgres://desk@/desk?host=/run/postgresql";
    match error {
        AddressError::NotPostgres => ConfigError::new(
            "it is not a postgres:// URL",
            format!("Leave it empty for the embedded database, or name one, {example}"),
        ),
        AddressError::Unreadable => ConfigError::new(
            "it cannot be read as a postgres:// URL",
            format!("Write a user, a host and a database, {example}"),
        ),
        AddressError::Unencrypted => ConfigError::new(
            "the database is on another machine, and its rows would cross the network in cleartext",
            "Use sslmode=verify-full and name its CA in `database_ca`",
        ),
        AddressError::Unverified => {
            ConfigError::new("its sslmode does not verify the certificate of the server", "Use sslmode=verify-full")
        }
        AddressError::TlsOnSocket => {
            ConfigError::new("it asks for TLS on a socket of this machine, where there is none", "Leave sslmode out")
        }
    }
}

fn socket(value: RawValue<'_>) -> Result<SocketAddr, Vec<ConfigError>> {
    parse(text(value)?).map_err(|problem| vec![problem])
}

fn parse(text: &str) -> Result<SocketAddr, ConfigError> {
    text.parse().map_err(|_| {
        // The most common errors are a host name instead of an address, and a port alone; both contain the port.
        let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).unwrap_or(8443);
        let advice = format!("Write an IP address and a port, such as 127.0.0.1:{port} or 0.0.0.0:{port}");
        ConfigError::new(format!("{text:?} is not an address and a port"), advice)
    })
}

fn number(value: RawValue<'_>, min: u32, max: u32) -> Result<u32, Vec<ConfigError>> {
    let advice = format!("Use a number from {min} to {max}");
    let given = match value {
        RawValue::Text(text) => {
            text.trim().parse::<i64>().map_err(|_| one(format!("{text:?} is not a number"), advice.as_str()))?
        }
        RawValue::Toml(Value::Integer(number)) => *number,
        RawValue::Toml(value) => {
            return Err(one(format!("it is {} instead of a number", type_name(value)), advice));
        }
    };
    u32::try_from(given).ok().filter(|given| (min..=max).contains(given)).ok_or_else(|| {
        let problem = if given < i64::from(min) { "too small" } else { "too large" };
        one(format!("{given} is {problem}"), advice)
    })
}

fn ratio(value: RawValue<'_>) -> Result<SampleRatio, Vec<ConfigError>> {
    let advice = "Use a number from 0.0 to 1.0, such as 0.1 for one call in ten";
    let given = match value {
        RawValue::Text(text) => {
            text.trim().parse::<f64>().map_err(|_| one(format!("{text:?} is not a number"), advice))?
        }
        RawValue::Toml(Value::Float(number)) => *number,
        RawValue::Toml(Value::Integer(0)) => 0.0,
        RawValue::Toml(Value::Integer(1)) => 1.0,
        RawValue::Toml(value) => return Err(one(format!("it is {} instead of a number", type_name(value)), advice)),
    };
    SampleRatio::read(given).ok_or_else(|| one(format!("{given} is not between 0.0 and 1.0"), advice))
}

/// Reads every entry, so that all invalid ones are reported; duplicates are removed.
fn list<T: PartialEq>(
    value: RawValue<'_>,
    entry: fn(&str) -> Result<T, ConfigError>,
) -> Result<Vec<T>, Vec<ConfigError>> {
    let texts: Vec<&str> = match value {
        RawValue::Text(text) => text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
        RawValue::Toml(Value::Array(values)) => {
            values.iter().map(|value| text(RawValue::Toml(value))).collect::<Result<_, _>>()?
        }
        RawValue::Toml(value) => {
            return Err(one(
                format!("it is {} instead of a list", type_name(value)),
                "Write it in brackets, such as [\"…\"]",
            ));
        }
    };
    let mut entries = Vec::new();
    let mut errors = Vec::new();
    for (index, text) in texts.into_iter().enumerate() {
        match entry(text) {
            Ok(entry) if entries.contains(&entry) => {}
            Ok(entry) => entries.push(entry),
            Err(problem) => errors.push(problem.at(format!("[{index}]"))),
        }
    }
    if errors.is_empty() { Ok(entries) } else { Err(errors) }
}

fn path(path: Option<&PathBuf>) -> Value {
    Value::String(path.map(|path| path.display().to_string()).unwrap_or_default())
}
