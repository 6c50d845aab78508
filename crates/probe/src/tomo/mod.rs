//! `tomo doctor`: the twelve points that a partner ticks before registering (§12), walked against a running server.

mod calls;
mod doctor;
mod examples;
mod forbidden;
mod handshake;
mod idempotency;
mod intent;
mod measures;
mod tools;

use std::fs;
use std::time::{Duration, Instant};

use crate::command::{ProbeArgument, ProbeArgumentKind, ProbeCommand, ProbeInput, ProbeReport};
use crate::https::{ClientIdentity, Endpoint, tls_config};
use crate::rpc::{ProbeCredential, RpcClient};
use doctor::Doctor;
use intent::KnownIntents;

/// Whatever the server does, the command ends after this time.
const WHOLE_CHECK: Duration = Duration::from_secs(600);
const DEFAULT_ROUNDS: usize = 20;
const MAX_ROUNDS: usize = 200;
/// Files of credentials and intents are small.
const MAX_FILE: u64 = 1 << 20;

pub(crate) const DOCTOR: ProbeCommand = ProbeCommand {
    contract: "tomo",
    name: "doctor",
    about: "Walk the checklist of TOMO against any server: what holds, what fails, what to do",
    examples: "  frontdesk tomo doctor https://desk.example/mcp/tomo/travel.book_hotel \\\n      \
               --bearer-file sandbox-token\n  \
               frontdesk tomo doctor https://localhost:8443/mcp --ca ca.pem \\\n      \
               --bearer-file token --intent my-intent.json --json\n\n\
               It books with a fresh idempotency key and cancels what it has booked: use a\n\
               credential of the sandbox.",
    arguments: &[
        argument("url", "URL", "The endpoint, https:// only", ProbeArgumentKind::Positional),
        argument(
            "bearer-file",
            "FILE",
            "The partner's token, sent as Authorization: Bearer",
            ProbeArgumentKind::Option,
        ),
        argument("partner-key-file", "FILE", "The partner's key, sent as X-Partner-Auth", ProbeArgumentKind::Option),
        argument("client-cert", "FILE", "The certificate to call with, as PEM", ProbeArgumentKind::Option),
        argument("client-key", "FILE", "The key of that certificate, as PEM", ProbeArgumentKind::Option),
        argument("ca", "FILE", "Trust this authority and no other, as PEM", ProbeArgumentKind::Option),
        argument("intent", "FILE", "An intent file to check by, before those built in", ProbeArgumentKind::Repeated),
        argument("rounds", "N", "How often each tool is called to measure it [default: 20]", ProbeArgumentKind::Option),
    ],
    run,
};

const fn argument(
    name: &'static str,
    value_name: &'static str,
    about: &'static str,
    kind: ProbeArgumentKind,
) -> ProbeArgument {
    ProbeArgument { name, value_name, about, kind }
}

fn run(input: &ProbeInput) -> Result<ProbeReport, String> {
    let endpoint = Endpoint::parse(input.value("url").unwrap_or_default())?;
    let (credential, secret) = credential(input)?;
    let identity = match (input.value("client-cert"), input.value("client-key")) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some(ClientIdentity { certificate: read(certificate)?, key: read(key)? }),
        (Some(_), None) | (None, Some(_)) => {
            return Err("--client-cert and --client-key belong together: name both".to_owned());
        }
    };
    let ca = input.value("ca").map(read).transpose()?;
    let rounds = match input.value("rounds").map(str::parse::<usize>) {
        None => DEFAULT_ROUNDS,
        Some(Ok(rounds @ 1..=MAX_ROUNDS)) => rounds,
        Some(_) => return Err(format!("--rounds takes a number from 1 to {MAX_ROUNDS}")),
    };
    let mut intents = KnownIntents::default();
    for file in input.values("intent") {
        let text = String::from_utf8(read(file)?).map_err(|_| format!("{file} is not UTF-8"))?;
        intents.add(&text).map_err(|reason| format!("{file}: {reason}"))?;
    }
    let until = Instant::now() + WHOLE_CHECK;
    let client = |identity: Option<&ClientIdentity>, credential| {
        let tls = tls_config(ca.as_deref(), identity)?;
        Ok::<RpcClient, String>(RpcClient::new(endpoint.clone(), tls, credential, until))
    };
    let doctor = Doctor::new(
        endpoint.clone(),
        client(identity.as_ref(), credential)?,
        client(None, ProbeCredential::Nothing)?,
        identity.is_some(),
        secret,
        intents,
        rounds,
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime ({error})"))?;
    let report = runtime.block_on(doctor.examine());
    // A name lookup that hangs must not keep the command.
    runtime.shutdown_background();
    Ok(report)
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
    let text = String::from_utf8(read(file)?).unwrap_or_default();
    let secret = text.trim();
    let is_usable = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
    match make(secret).filter(|_| is_usable) {
        Some(credential) => Ok((credential, Some(secret.to_owned()))),
        // What the file holds is never repeated.
        None => Err(format!("{file} must hold the secret alone: one line without spaces")),
    }
}

fn read(file: &str) -> Result<Vec<u8>, String> {
    let length = fs::metadata(file).map_err(|error| format!("{file} cannot be read ({error})"))?.len();
    if length > MAX_FILE {
        return Err(format!("{file} is larger than 1 MiB"));
    }
    fs::read(file).map_err(|error| format!("{file} cannot be read ({error})"))
}
