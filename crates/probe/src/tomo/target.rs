//! The server that a command is run against, and how it is called: what every command of the judge has in common. Secrets
//! come from files and are never repeated.

use std::fs;
use std::time::Instant;

use super::intent::KnownIntents;
use crate::command::{ProbeArgument, ProbeArgumentKind, ProbeInput};
use crate::https::{ClientIdentity, Endpoint, tls_config};
use crate::rpc::{ProbeCredential, RpcClient};

/// Files of credentials and intents are small.
const MAX_FILE: u64 = 1 << 20;

pub(super) const URL: ProbeArgument =
    argument("url", "URL", "The endpoint, https:// only", ProbeArgumentKind::Positional);
pub(super) const BEARER: ProbeArgument = option("bearer-file", "The partner's token, sent as Authorization: Bearer");
pub(super) const PARTNER_KEY: ProbeArgument = option("partner-key-file", "The partner's key, sent as X-Partner-Auth");
pub(super) const CLIENT_CERT: ProbeArgument = option("client-cert", "The certificate to call with, as PEM");
pub(super) const CLIENT_KEY: ProbeArgument = option("client-key", "The key of that certificate, as PEM");
pub(super) const CA: ProbeArgument = option("ca", "Trust this authority and no other, as PEM");
pub(super) const INTENT: ProbeArgument =
    argument("intent", "FILE", "An intent file to check by, before those built in", ProbeArgumentKind::Repeated);

pub(super) const fn argument(
    name: &'static str,
    value_name: &'static str,
    about: &'static str,
    kind: ProbeArgumentKind,
) -> ProbeArgument {
    ProbeArgument { name, value_name, about, kind }
}

/// `--name FILE`.
pub(super) const fn option(name: &'static str, about: &'static str) -> ProbeArgument {
    argument(name, "FILE", about, ProbeArgumentKind::Option)
}

/// `--name N`.
pub(super) const fn number_option(name: &'static str, about: &'static str) -> ProbeArgument {
    argument(name, "N", about, ProbeArgumentKind::Option)
}

pub(super) struct Target {
    pub(super) endpoint: Endpoint,
    pub(super) credential: ProbeCredential,
    /// What is secret in the credential, so that it can be looked for where it must not be.
    pub(super) secret: Option<String>,
    identity: Option<ClientIdentity>,
    ca: Option<Vec<u8>>,
}

impl Target {
    pub(super) fn read(input: &ProbeInput) -> Result<Target, String> {
        let endpoint = Endpoint::parse(input.value("url").unwrap_or_default())?;
        let (credential, secret) = credential(input)?;
        let identity = match (input.value("client-cert"), input.value("client-key")) {
            (None, None) => None,
            (Some(certificate), Some(key)) => {
                Some(ClientIdentity { certificate: read_file(certificate)?, key: read_file(key)? })
            }
            (Some(_), None) | (None, Some(_)) => {
                return Err("--client-cert and --client-key belong together: name both".to_owned());
            }
        };
        let ca = input.value("ca").map(read_file).transpose()?;
        Ok(Target { endpoint, credential, secret, identity, ca })
    }

    pub(super) fn has_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// A connection of its own, with the caller's certificate if there is one.
    pub(super) fn client(&self, credential: &ProbeCredential, until: Instant) -> Result<RpcClient, String> {
        let tls = tls_config(self.ca.as_deref(), self.identity.as_ref())?;
        Ok(RpcClient::new(self.endpoint.clone(), tls, credential.clone(), until))
    }

    /// The same without anything that says who calls.
    pub(super) fn stranger(&self, until: Instant) -> Result<RpcClient, String> {
        let tls = tls_config(self.ca.as_deref(), None)?;
        Ok(RpcClient::new(self.endpoint.clone(), tls, ProbeCredential::Nothing, until))
    }
}

pub(super) fn intents(input: &ProbeInput) -> Result<KnownIntents, String> {
    let mut intents = KnownIntents::default();
    for file in input.values("intent") {
        let text = String::from_utf8(read_file(file)?).map_err(|_| format!("{file} is not UTF-8"))?;
        intents.add(&text).map_err(|reason| format!("{file}: {reason}"))?;
    }
    Ok(intents)
}

/// A number within bounds, or the default.
pub(super) fn number(
    input: &ProbeInput,
    name: &str,
    default: usize,
    bounds: std::ops::RangeInclusive<usize>,
) -> Result<usize, String> {
    match input.value(name).map(str::parse::<usize>) {
        None => Ok(default),
        Some(Ok(number)) if bounds.contains(&number) => Ok(number),
        Some(_) => Err(format!("--{name} takes a number from {} to {}", bounds.start(), bounds.end())),
    }
}

/// The credential to call with, and the secret in it.
fn credential(input: &ProbeInput) -> Result<(ProbeCredential, Option<String>), String> {
    let (file, make): (&str, fn(&str) -> Option<ProbeCredential>) =
        match (input.value("bearer-file"), input.value("partner-key-file")) {
            (None, None) => return Ok((ProbeCredential::Nothing, None)),
            (Some(file), None) => (file, ProbeCredential::bearer),
            (None, Some(file)) => (file, ProbeCredential::partner_key),
            (Some(_), Some(_)) => return Err("give one of --bearer-file and --partner-key-file".to_owned()),
        };
    let (credential, secret) = secret_of(file, make)?;
    Ok((credential, Some(secret)))
}

/// What a file makes of its only line. What the file holds is never repeated.
pub(super) fn secret_of<T>(file: &str, make: impl FnOnce(&str) -> Option<T>) -> Result<(T, String), String> {
    let text = String::from_utf8(read_file(file)?).unwrap_or_default();
    let secret = text.trim();
    let is_usable = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
    match make(secret).filter(|_| is_usable) {
        Some(made) => Ok((made, secret.to_owned())),
        None => Err(format!("{file} must hold the secret alone: one line without spaces")),
    }
}

pub(super) fn read_file(file: &str) -> Result<Vec<u8>, String> {
    let length = fs::metadata(file).map_err(|error| format!("{file} cannot be read ({error})"))?.len();
    if length > MAX_FILE {
        return Err(format!("{file} is larger than 1 MiB"));
    }
    fs::read(file).map_err(|error| format!("{file} cannot be read ({error})"))
}
