//! The judge of TOMO servers: `tomo doctor` walks the checklist of §12, `tomo simulate` plays the orchestrator for a while.

mod calls;
mod doctor;
mod examples;
mod forbidden;
mod handshake;
mod idempotency;
mod intent;
mod latency;
mod measures;
mod simulate;
mod target;
mod tools;
mod tracking;

use std::time::{Duration, Instant};

use crate::command::{ProbeCommand, ProbeInput, ProbeReport};
use doctor::Doctor;
pub(crate) use simulate::SIMULATE;
use target::{Target, number_option};

/// Whatever the server does, the command ends after this time.
const WHOLE_CHECK: Duration = Duration::from_secs(600);
const DEFAULT_ROUNDS: usize = 20;
const MAX_ROUNDS: usize = 200;

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
        target::URL,
        target::BEARER,
        target::PARTNER_KEY,
        target::CLIENT_CERT,
        target::CLIENT_KEY,
        target::CA,
        target::INTENT,
        number_option("rounds", "How often each tool is called to measure it [default: 20]"),
    ],
    run,
};

fn run(input: &ProbeInput) -> Result<ProbeReport, String> {
    let target = Target::read(input)?;
    let rounds = target::number(input, "rounds", DEFAULT_ROUNDS, 1..=MAX_ROUNDS)?;
    let intents = target::intents(input)?;
    let doctor = Doctor::new(&target, &target.credential, intents, rounds, Instant::now() + WHOLE_CHECK)?;
    block_on(doctor.examine())
}

/// Runs a command to its end on a runtime of its own.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime ({error})"))?;
    let done = runtime.block_on(work);
    // A name lookup that hangs must not keep the command.
    runtime.shutdown_background();
    Ok(done)
}
