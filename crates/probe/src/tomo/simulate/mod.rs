//! `tomo simulate`: plays the orchestrator against any server. It registers the endpoint, lets users book at TOMO's rates
//! over a network that fails, looks at the list of tools a day later, and takes the completions. It uses nothing of the
//! server's code, and cancels whatever it has booked.

mod bookings;
mod caller;
mod certificate;
mod completion;
mod drift;
mod pace;
mod points;
mod random;
mod receiver;
mod signature;
mod simulation;
mod user_session;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::block_on;
use super::target::{self, Target, argument, number_option, option, read_file, secret_of};
use crate::command::{ProbeArgumentKind, ProbeCommand, ProbeInput, ProbeReport};
use crate::rpc::ProbeCredential;
use certificate::ReceiverCertificate;
use receiver::ReceiverRules;
use signature::CompletionKeys;
use simulation::{Simulation, SimulationOptions};

const DEFAULT_SESSIONS: usize = 5;
const MAX_SESSIONS: usize = 2_000;
const DEFAULT_MINUTES: usize = 1;
const MAX_MINUTES: usize = 60;
const DEFAULT_TRACKS: usize = 3;
const DEFAULT_WAIT: usize = 60;
/// Beside the time in which sessions begin: for the last of them, with all its pauses, and for what is cancelled.
const SESSION_TIME: Duration = Duration::from_secs(300);

pub(crate) const SIMULATE: ProbeCommand = ProbeCommand {
    contract: "tomo",
    name: "simulate",
    about: "Play TOMO's orchestrator against any server: register, dispatch, retry, check for drift, take completions",
    examples: "  frontdesk tomo simulate https://desk.example/mcp/tomo/travel.book_hotel \\\n      \
               --bearer-file live-token --sandbox-bearer-file sandbox-token\n  \
               frontdesk tomo simulate https://localhost:8443/mcp --ca ca.pem \\\n      \
               --bearer-file token --receive 127.0.0.1:9443 --receive-ca cpc-ca.pem \\\n      \
               --cpc-key-file cpc-key --fail-first 2 --minutes 6 --sessions 100\n\n\
               Completions are sent for live orders only: with --receive, use a live token on\n\
               a server whose callback leads here. What is booked is cancelled, also after\n\
               Ctrl-C.",
    arguments: &[
        target::URL,
        target::BEARER,
        target::PARTNER_KEY,
        option("sandbox-bearer-file", "The token of the sandbox, for the registration [default: the same]"),
        target::CLIENT_CERT,
        target::CLIENT_KEY,
        target::CA,
        target::INTENT,
        number_option("sessions", "How many users each intent has [default: 5]"),
        number_option("minutes", "Over how many minutes they begin; 0 for all at once [default: 1]"),
        number_option("tracks", "How often an order is tracked, every 5 seconds [default: 3]"),
        number_option("seed", "What the run is made of: the same number gives the same run [default: 1]"),
        number_option("speed", "Divide every pause, for a server without limits [default: 1]"),
        argument("receive", "ADDR:PORT", "Take completions here, over TLS", ProbeArgumentKind::Option),
        option("receive-cert", "The certificate of the receiver, as PEM"),
        option("receive-key", "The key of that certificate, as PEM"),
        option("receive-ca", "Or make a certificate, and write its authority to this file"),
        option("cpc-key-file", "The keys of completions, one a line, the newest first"),
        number_option("fail-first", "Refuse so many completions, to see that they come again [default: 0]"),
        number_option("completion-seconds", "How long completions are waited for [default: 60]"),
    ],
    run,
};

