//! Moves bookings that nobody reports: where a mount has a clock, those with stages go through them by themselves, and
//! those whose time has passed are completed. It only makes the calls that the contract says are due, each under a key
//! that is the same on every node; so several servers do no harm.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use frontdesk_contracts::notification::{ADVANCE_TOOL, DUE_TOOL};
use frontdesk_engine::Fault;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::model::tool::Outcome;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::serve::own_read::read_for_server;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{App, PartnerEndpoint, background};

/// Stages follow each other after seconds.
const TICK: Duration = Duration::from_secs(1);
/// Times that have passed are looked for once in so many ticks.
const TICKS_BETWEEN_COMPLETIONS: u64 = 60;

/// What the contract's tool answers.
#[derive(Deserialize)]
struct DueList {
    due: Vec<DueBooking>,
}

#[derive(Deserialize)]
struct DueBooking {
    booking_ref: String,
    stage: String,
}

/// Runs until it is aborted, each tick on the app that is current then.
pub(crate) async fn run_booking_clock(current: Arc<ArcSwap<App>>) {
    let mut tick = background::every(TICK);
    let mut ticks: u64 = 0;
    loop {
        tick.tick().await;
        let app = current.load_full();
        for (partner, mount) in app.mounts.partners() {
            let arguments = arguments(partner, ticks);
            if arguments.is_empty() || mount.maintenance.is_on() {
                continue;
            }
            if let Err(fault) = advance_due(&app, partner, mount, arguments).await {
                let cause = fault.cause.unwrap_or_else(|| fault.message.into_owned());
                tracing::warn!(mount = partner.path, error = cause, "bookings were not advanced by the clock");
            }
        }
        ticks = ticks.wrapping_add(1);
    }
}

/// What is asked for at this tick.
fn arguments(partner: &PartnerEndpoint, ticks: u64) -> Map<String, Value> {
    let mut arguments = Map::new();
    if partner.clock.plays_stages {
        arguments.insert("plays_stages".to_owned(), true.into());
    }
    if let Some(hours) = partner.clock.complete_after_hours
        && ticks.is_multiple_of(TICKS_BETWEEN_COMPLETIONS)
    {
        arguments.insert("complete_after_hours".to_owned(), hours.into());
    }
    arguments
}

/// One after the other. One that is refused is recorded like every call and does not hold up the others.
async fn advance_due(
    app: &App,
    partner: &PartnerEndpoint,
    mount: &Mount,
    arguments: Map<String, Value>,
) -> Result<(), Fault> {
    let caller = partner.caller("clock");
    let due = match read_for_server(&app.desk, mount, &caller, DUE_TOOL, arguments).await? {
        Outcome::Raw { answer, .. } => answer,
        Outcome::One(_) | Outcome::Many(_) => return Err(Fault::internal("the tool answers with rows")),
    };
    let DueList { due } = serde_json::from_str(&due).map_err(|_| Fault::internal("the answer of a tool is no list"))?;
    for DueBooking { booking_ref, stage } in due {
        let origin = CallOrigin {
            caller: Arc::clone(&caller),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: app.desk.new_trace(),
            import_id: None,
        };
        let key = format!("clock:{booking_ref}:{stage}");
        let arguments =
            Map::from_iter([("booking_ref".to_owned(), booking_ref.into()), ("stage".to_owned(), stage.into())]);
        let _ = call_tool(&app.desk, mount, &origin, OwnTool::Operator(ADVANCE_TOOL), arguments, Some(key)).await;
    }
    Ok(())
}