fn run(input: &ProbeInput) -> Result<ProbeReport, String> {
    let target = Target::read(input)?;
    let sandbox = match input.value("sandbox-bearer-file") {
        None => target.credential.clone(),
        Some(file) => secret_of(file, ProbeCredential::bearer)?.0,
    };
    let minutes = target::number(input, "minutes", DEFAULT_MINUTES, 0..=MAX_MINUTES)?;
    let wait = target::number(input, "completion-seconds", DEFAULT_WAIT, 1..=3600)?;
    let seconds = |number: usize| Duration::from_secs(u64::try_from(number).unwrap_or_default());
    let (dispatch, completion_wait) = (seconds(minutes * 60), seconds(wait));
    let options = SimulationOptions {
        sessions: target::number(input, "sessions", DEFAULT_SESSIONS, 1..=MAX_SESSIONS)?,
        dispatch,
        tracks: target::number(input, "tracks", DEFAULT_TRACKS, 0..=20)?,
        speed: u32::try_from(target::number(input, "speed", 1, 1..=100)?).unwrap_or(1),
        seed: u64::try_from(target::number(input, "seed", 1, 0..=usize::MAX)?).unwrap_or_default(),
        completion_wait,
        until: Instant::now() + dispatch + completion_wait * 2 + SESSION_TIME,
    };
    let intents = target::intents(input)?;
    let receiving = receiving(input)?;
    block_on(async {
        let (rules, listening) = match receiving {
            None => (None, None),
            Some(ReceiverSetup { address, certificate, rules }) => {
                let listener = TcpListener::bind(address)
                    .await
                    .map_err(|error| format!("completions cannot be taken at {address} ({error})"))?;
                let tls = TlsAcceptor::from(certificate::tls_config(&certificate, address)?);
                (Some(rules), Some((listener, tls)))
            }
        };
        let simulation = Arc::new(Simulation::new(target, options, rules));
        if let Some((listener, tls)) = listening {
            tokio::spawn(receiver::serve(listener, tls, Arc::clone(&simulation)));
        }
        tokio::select! {
            report = simulation.run(&sandbox, intents) => Ok(report),
            () = interrupted_twice(&simulation) => {
                let left = simulation.state().bookings.open();
                Err(format!("stopped at once; these bookings may be left: {}", left.join(", ")))
            }
        }
    })?
}

/// The first Ctrl-C ends the run in order; the second one ends it at once.
async fn interrupted_twice(simulation: &Simulation) {
    for _ in 0..2 {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without the signal there is nothing to wait for.
            std::future::pending::<()>().await;
        }
        simulation.stop();
    }
}

struct ReceiverSetup {
    address: SocketAddr,
    certificate: ReceiverCertificate,
    rules: ReceiverRules,
}

fn receiving(input: &ProbeInput) -> Result<Option<ReceiverSetup>, String> {
    let text = |name: &str| input.value(name).map(str::to_owned);
    let Some(address) = input.value("receive") else {
        let alone = ["receive-cert", "receive-key", "receive-ca", "cpc-key-file", "fail-first", "completion-seconds"];
        return match alone.iter().find(|name| input.value(name).is_some()) {
            Some(name) => Err(format!("--{name} belongs to --receive: name the address, too")),
            None => Ok(None),
        };
    };
    let address = address.parse().map_err(|_| "--receive takes an address and a port, such as 127.0.0.1:9443")?;
    let certificate = match (text("receive-cert"), text("receive-key"), text("receive-ca")) {
        (Some(certificate), Some(key), None) => ReceiverCertificate::Files { certificate, key },
        (None, None, Some(ca_file)) => ReceiverCertificate::SelfMade { ca_file },
        _ => return Err("--receive needs --receive-cert and --receive-key, or --receive-ca".to_owned()),
    };
    let file = input.value("cpc-key-file").ok_or("--receive needs --cpc-key-file")?;
    let keys = String::from_utf8(read_file(file)?).ok().and_then(|text| CompletionKeys::parse(&text));
    let keys = keys.ok_or_else(|| format!("{file} must hold keys alone: one a line, without spaces"))?;
    let fail_first = target::number(input, "fail-first", 0, 0..=1000)?;
    Ok(Some(ReceiverSetup { address, certificate, rules: ReceiverRules { keys, fail_first } }))
}
